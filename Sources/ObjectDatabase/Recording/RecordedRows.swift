// RecordedRows.swift [U]: rows of a batch, encoded for a recorder where they are added, without a
// call for each value. Invariants: `start <= next <= end`, and the bytes before `next` are
// initialized; only whole rows are passed on.

import Engine

/// How a recorder encodes the rows of one class: the bytes before each part.
///
/// Integers follow them as zigzag numbers in groups of seven bits, the lowest first; texts as their
/// number of bytes and UTF-8; floating-point numbers as eight bytes, the lowest first; truth values
/// not at all.
package struct RecordedRowForm {
  /// Eight bytes at most; none for a column without recorded values.
  package struct Lead {
    fileprivate let bits: UInt64
    fileprivate let count: Int

    /// - Parameter bytes: Eight of them at most.
    package init(_ bytes: [UInt8]) {
      precondition(bytes.count <= 8, "\(bytes.count) bytes before a part, more than 8")
      bits = bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
      count = bytes.count
    }
  }

  /// The bytes before the values of a column, but for that of their type.
  package struct Column {
    let set: Lead
    let setDefault: Lead

    package init(set: Lead, setDefault: Lead) {
      (self.set, self.setDefault) = (set, setDefault)
    }
  }

  /// The bytes of the types of values.
  package struct Types {
    fileprivate let (int, double, text): (UInt8, UInt8, UInt8)
    fileprivate let (isFalse, isTrue): (UInt8, UInt8)

    package init(int: UInt8, double: UInt8, text: UInt8, isFalse: UInt8, isTrue: UInt8) {
      (self.int, self.double, self.text) = (int, double, text)
      (self.isFalse, self.isTrue) = (isFalse, isTrue)
    }
  }

  /// The bytes before a key of another type than the next two; its own follow.
  let key: Lead
  let intKey: Lead
  let textKey: Lead
  fileprivate let columns: [Column]
  fileprivate let types: Types

  /// A form.
  /// - Parameters:
  ///   - key: The bytes before a key of another type than the next two, which bring their own.
  ///   - intKey: The bytes before an integer.
  ///   - textKey: The bytes before a text.
  ///   - columns: Those of the class; that of the key is not used.
  ///   - types: The bytes of the types of values.
  package init(key: Lead, intKey: Lead, textKey: Lead, columns: [Column], types: Types) {
    (self.key, self.intKey, self.textKey) = (key, intKey, textKey)
    (self.columns, self.types) = (columns, types)
  }
}

/// Rows of one class, encoded.
@safe final class RecordedRows {
  private let form: RecordedRowForm
  // Safety: memory of this object alone.
  private var start: UnsafeMutablePointer<UInt8>
  private var end: UnsafeMutablePointer<UInt8>
  @safe @exclusivity(unchecked) private var next: UnsafeMutablePointer<UInt8>
  /// How many rows there are, and how many values they have, keys apart.
  @safe @exclusivity(unchecked) private(set) var rowCount = 0
  @safe @exclusivity(unchecked) private(set) var valueCount = 0
  /// The key of the last row.
  @safe @exclusivity(unchecked) private(set) var lastKey = Value.null
  private static let capacity = 1 << 16

  init(_ form: RecordedRowForm) {
    self.form = form
    unsafe start = UnsafeMutablePointer<UInt8>.allocate(capacity: Self.capacity)
    unsafe end = start + Self.capacity
    unsafe next = start
  }

  deinit { unsafe start.deallocate() }

  /// Whether the rows should be passed on now.
  var isFull: Bool { unsafe next - start > Self.capacity / 2 }

  /// Passes on the rows, and forgets them.
  func take() -> [UInt8] {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: next - start))
    unsafe next = start
    rowCount = 0
    valueCount = 0
    return bytes
  }

  // MARK: rows

  @inline(__always)
  func beginRow(int key: Int64) {
    append(form.intKey, moreMax: 10)
    append(signed: key)
    rowCount += 1
    lastKey = .int(key)
  }

  @inline(__always)
  func beginRow(text key: String) {
    append(form.textKey, moreMax: 0)
    append(text: key)
    rowCount += 1
    lastKey = .string(key)
  }

  /// A row with any key.
  /// - Parameters:
  ///   - key: The key.
  ///   - encoded: Its bytes, that of its type included.
  func beginRow(_ key: Value, _ encoded: [UInt8]) {
    append(form.key, moreMax: 0)
    append(encoded)
    rowCount += 1
    lastKey = key
  }

  // MARK: values

  @inline(__always)
  func add(int: Int64, to column: Int, isDefault: Bool) {
    beginValue(column, isDefault, form.types.int, moreMax: 10)
    append(signed: int)
  }

  @inline(__always)
  func add(double: Double, to column: Int, isDefault: Bool) {
    beginValue(column, isDefault, form.types.double, moreMax: 8)
    // Safety: there is room for them.
    unsafe UnsafeMutableRawPointer(next).storeBytes(
      of: double.bitPattern.littleEndian, as: UInt64.self)
    unsafe next += 8
  }

  @inline(__always)
  func add(bool: Bool, to column: Int, isDefault: Bool) {
    beginValue(column, isDefault, bool ? form.types.isTrue : form.types.isFalse, moreMax: 0)
  }

  @inline(__always)
  func add(text: String, to column: Int, isDefault: Bool) {
    beginValue(column, isDefault, form.types.text, moreMax: 0)
    append(text: text)
  }

  /// Any value.
  /// - Parameters:
  ///   - encoded: Returns its bytes, that of its type included; not called for a column that is not
  ///     recorded, since it has an empty collection.
  ///   - column: The position of its column.
  ///   - isDefault: Whether it is a default.
  func add(_ encoded: @autoclosure () -> [UInt8], to column: Int, isDefault: Bool) {
    let column = form.columns[column]
    guard column.set.count > 0 else { return }
    append(isDefault ? column.setDefault : column.set, moreMax: 0)
    append(encoded())
    valueCount += 1
  }

  // MARK: bytes

  @inline(__always)
  private func beginValue(_ column: Int, _ isDefault: Bool, _ type: UInt8, moreMax: Int) {
    let column = form.columns[column]
    append(isDefault ? column.setDefault : column.set, moreMax: moreMax + 1)
    next.pointee = type
    unsafe next += 1
    valueCount += 1
  }

  /// The bytes before a part, and room for more.
  @inline(__always)
  private func append(_ lead: RecordedRowForm.Lead, moreMax: Int) {
    reserve(8 + moreMax)
    // Safety: there is room for eight bytes, of which those that are too many are written again.
    unsafe UnsafeMutableRawPointer(next).storeBytes(of: lead.bits.littleEndian, as: UInt64.self)
    unsafe next += lead.count
  }

  private func append(_ bytes: [UInt8]) {
    reserve(bytes.count)
    for byte in bytes {
      next.pointee = byte
      unsafe next += 1
    }
  }

  @inline(__always)
  private func append(text: String) {
    var text = text
    text.withUTF8 { utf8 in
      let count = utf8.count
      reserve(10 + count)
      append(number: UInt64(count))
      // Safety: there is room for them.
      if let bytes = utf8.baseAddress { unsafe next.update(from: bytes, count: count) }
      unsafe next += count
    }
  }

  @inline(__always)
  private func append(signed number: Int64) {
    append(number: UInt64(bitPattern: number << 1 ^ number >> 63))
  }

  /// Ten bytes at most, for which there is room.
  @inline(__always)
  private func append(number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      next.pointee = UInt8(truncatingIfNeeded: rest) | 0x80
      unsafe next += 1
      rest >>= 7
    }
    next.pointee = UInt8(rest)
    unsafe next += 1
  }

  @inline(__always)
  private func reserve(_ count: Int) {
    if unsafe end - next < count { grow(by: count) }
  }

  @inline(never)
  private func grow(by more: Int) {
    let count = unsafe next - start
    let capacity = max(unsafe 2 * (end - start), count + more)
    let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    unsafe bytes.update(from: start, count: count)
    unsafe start.deallocate()
    unsafe start = bytes
    unsafe end = bytes + capacity
    unsafe next = bytes + count
  }
}
