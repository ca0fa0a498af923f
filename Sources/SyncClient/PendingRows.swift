// PendingRows.swift: the changesets that are not among the entries: small ones in pages, others in
// rows of their own. Invariants: no row of `__sync` has a larger key, so the last changeset is
// found at once; a page stays until all of its changesets are among the entries, and as long as it
// is the last one, so that the next commit edits it: changesets up to `lastSequence` do not count.

import Engine
import SyncCore

package enum PendingRows {
  /// The last changeset that has a row.
  struct Last {
    var number: UInt64
    var stamp: SyncStamp
    /// The page that it is in.
    var page: PendingPage?
  }

  /// Old states of more bytes have rows of their own.
  static let oldBytesMax = 256

  /// Finds the last changeset.
  /// - Parameters:
  ///   - write: The transaction.
  ///   - known: A page that was the last one in some version of the same client's file.
  /// - Returns: The changeset; nil without any.
  /// - Throws: `EngineError` with code `.corrupted`.
  /// - Complexity: O(log rows).
  static func last(
    _ write: WriteTransaction, known: PendingPage?
  ) throws(EngineError) -> Last? {
    let rows = try RowWriter(write, SyncTable.name)
    guard let key = try rows.largestKey(), let (kind, row) = SyncTable.parts(key),
      kind == .pending
    else { return nil }
    let (number, part) = (row / PartRows.partsMax, row % PartRows.partsMax)
    if PendingPage.hasRow(part: part) {
      if let known, known.first == number, try known.isNewest(write), let last = known.last {
        return Last(number: last.number, stamp: last.stamp, page: known)
      }
      let page = try PendingPage(first: number, write)
      return page.last.map { Last(number: $0.number, stamp: $0.stamp, page: page) }
    }
    let bytes = try PartRows.pending.bytes(number, write)
    return Last(number: number, stamp: try header(bytes, number).stamp)
  }

  private static func header(
    _ bytes: [UInt8], _ number: UInt64
  ) throws(EngineError) -> SyncChangeset {
    do throws(SyncError) { return try SyncChangeset(headerOf: bytes) } catch {
      throw SyncTable.damaged("pending changeset \(number): \(error)")
    }
  }

  /// Adds a changeset behind the last one.
  /// - Parameters:
  ///   - item: Its bytes, and old states.
  ///   - header: Its header; its number follows that of the last one.
  ///   - last: The last one.
  ///   - write: The transaction.
  /// - Returns: The page with the changeset and the old states; nil when the changeset has rows of
  ///   its own, without the old states.
  /// - Throws: `EngineError`, with code `.limit` when no number is left.
  static func add(
    _ item: PendingPage.Item, _ header: SyncChangeset, behind last: Last?,
    _ write: WriteTransaction
  ) throws(EngineError) -> PendingPage? {
    if var page = last?.page, page.hasRoom(for: item) {
      try page.add(item, header, write)
      return page
    }
    guard item.sizeBytes <= PendingPage.bytesMax / 4 else {
      try PartRows.pending.append(item.changeset, number: header.sequence, write)
      return nil
    }
    try PartRows.checkNumber(header.sequence)
    var page = PendingPage(first: header.sequence)
    try page.add(item, header, write)
    return page
  }

  // MARK: all

  /// What the rows of a version have.
  struct Contents {
    /// The changesets that are not among the entries, in their order.
    var changesets: [SyncChangeset] = []
    /// The old states in pages: a whole one counts rather than a row of its own, which came later.
    var olds = OldStates()
    /// The last number of each page, and of each changeset in rows of its own, by its first one.
    fileprivate var ends: [(first: UInt64, last: UInt64)] = []
  }

  /// Reads them.
  /// - Parameters:
  ///   - source: The version.
  ///   - lastSequence: The number of the last changeset that is among the entries.
  /// - Returns: What the rows have.
  /// - Throws: `EngineError` with code `.corrupted`.
  /// - Complexity: O(bytes).
  static func all(
    _ source: some ReadableVersion, after lastSequence: UInt64
  ) throws(EngineError) -> Contents {
    var found = Contents()
    for row in try SyncTable.numbers(.pending, source) {
      let (first, part) = (row / PartRows.partsMax, row % PartRows.partsMax)
      guard PendingPage.hasRow(part: part) else {
        if part == 0 {
          let bytes = try PartRows.pending.bytes(first, source)
          found.ends.append((first, first))
          if first > lastSequence { found.changesets.append(try changeset(bytes, first)) }
        }
        continue
      }
      guard found.ends.last?.first != first else { continue }
      found.ends.append((first, first))
      for item in try PendingPage(first: first, source).items {
        let number = try header(item.changeset, first).sequence
        found.ends[found.ends.count - 1].last = number
        guard number > lastSequence else { continue }
        found.changesets.append(try changeset(item.changeset, number))
        for bytes in item.olds { found.olds.add(try OldState(decoding: bytes)) }
      }
    }
    return found
  }

  private static func changeset(
    _ bytes: [UInt8], _ number: UInt64
  ) throws(EngineError) -> SyncChangeset {
    do throws(SyncError) { return try SyncChangeset(decoding: bytes) } catch {
      throw SyncTable.damaged("pending changeset \(number): \(error)")
    }
  }

  /// Removes what is among the entries.
  /// - Parameters:
  ///   - lastSequence: The number of the last changeset that is among the entries.
  ///   - old: What the rows have.
  ///   - write: The transaction.
  /// - Throws: `EngineError`.
  static func trim(
    upTo lastSequence: UInt64, _ old: Contents, _ write: WriteTransaction
  ) throws(EngineError) {
    var gone = old.ends.filter { $0.last <= lastSequence }
    if let end = gone.last, end.first == old.ends.last?.first,
      try SyncTable.bytes(.pending, end.first * PartRows.partsMax, write) == nil
    {
      gone.removeLast()
    }
    let firsts = Set(gone.map(\.first))
    if !firsts.isEmpty { try PartRows.pending.remove(write) { firsts.contains($0) } }
  }

  /// Replaces all changesets by others, whose objects' old states have rows.
  static func replace(
    by changesets: [SyncChangeset], _ write: WriteTransaction
  ) throws(EngineError) {
    try PartRows.pending.remove(write) { _ in true }
    var last: Last?
    for changeset in changesets {
      let page = try add(
        PendingPage.Item(changeset: changeset.encoded()), changeset, behind: last, write)
      last = Last(number: changeset.sequence, stamp: changeset.stamp, page: page)
    }
  }
}
