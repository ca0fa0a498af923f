// UnitSteps.swift: [U] for each unit of a table what an image needs to apply it and to remove it
// again, in one cache line: going from one state to the next touches hundreds of units.
// Invariants: a free unit that is on has saved what it covers, and nothing younger lies on it when
// it is removed (ImageBuilder+Steps.swift); nodes and payloads are the image's and the table's,
// which live as long as the builder that owns this.
// Safety: the records are allocated with the object and freed with it; every index is checked.

import LabCore
import Recording

/// What an image knows of each unit.
@safe
final class UnitSteps {
  private static let off = Int32(-2)
  private static let zeros = Int32(-1)
  private static let pageBytes = ImageContent.pageBytes

  @safe private struct Record {
    /// The file that a free unit changes; nil for an ordered one.
    var node: Unmanaged<ImageNode>?
    /// A free unit's bytes; nil for a size.
    var payload: Unmanaged<Payload>?
    /// Where the bytes go in the file; or the new size.
    var value = 0
    /// For bytes, the hash that their page had, if `isHashKnown`; for a size, the previous one.
    var before: UInt64 = 0
    /// Hash of the page that a data unit writes completely, if known; otherwise 0.
    var wholePageHash: UInt64 = 0
    /// Where the bytes are in the payload.
    var source: UInt32 = 0
    /// The position of the old bytes in `buffer`, or `zeros`; for a size that is on: `zeros`.
    var place = UnitSteps.off
    /// The next free unit that overlaps this free one; -1 is none.
    var next: Int32 = -1
    /// The last change of the image that concerned the unit.
    var mark: UInt32 = 0
    var count: UInt16 = 0
    var isFree = false
    var isHashKnown = false
  }

  private let records: UnsafeMutableBufferPointer<Record>
  private let buffer = FlatBuffer()
  private var unusedPlaces: [Int32] = []
  private var placeCount: Int32 = 0
  private var change: UInt32 = 0

  /// - Complexity: O(units).
  init(_ table: UnitTable, nodes: [InodeNumber: ImageNode]) throws(LabError) {
    unsafe records = .allocate(capacity: table.units.count)
    unsafe records.initialize(repeating: Record())
    for unit in table.units.indices where table.overlaps.freedom(of: unit) != .ordered {
      var record = Record()
      record.isFree = true
      record.next = Int32(table.overlaps.next(after: unit) ?? -1)
      let file: InodeNumber
      switch table.units[unit].effects[0] {
      case .data(let inode, let offset, let payload, let slice):
        file = inode
        unsafe record.payload = .passUnretained(payload)
        record.value = Int(offset)
        record.source = UInt32(slice.lowerBound)
        record.count = UInt16(slice.count)
      case .size(let inode, let newSize):
        file = inode
        record.value = Int(newSize)
      default: preconditionFailure("a free unit is bytes or a size")
      }
      guard let node = nodes[file] else { throw .lab("broken trace: no inode \(file)") }
      unsafe record.node = .passUnretained(node)
      unsafe records[unit] = record
    }
  }

  deinit { unsafe records.deallocate() }

  /// - Returns: A pointer that must not outlive the call that asks for it.
  @inline(__always)
  private func record(_ unit: Int) -> UnsafeMutablePointer<Record> {
    unsafe precondition(unit >= 0 && unit < records.count, "no such unit")
    // Safety: checked above.
    return unsafe records.baseAddress.unsafelyUnwrapped + unit
  }

  /// Whether a unit may be applied and removed in any order, except relative to those on its chain
  /// and to ordered ones of its file.
  func isFree(_ unit: Int) -> Bool { unsafe record(unit).pointee.isFree }

  /// Whether a free unit is applied.
  func isOn(_ unit: Int) -> Bool { unsafe record(unit).pointee.place != Self.off }

  /// The file that a free unit changes.
  func node(of unit: Int) -> ImageNode? {
    unsafe record(unit).pointee.node.map { unsafe $0.takeUnretainedValue() }
  }

  /// The next free unit that overlaps a free one.
  func next(after unit: Int) -> Int? {
    let next = unsafe record(unit).pointee.next
    return next < 0 ? nil : Int(next)
  }

  // MARK: Marks

  /// Begins a change of the image, which has no marks yet.
  func beginChange() { change &+= 1 }

  /// Marks a unit as one that the change concerns.
  func mark(_ unit: Int) { unsafe record(unit).pointee.mark = change }

  /// Whether the change concerns a unit.
  func isMarked(_ unit: Int) -> Bool { unsafe record(unit).pointee.mark == change }

  // MARK: Content

  /// The bytes of a file that a free unit changes; nil for a size.
  func range(of unit: Int) -> Range<Int>? {
    let record = unsafe record(unit)
    guard unsafe record.pointee.payload != nil else { return nil }
    return unsafe record.pointee.value..<record.pointee.value + Int(record.pointee.count)
  }

  /// The size that a free unit sets.
  func newSize(of unit: Int) -> UInt64 { UInt64(unsafe record(unit).pointee.value) }

  /// Applies a free unit's bytes to a file that is large enough, and saves what they cover.
  /// - Returns: Whether the page had never been touched.
  /// - Throws: `LabError` without memory for the old bytes.
  func putOn(_ unit: Int, _ range: Range<Int>, of file: ImageContent) throws(LabError) -> Bool {
    try cover(range, of: file, by: unit)
    let record = unsafe record(unit)
    let start = Int(unsafe record.pointee.source)
    unsafe record.pointee.payload?._withUnsafeGuaranteedRef { payload in
      unsafe payload.withBytes { bytes in
        unsafe file.buffer.write(bytes, start..<start + range.count, at: range.lowerBound)
      }
    }
    let page = range.lowerBound / Self.pageBytes
    let isNew = file.markDirty(page)
    if range.count == Self.pageBytes {
      file.setHash(wholePageHash(of: unit, range, in: file), ofPage: page)
    }
    return isNew
  }

  /// The hash of the page that a data unit has just written completely.
  func wholePageHash(of unit: Int, _ range: Range<Int>, in file: ImageContent) -> UInt64 {
    let record = unsafe record(unit)
    if unsafe record.pointee.wholePageHash == 0 {
      unsafe record.pointee.wholePageHash = file.buffer.hash(range)
    }
    return unsafe record.pointee.wholePageHash
  }

  private func cover(_ range: Range<Int>, of file: ImageContent, by unit: Int) throws(LabError) {
    let known = file[range.lowerBound / Self.pageBytes]
    let record = unsafe record(unit)
    unsafe record.pointee.isHashKnown = !known.isDirty
    unsafe record.pointee.before = known.hash
    if !known.isTouched || (!known.isDirty && known.hash == 0) {
      unsafe record.pointee.place = Self.zeros
      return
    }
    if unusedPlaces.isEmpty {
      try buffer.reserve((Int(placeCount) + 1) * Self.pageBytes)
      unusedPlaces.append(placeCount)
      placeCount += 1
    }
    let place = unusedPlaces.removeLast()
    file.buffer.copy(range, to: buffer, at: Int(place) * Self.pageBytes)
    unsafe record.pointee.place = place
  }

  /// Restores what a free unit's bytes covered.
  func takeOff(_ unit: Int, _ range: Range<Int>, of file: ImageContent) {
    let record = unsafe record(unit)
    let place = unsafe record.pointee.place
    if place == Self.zeros {
      file.buffer.zero(range)
    } else {
      let start = Int(place) * Self.pageBytes
      buffer.copy(start..<start + range.count, to: file.buffer, at: range.lowerBound)
      unusedPlaces.append(place)
    }
    unsafe record.pointee.place = Self.off
    let page = range.lowerBound / Self.pageBytes
    if unsafe record.pointee.isHashKnown {
      file.setHash(unsafe record.pointee.before, ofPage: page)
    } else {
      file.markDirty(page)
    }
  }

  /// Saves the size that a free unit is about to change.
  func cover(sizeBytes: UInt64, by unit: Int) {
    let record = unsafe record(unit)
    unsafe record.pointee.place = Self.zeros
    unsafe record.pointee.before = sizeBytes
  }

  /// The size before a free unit that is removed.
  func uncoverSize(from unit: Int) -> UInt64 {
    let record = unsafe record(unit)
    unsafe record.pointee.place = Self.off
    return unsafe record.pointee.before
  }
}
