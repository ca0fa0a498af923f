// PendingPage.swift: small pending changesets side by side in rows of a fixed size, with the old
// states of objects that they touch first (docs/reference/sync-client.md, section 3). A commit then
// changes a few bytes of rows that are there, which the engine stores as edits in its root slot;
// a row for each changeset would be new nodes.
//   row key: 2^56 * kind + first * 32 + 28 to 31
//   offset_bytes  size  field       (of the rows' bytes, one after the other)
//              0     1  kind of the item: 1 a changeset, 2 an old state; 3, 4 the same as the
//                       difference from the one before (ByteDelta.swift); 0 ends the items
//              1     2  size of its bytes
//              3     …  its bytes
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
  }

  /// A changeset, with the old states of objects.
  struct Item {
    var changeset: [UInt8]
    var olds: [[UInt8]] = []

    /// Bytes that it takes in a page at most.
    var sizeBytes: Int { olds.reduce(3 + changeset.count) { $0 + 3 + $1.count } }
  }

  /// A row stays in its leaf, where it can be edited.
  private static let rowBytes = 480
  private static let firstPart: UInt64 = 28
  private static let rowCount = 4
  static let bytesMax = rowBytes * rowCount

  /// The number of the first changeset.
  let first: UInt64
  /// The number and stamp of the last changeset; nil without items.
  private(set) var last: (number: UInt64, stamp: SyncStamp)?
  /// What was read: none of those that were added.
  private(set) var items: [Item] = []
  /// Where the last changeset's items begin, and the next ones.
  private var lastStart = 0
  private var end = 0
  private var rows: [[UInt8]]
  /// The last changeset and the last old state.
  private var bases: [[UInt8]] = [[], []]

  /// A page without items.
  init(first: UInt64) {
    self.first = first
    rows = Array(repeating: Array(repeating: 0, count: Self.rowBytes), count: Self.rowCount)
  }

  /// Whether a row of pending changesets belongs to a page.
  static func hasRow(part: UInt64) -> Bool { part >= firstPart }

  /// Reads a page.
  /// - Throws: `EngineError` with code `.corrupted`.
  init(first: UInt64, _ source: some ReadableVersion) throws(EngineError) {
    self.first = first
    rows = []
    for number in Self.numbers(first) {
      guard let row = try SyncTable.bytes(.pending, number, source), row.count == Self.rowBytes
      else { throw SyncTable.damaged("the page of changeset \(first) is not whole") }
      rows.append(row)
    }
    while let (isOld, bytes, start) = try next() {
      if !isOld {
        lastStart = start
        items.append(Item(changeset: bytes))
      } else if items.isEmpty {
        throw damaged("begins with an old state")
      } else {
        items[items.count - 1].olds.append(bytes)
      }
    }
    guard let changeset = items.last?.changeset else { throw damaged("has no changeset") }
    do throws(SyncError) {
      let header = try SyncChangeset(headerOf: changeset)
      last = (header.sequence, header.stamp)
    } catch { throw damaged("has no changeset: \(error)") }
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

  private func byte(_ offset: Int) -> UInt8 { rows[offset / Self.rowBytes][offset % Self.rowBytes] }

  /// Takes the next item; nil behind the last one.
  private mutating func next() throws(EngineError) -> (
    isOld: Bool, bytes: [UInt8], start: Int
  )? {
    guard end < Self.bytesMax, byte(end) != 0 else { return nil }
    guard end + 3 <= Self.bytesMax else { throw damaged("ends within an item") }
    let (kind, count) = (byte(end), Int(byte(end + 1)) | Int(byte(end + 2)) << 8)
    let (first, start) = (end, end + 3)
    guard count <= Self.bytesMax - start else { throw damaged("ends within an item") }
    guard (Kind.changeset...Kind.old + Kind.delta).contains(kind) else {
      throw damaged("has an item of kind \(kind)")
    }
    var bytes = (start..<start + count).map { byte($0) }
    let isOld = kind == Kind.old || kind == Kind.old + Kind.delta
    if kind > Kind.delta {
      guard let made = ByteDelta.decoded(bytes, from: bases[isOld ? 1 : 0]) else {
        throw damaged("has the difference from another item")
      }
      bytes = made
    }
    bases[isOld ? 1 : 0] = bytes
    end = start + count
    return (isOld, bytes, first)
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
      let row = try SyncTable.bytes(.pending, number + UInt64(index), source)
      if row != rows[index] { return false }
    }
    return true
  }

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
    put(item.changeset, isOld: false)
    for old in item.olds { put(old, isOld: true) }
    last = (header.sequence, header.stamp)
    for (index, number) in Self.numbers(first).enumerated()
    where isNew || (lastStart / Self.rowBytes...(end - 1) / Self.rowBytes).contains(index) {
      try SyncTable.put(rows[index], .pending, number, write)
    }
  }

  private mutating func put(_ bytes: [UInt8], isOld: Bool) {
    let kind = isOld ? Kind.old : Kind.changeset
    let delta = ByteDelta.encoded(bytes, from: bases[isOld ? 1 : 0])
    bases[isOld ? 1 : 0] = bytes
    let stored = delta ?? bytes
    put(delta == nil ? kind : kind + Kind.delta)
    put(UInt8(stored.count & 255))
    put(UInt8(stored.count >> 8))
    for byte in stored { put(byte) }
  }

  private mutating func put(_ byte: UInt8) {
    rows[end / Self.rowBytes][end % Self.rowBytes] = byte
    end += 1
  }
}
