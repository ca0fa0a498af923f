// PendingRows.swift: the changesets that are not among the entries: small ones in pages, others in
// rows of their own. Invariants: the last changeset is in the memo, or no row of `__sync` has a
// larger key, so it is found at once; a page stays until all of its changesets are among the
// entries: changesets up to `lastSequence` do not count.

import Engine
import SyncCore

package enum PendingRows {
  /// The last changeset.
  struct Last {
    var number: UInt64
    var stamp: SyncStamp
    /// The page that it is in, if that is in the memo.
    var page: PendingPage?
    /// Whether the page is one that was known, with the same content.
    var isKnown = false
  }

  /// Old states of more bytes have rows of their own.
  static let oldBytesMax = 256
  /// Operations of more bytes have rows apart from the header, so that they need not be copied.
  private static let separateBytesMin = 1 << 16

  /// Finds the last changeset.
  /// - Parameters:
  ///   - write: The transaction.
  ///   - known: A page that was the last one in some version of the same client's file.
  ///   - isNewest: Whether it is known to be the last one, as it is.
  /// - Returns: The changeset; nil without any.
  /// - Throws: `EngineError` with code `.corrupted`.
  /// - Complexity: O(log rows).
  static func last(
    _ write: WriteTransaction, known: PendingPage?, isNewest: Bool
  ) throws(EngineError) -> Last? {
    if let known, let last = known.last, isNewest || known.isNewest(write) {
      return Last(number: last.number, stamp: last.stamp, page: known, isKnown: true)
    }
    if let page = try PendingPage.inMemo(of: write) {
      return page.last.map { Last(number: $0.number, stamp: $0.stamp, page: page) }
    }
    let rows = try RowWriter(write, SyncTable.name)
    guard let key = try rows.largestKey(), let (kind, row) = SyncTable.parts(key),
      kind == .pending
    else { return nil }
    let (number, part) = (row / PartRows.partsMax, row % PartRows.partsMax)
    if PendingPage.isRow(part: part) {
      return try PendingPage(first: number, write).last.map {
        Last(number: $0.number, stamp: $0.stamp)
      }
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
    _ item: PendingPage.Item, _ header: SyncChangeset, behind last: consuming Last?,
    _ write: WriteTransaction
  ) throws(EngineError) -> PendingPage? {
    // A commit for whose edits a slot has no room writes nodes; so does one that adds a page.
    func isNextDue(_ page: PendingPage) -> Bool {
      page.isHalfFull && write.editsRoomBytes < item.sizeBytes
    }
    if var page = last?.page {
      // Its bytes are changed in their place.
      last?.page = nil
      if page.hasRoom(for: item), !isNextDue(page) {
        page.add(item, header, write)
        return page
      }
      try page.storeRow(write)
    }
    guard item.sizeBytes <= PendingPage.bytesMax / 2, write.hasMemo else {
      let isLarge = item.body.count > separateBytesMin
      try PartRows.pending.append(
        isLarge ? [item.head, item.body] : [item.head + item.body], number: header.sequence, write)
      return nil
    }
    try PartRows.checkNumber(header.sequence)
    var page = PendingPage(first: header.sequence)
    page.add(item, header, write)
    return page
  }

  // MARK: all

  /// What the rows of a version have.
  struct Contents {
    /// The changesets that are not among the entries, in their order.
    var changesets: [SyncChangeset] = []
    /// The old states in pages: a whole one counts rather than a row of its own, which came later.
    var olds = OldStates()
    var places = Places()
  }

  /// The pages, and the changesets with rows of their own, in their order.
  struct Places {
    fileprivate struct Place {
      let first: UInt64
      var last: UInt64
      let isPage: Bool
    }

    fileprivate var all: [Place] = []

    /// The number of the first changeset in the last place; 0 without any.
    var lastFirst: UInt64 { all.last?.first ?? 0 }

    /// Replaces the last place by what was found there and behind it.
    mutating func replaceLast(by found: Places) {
      if !found.all.isEmpty, !all.isEmpty { all.removeLast() }
      all += found.all
    }

    /// Removes those whose changesets are all among the entries.
    /// - Parameters:
    ///   - lastSequence: The number of the last changeset that is among the entries.
    ///   - write: The transaction.
    /// - Throws: `EngineError`.
    mutating func trim(
      upTo lastSequence: UInt64, _ write: WriteTransaction
    ) throws(EngineError) {
      let gone = all.prefix { $0.last <= lastSequence }
      for place in gone {
        if place.isPage {
          try PendingPage.remove(first: place.first, write)
        } else {
          try PartRows.pending.remove(place.first, write)
        }
      }
      all.removeFirst(gone.count)
    }
  }

  /// Reads them.
  /// - Parameters:
  ///   - source: The version.
  ///   - lastSequence: The number of the last changeset that is known, or among the entries.
  ///   - start: The number of a page or changeset; those before it are not read.
  /// - Returns: What the rows have.
  /// - Throws: `EngineError` with code `.corrupted`.
  /// - Complexity: O(rows of `__sync`), and O(bytes).
  static func all(
    _ source: some ReadableVersion, after lastSequence: UInt64, from start: UInt64 = 0
  ) throws(EngineError) -> Contents {
    var found = Contents()
    let oldsFrom = try ClassMarks.oldStatesFrom(source)
    func add(_ page: PendingPage) throws(EngineError) {
      found.places.all.append(
        Places.Place(first: page.first, last: page.last?.number ?? page.first, isPage: true))
      for item in page.items {
        let number = try header(item.head, page.first).sequence
        guard number > lastSequence else { continue }
        found.changesets.append(try changeset(item.head, number))
        guard number >= oldsFrom else { continue }
        for bytes in item.olds { found.olds.add(try OldState(decoding: bytes)) }
      }
    }
    for row in try SyncTable.numbers(.pending, source) {
      let (first, part) = (row / PartRows.partsMax, row % PartRows.partsMax)
      guard first >= start, found.places.all.last?.first != first else { continue }
      guard PendingPage.isRow(part: part) else {
        let bytes = try PartRows.pending.bytes(first, source)
        found.places.all.append(Places.Place(first: first, last: first, isPage: false))
        if first > lastSequence { found.changesets.append(try changeset(bytes, first)) }
        continue
      }
      try add(try PendingPage(first: first, source))
    }
    if let page = try PendingPage.inMemo(of: source), page.first >= start {
      guard page.first > found.places.all.last?.last ?? 0 else {
        throw SyncTable.damaged("changeset \(page.first) is in the last page and in a row")
      }
      try add(page)
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

  /// Replaces all changesets by others, whose objects' old states have rows.
  /// - Returns: Where they are.
  @discardableResult
  static func replace(
    by changesets: [SyncChangeset], _ write: WriteTransaction
  ) throws(EngineError) -> Places {
    try PartRows.pending.remove(write) { _ in true }
    PendingPage.clearMemo(write)
    try ClassMarks.storeOldStates(from: 0, write)
    var places = Places()
    var last: Last?
    for changeset in changesets {
      let page = try add(
        PendingPage.Item(head: changeset.encoded()), changeset, behind: last, write)
      last = Last(number: changeset.sequence, stamp: changeset.stamp, page: page)
      let first = page?.first ?? changeset.sequence
      if first == places.lastFirst, !places.all.isEmpty { places.all.removeLast() }
      places.all.append(
        Places.Place(first: first, last: changeset.sequence, isPage: page != nil))
    }
    return places
  }
}
