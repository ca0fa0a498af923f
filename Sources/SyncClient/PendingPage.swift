// PendingPage.swift: small pending changesets side by side in rows of a fixed size, with the old
// states of objects that they touch first (docs/reference/sync-client.md, section 3). A commit then
// changes a few bytes of rows that are there, which the engine stores as edits in its root slot;
// a row for each changeset would be new nodes.
//   row key: 2^56 * kind + first * 32 + 28 to 31
//   offset_bytes  size  field       (of the rows' bytes, one after the other)
//              0     1  kind of the item in the lower 3 bits: 1 a changeset, 2 an old state; 3, 4
//                       the same as the difference from the one before (ByteDelta.swift), in which
//                       a changeset's number and stamp are one higher; 5, 6 the same with the runs
//                       of the difference before; 7 a changeset as in 5, where the one before has
//                       the first stamp of the next millisecond; 0 ends the items. The upper 5 bits
//                       are the size of its bytes, if it is less than 31
//              1  0, 2  the size, if the upper bits are 31
//           1, 3     …  its bytes
// Invariants: `first` is the number of the page's first changeset; the others follow it; old states
// belong to the changeset before them; everything behind the items is 0.

import Engine
import SyncCore

struct PendingPage {
  /// An item's kind.
  private enum Kind {
    static let changeset: UInt8 = 1
    static let old: UInt8 = 2
    /// Added for a difference.
    static let delta: UInt8 = 2
    /// Added for a difference with the same runs as the one before.
    static let sameRuns: UInt8 = 4
    /// A changeset of the next millisecond whose difference has the same runs.
    static let later: UInt8 = 7
  }

  /// A changeset, with the old states of objects.
  struct Item {
    /// The changeset's bytes before its operations, or all of them.
    var head: [UInt8]
    var body: [UInt8] = []
    var olds: [[UInt8]] = []

    /// Bytes that it takes in a page at most.
    var sizeBytes: Int { olds.reduce(3 + head.count + body.count) { $0 + 3 + $1.count } }
  }

  /// A row stays in its leaf, where it can be edited.
  private static let rowBytes = 480
  private static let firstPart: UInt64 = 28
  private static let rowCount = 4
  static let bytesMax = rowBytes * rowCount
  /// In the place of a size that is not less.
  private static let sizeAfter = 31

  /// The number of the first changeset.
  let first: UInt64
  /// The number and stamp of the last changeset; nil without items.
  private(set) var last: (number: UInt64, stamp: SyncStamp)?
  /// What was read: none of those that were added.
  private(set) var items: [Item] = []
  /// Where the last changeset's items begin, and the next ones.
  private var lastStart = 0
  private var end = 0
  /// The rows' bytes, one after the other.
  private var bytes: [UInt8]
  /// What the next changeset and old state are compared with: the last ones, the changeset as if
  /// it were the next one while an item is added or read.
  private var bases: [[UInt8]] = [[], []]
  /// The last differences that say their runs, of changesets and of old states.
  private var runs: [[UInt8]] = [[], []]
  /// The difference written last, whose memory is used again.
  private var delta: [UInt8] = []

  /// A page without items.
  init(first: UInt64) {
    self.first = first
    bytes = Array(repeating: 0, count: Self.bytesMax)
  }

  /// Whether a row of pending changesets belongs to a page.
  static func hasRow(part: UInt64) -> Bool { part >= firstPart }

  /// Reads a page.
  /// - Throws: `EngineError` with code `.corrupted`.
  init(first: UInt64, _ source: some ReadableVersion) throws(EngineError) {
    self.first = first
    bytes = []
    for number in Self.numbers(first) {
      guard let row = try SyncTable.bytes(.pending, number, source), row.count == Self.rowBytes
      else { throw SyncTable.damaged("the page of changeset \(first) is not whole") }
      bytes += row
    }
    while let (isOld, bytes, start) = try next() {
      if !isOld {
        let header = try header(of: bytes)
        guard header.sequence > last?.number ?? 0 else {
          throw damaged("has changeset \(header.sequence) behind \(last?.number ?? 0)")
        }
        last = (header.sequence, header.stamp)
        lastStart = start
        items.append(Item(head: bytes))
      } else if items.isEmpty {
        throw damaged("begins with an old state")
      } else {
        items[items.count - 1].olds.append(bytes)
      }
    }
    guard !items.isEmpty else { throw damaged("has no changeset") }
  }

  private func header(of changeset: [UInt8]) throws(EngineError) -> SyncChangeset {
    do throws(SyncError) { return try SyncChangeset(headerOf: changeset) } catch {
      throw damaged("has an item that is no changeset: \(error)")
    }
  }

  /// Removes a page.
  static func remove(first: UInt64, _ write: WriteTransaction) throws(EngineError) {
    for number in numbers(first) { try SyncTable.remove(.pending, number, write) }
  }

  /// The numbers of its rows.
  private static func numbers(_ first: UInt64) -> Range<UInt64> {
    let number = first * PartRows.partsMax + firstPart
    return number..<number + UInt64(rowCount)
  }

  private func row(_ index: Int) -> ArraySlice<UInt8> {
    bytes[index * Self.rowBytes..<(index + 1) * Self.rowBytes]
  }

  /// Takes the next item; nil behind the last one.
  private mutating func next() throws(EngineError) -> (
    isOld: Bool, bytes: [UInt8], start: Int
  )? {
    guard end < Self.bytesMax, bytes[end] != 0 else { return nil }
    let (kind, first) = (bytes[end] & 7, end)
    var (count, start) = (Int(bytes[end] >> 3), end + 1)
    if count == Self.sizeAfter {
      guard start + 2 <= Self.bytesMax else { throw damaged("ends within an item") }
      count = Int(bytes[start]) | Int(bytes[start + 1]) << 8
      start += 2
    }
    guard count <= Self.bytesMax - start else { throw damaged("ends within an item") }
    let item = try self.item(kind, Array(bytes[start..<start + count]))
    end = start + count
    return (item.isOld, item.bytes, first)
  }

  /// An item of a kind from what is stored.
  private mutating func item(
    _ kind: UInt8, _ stored: [UInt8]
  ) throws(EngineError) -> (isOld: Bool, bytes: [UInt8]) {
    let isOld = kind % 2 == 0
    let sort = isOld ? 1 : 0
    var item: [UInt8]? = stored
    if kind <= Kind.delta {
      runs[sort] = []
    } else {
      if !isOld { Self.follow(&bases[0], isLater: kind == Kind.later) }
      if kind > Kind.sameRuns {
        item = ByteDelta.decoded(stored, like: runs[sort], from: bases[sort])
      } else {
        item = ByteDelta.decoded(stored, from: bases[sort])
        runs[sort] = stored
      }
    }
    guard let item else { throw damaged("has the difference from another item") }
    bases[sort] = item
    return (isOld, item)
  }

  private func damaged(_ what: String) -> EngineError {
    SyncTable.damaged("the page of changeset \(first) \(what)")
  }

  /// Whether a version has the same items, when it has the page and no other changeset behind it.
  ///
  /// The last changeset may be one whose transaction was lost, and another one may follow it.
  func isNewest(_ source: some ReadableVersion) throws(EngineError) -> Bool {
    let number = Self.numbers(first).lowerBound
    for index in lastStart / Self.rowBytes...min(end, Self.bytesMax - 1) / Self.rowBytes {
      let found = try SyncTable.bytes(.pending, number + UInt64(index), source)
      guard let found, found[...] == row(index) else { return false }
    }
    return true
  }

  /// Whether more than half of the page is in use.
  var isHalfFull: Bool { end > Self.bytesMax / 2 }

  /// Whether an item fits behind the others.
  func hasRoom(for item: Item) -> Bool { item.sizeBytes <= Self.bytesMax - end }

  /// Adds an item that fits, and writes the rows that it changes.
  /// - Parameters:
  ///   - item: Its bytes.
  ///   - header: The changeset's header.
  ///   - write: The transaction.
  /// - Throws: `EngineError`.
  mutating func add(
    _ item: Item, _ header: SyncChangeset, _ write: WriteTransaction
  ) throws(EngineError) {
    precondition(hasRoom(for: item), "\(item.sizeBytes) bytes behind \(end)")
    let isNew = end == 0
    lastStart = end
    put(item.body.isEmpty ? item.head : item.head + item.body, isOld: false)
    for old in item.olds { put(old, isOld: true) }
    last = (header.sequence, header.stamp)
    for (index, number) in Self.numbers(first).enumerated()
    where isNew || (lastStart / Self.rowBytes...(end - 1) / Self.rowBytes).contains(index) {
      try SyncTable.put(Array(row(index)), .pending, number, write)
    }
  }

  private mutating func put(_ item: [UInt8], isOld: Bool) {
    let sort = isOld ? 1 : 0
    let kind = encode(item, isOld: isOld)
    bases[sort] = item
    let isDelta = kind > Kind.delta
    let count = isDelta ? delta.count : item.count
    if count < Self.sizeAfter {
      put(kind | UInt8(count << 3))
    } else {
      put(kind | UInt8(Self.sizeAfter << 3))
      put(UInt8(count & 255))
      put(UInt8(count >> 8))
    }
    if isDelta { for byte in delta { put(byte) } } else { for byte in item { put(byte) } }
  }

  /// Encodes an item as a difference, if that is shorter.
  /// - Returns: Its kind.
  private mutating func encode(_ item: [UInt8], isOld: Bool) -> UInt8 {
    let (sort, kind) = isOld ? (1, Kind.old) : (0, Kind.changeset)
    if !isOld { Self.follow(&bases[0], isLater: false) }
    if ByteDelta.encode(item, like: runs[sort], from: bases[sort], into: &delta) {
      return kind + Kind.sameRuns
    }
    if !isOld {
      var later = bases[0]
      Self.moveToNextMillisecond(&later)
      if ByteDelta.encode(item, like: runs[0], from: later, into: &delta) { return Kind.later }
    }
    guard ByteDelta.encode(item, from: bases[sort], into: &delta) else {
      runs[sort] = []
      return kind
    }
    runs[sort] = delta
    return kind + Kind.delta
  }

  private mutating func put(_ byte: UInt8) {
    bytes[end] = byte
    end += 1
  }

  /// Gives a changeset's bytes a number and a stamp that are one higher, where their size stays; or
  /// the first stamp of a later millisecond.
  private static func follow(_ bytes: inout [UInt8], isLater: Bool) {
    let (number, stamp) = places(of: bytes)
    if let index = number.first(where: { bytes[$0] & 127 < 127 }) {
      for index in number.lowerBound..<index { bytes[index] &= 128 }
      bytes[index] += 1
    }
    increment(&bytes, stamp)
    if isLater { moveToNextMillisecond(&bytes) }
  }

  /// Moves the stamp in a changeset's bytes.
  private static func moveToNextMillisecond(_ bytes: inout [UInt8]) {
    let stamp = places(of: bytes).stamp
    for index in stamp.prefix(2) { bytes[index] = 0 }
    increment(&bytes, stamp.dropFirst(2))
  }

  private static func increment(_ bytes: inout [UInt8], _ places: Range<Int>) {
    for index in places {
      bytes[index] &+= 1
      if bytes[index] != 0 { break }
    }
  }

  /// Where a changeset's bytes have its number and its stamp; ranges without bytes in others.
  private static func places(of bytes: [UInt8]) -> (number: Range<Int>, stamp: Range<Int>) {
    var offset = 1
    func skipNumber() {
      while offset < bytes.count, bytes[offset] >= 128 { offset += 1 }
      offset += 1
    }
    skipNumber()
    let number = offset
    skipNumber()
    let numberEnd = min(offset, bytes.count)
    skipNumber()
    return (
      min(number, numberEnd)..<numberEnd,
      min(offset, bytes.count)..<min(offset + 8, bytes.count)
    )
  }
}
