// PendingPage.swift: small pending changesets side by side, with the old states of objects that
// they touch first (docs/reference/sync-client.md, section 3). The last page is the memo of the
// version: a commit changes a few bytes of it, which the engine stores as edits in its root slot. A
// full page becomes a row.
//   row key: 2^56 * kind + first * 32 + 28; the memo has `first` before the items, and zeros behind
//   offset_bytes  size  field       (of the items)
//              0     1  kind of the item in the lower 3 bits: 1 a changeset, 2 an old state; 3, 4
//                       the same as the difference from the one before (ByteDelta.swift), in which
//                       a changeset's number and stamp are one higher; 5, 6 the same with the runs
//                       of the difference before; 7 a changeset as in 5, where the one before has
//                       the first stamp of the next millisecond; 0 ends the items. The upper 5 bits
//                       are the size of its bytes, if it is less than 31
//              1  0, 2  the size, if the upper bits are 31
//           1, 3     …  its bytes
// Invariants: `first` is the number of the page's first changeset; the others follow it; old states
// belong to the changeset before them; no changeset in a row is newer than one in the memo.

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

  private static let part: UInt64 = 28
  /// Bytes of the items.
  static let bytesMax = 960
  /// Of the number before them.
  private static let startBytes = 8
  private static let memoBytes = startBytes + bytesMax
  /// In the place of a size that is not less.
  private static let sizeAfter = 31

  /// The number of the first changeset.
  let first: UInt64
  /// The number and stamp of the last changeset; nil without items.
  private(set) var last: (number: UInt64, stamp: SyncStamp)?
  /// What was read: none of those that were added.
  private(set) var items: [Item] = []
  /// Where the next item begins.
  private var end = startBytes
  /// The bytes of the memo.
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
    bytes = NumberBytes.bytes([first]) + Array(repeating: 0, count: Self.bytesMax)
  }

  /// Whether a row of pending changesets is a page.
  static func isRow(part: UInt64) -> Bool { part == Self.part }

  /// Reads a page in a row.
  /// - Throws: `EngineError` with code `.corrupted`.
  init(first: UInt64, _ source: some ReadableVersion) throws(EngineError) {
    guard let row = try SyncTable.bytes(.pending, Self.number(first), source),
      row.count <= Self.bytesMax
    else { throw SyncTable.damaged("the page of changeset \(first) is not whole") }
    self.init(first: first)
    bytes.replaceSubrange(Self.startBytes..<Self.startBytes + row.count, with: row)
    try readItems()
  }

  /// The page in a version's memo; nil when it has none.
  /// - Throws: `EngineError` with code `.corrupted`.
  static func inMemo(of source: some ReadableVersion) throws(EngineError) -> PendingPage? {
    let memo = source._memo
    guard !memo.isEmpty else { return nil }
    guard memo.count == memoBytes else {
      throw SyncTable.damaged("the last page has \(memo.count) bytes, not \(memoBytes)")
    }
    let first = try NumberBytes.numbers(memo, count: 1)[0]
    guard first > 0 else { return nil }
    var page = PendingPage(first: first)
    page.bytes = memo
    try page.readItems()
    return page
  }

  private mutating func readItems() throws(EngineError) {
    while let (isOld, bytes) = try next() {
      if !isOld {
        let header = try header(of: bytes)
        guard header.sequence > last?.number ?? 0 else {
          throw damaged("has changeset \(header.sequence) behind \(last?.number ?? 0)")
        }
        last = (header.sequence, header.stamp)
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

  /// Removes a page, from the memo or the rows.
  static func remove(first: UInt64, _ write: WriteTransaction) throws(EngineError) {
    if try NumberBytes.numbers(write._memo, count: write._memo.isEmpty ? 0 : 1) == [first] {
      return clearMemo(write)
    }
    try SyncTable.remove(.pending, number(first), write)
  }

  /// Removes the page in the memo, which keeps its size, so that the next page is an edit.
  static func clearMemo(_ write: WriteTransaction) {
    if !write._memo.isEmpty { write.memo = Array(repeating: 0, count: memoBytes) }
  }

  /// The number of its row.
  private static func number(_ first: UInt64) -> UInt64 { first * PartRows.partsMax + part }

  /// Makes the page, which is in the memo, a row.
  func storeRow(_ write: WriteTransaction) throws(EngineError) {
    try SyncTable.put(Array(bytes[Self.startBytes..<end]), .pending, Self.number(first), write)
    Self.clearMemo(write)
  }

  /// Takes the next item; nil behind the last one.
  private mutating func next() throws(EngineError) -> (isOld: Bool, bytes: [UInt8])? {
    guard end < Self.memoBytes, bytes[end] != 0 else { return nil }
    let kind = bytes[end] & 7
    var (count, start) = (Int(bytes[end] >> 3), end + 1)
    if count == Self.sizeAfter {
      guard start + 2 <= Self.memoBytes else { throw damaged("ends within an item") }
      count = Int(bytes[start]) | Int(bytes[start + 1]) << 8
      start += 2
    }
    guard count <= Self.memoBytes - start else { throw damaged("ends within an item") }
    let item = try self.item(kind, Array(bytes[start..<start + count]))
    end = start + count
    return item
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

  /// Whether a version has this page in its memo, with the same items.
  ///
  /// The last changeset may be one whose transaction was lost, and another one may follow it.
  func isNewest(_ source: some ReadableVersion) -> Bool { source._memo == bytes }

  /// Whether more than half of the page is in use.
  var isHalfFull: Bool { end > Self.memoBytes / 2 }

  /// Whether an item fits behind the others.
  func hasRoom(for item: Item) -> Bool { item.sizeBytes <= Self.memoBytes - end }

  /// Adds an item that fits, in the memo.
  /// - Parameters:
  ///   - item: Its bytes.
  ///   - header: The changeset's header.
  ///   - write: The transaction.
  mutating func add(_ item: Item, _ header: SyncChangeset, _ write: WriteTransaction) {
    precondition(hasRoom(for: item), "\(item.sizeBytes) bytes behind \(end)")
    put(item.body.isEmpty ? item.head : item.head + item.body, isOld: false)
    for old in item.olds { put(old, isOld: true) }
    last = (header.sequence, header.stamp)
    write.memo = bytes
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
