// RecordedOperations+Rows.swift: records new objects with their initial values, directly from the
// parts of a row, without intermediate operations: for bulk transactions. Invariant: the bytes are
// those of the operations create, set and setDefault.

/// An object that is being made.
struct RecordedRow: Sendable {
  let type: SyncText
  /// The number of its class among the names.
  let typeNumber: Int
  let names: [SyncText]
  /// The number of each property among the names; -1 before its first use.
  var numbers: [Int]
  var key: SyncKey
  /// The property set last; -1 before the first.
  var last = -1
}

extension RecordedOperations {
  /// Adds the creation of an object, whose values follow.
  /// - Parameters:
  ///   - key: Its primary key; different from that of the previous row.
  ///   - type: Its class.
  ///   - names: The properties of the class.
  package mutating func beginRow(_ key: SyncKey, of type: SyncText, _ names: [SyncText]) {
    guard isInRow, let typeNumber = row?.typeNumber, row?.type == type else {
      append(.create(SyncObject(type, key)))
      if row?.type != type {
        row = RecordedRow(
          type: type, typeNumber: writer.number(of: type), names: names,
          numbers: Array(repeating: -1, count: names.count), key: key)
      }
      row?.key = key
      row?.last = -1
      isInRow = true
      return
    }
    row?.key = key
    row?.last = -1
    count += 1
    guard case .int(let number) = key else {
      writer.body.append(0)
      writer.body.append(count: typeNumber)
      writer.body.append(key: key)
      return
    }
    writer.body.append(countMax: 24) { bytes in
      bytes.append(0)
      bytes.append(number: UInt64(typeNumber))
      bytes.append(1)
      bytes.append(signed: number)
    }
  }

  /// Adds the set of a property of the row that was begun, or of its default.
  /// - Parameters:
  ///   - int: The value.
  ///   - position: The position of the property's name.
  ///   - isDefault: Whether it is a default.
  package mutating func add(int: Int64, _ position: Int, isDefault: Bool) {
    append(position, isDefault, 3) { $0.append(signed: int) }
  }

  /// The same with a floating-point number.
  package mutating func add(double: Double, _ position: Int, isDefault: Bool) {
    append(position, isDefault, 5) { bytes in
      let bits = double.bitPattern
      for index in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: bits >> UInt64(8 * index))) }
    }
  }

  /// The same with a truth value.
  package mutating func add(bool: Bool, _ position: Int, isDefault: Bool) {
    append(position, isDefault, bool ? 2 : 1) { _ in }
  }

  /// The same with a text.
  package mutating func add(text: String, _ position: Int, isDefault: Bool) {
    let count = text.utf8.count
    append(position, isDefault, 6) { $0.append(number: UInt64(count)) }
    writer.body.append(utf8: text)
  }

  /// The same with any value that is not a link.
  package mutating func add(_ value: SyncValue, _ position: Int, isDefault: Bool) {
    let number = beginValue(position)
    writer.body.append(isDefault ? 0x83 : 0x82)
    writer.body.append(0)
    writer.body.append(count: number)
    writer.body.append(value: value, names: nil)
  }

  /// Adds the bytes before a value, its kind, and at most ten bytes of it.
  @inline(__always)
  private mutating func append(
    _ position: Int, _ isDefault: Bool, _ kind: UInt8, _ value: (inout OutputSpan<UInt8>) -> Void
  ) {
    let number = beginValue(position)
    writer.body.append(countMax: 24) { bytes in
      bytes.append(isDefault ? 0x83 : 0x82)
      bytes.append(0)
      bytes.append(number: UInt64(number))
      bytes.append(kind)
      value(&bytes)
    }
  }

  /// Counts a value.
  /// - Returns: The number of its property's name.
  @inline(__always)
  private mutating func beginValue(_ position: Int) -> Int {
    guard isInRow, let known = row?.numbers[position] else {
      preconditionFailure("a value follows the row that was begun last")
    }
    count += 1
    row?.last = position
    if known >= 0 { return known }
    let number = row.map { writer.number(of: $0.names[position]) } ?? 0
    row?.numbers[position] = number
    return number
  }

  /// Lets the writer continue after a row.
  mutating func endRow() {
    isInRow = false
    guard let row else { return }
    let object = SyncObject(row.type, row.key)
    writer.goOn(
      behind: object, row.last < 0 ? nil : SyncField(object, [], row.names[row.last]))
  }
}
