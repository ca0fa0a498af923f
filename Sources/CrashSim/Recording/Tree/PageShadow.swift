// PageShadow.swift: the medium's content of a file where it differs from the visible content: pages
// changed since the last sync, and pages that a failed sync left clean in the cache.
// Kept while a rule in force needs it, and for clean pages as long as they are clean.
// Invariant: a page in `pages` has that content on the medium, every other page the file's. It uses
// no more memory than the file did at its last sync.

/// The medium's content of the pages of one file.
package final class PageShadow {
  package static let pageBytes = UInt64(FileContent.pageBytes)
  /// Size at the last sync.
  package private(set) var sizeBytes: UInt64
  /// Whole pages, padded with zeros; empty for a page of zeros.
  private(set) var pages: [UInt64: [UInt8]] = [:]
  /// Those of `pages` that a failed sync left clean: only the cache has the new content.
  package private(set) var clean: Set<UInt64> = []
  /// Pages after the last sync's end that are on the medium as in the file.
  private var arrived: Set<UInt64> = []

  package init(of content: FileContent) { sizeBytes = content.sizeBytes }

  /// Saves the pages of a range that is about to change.
  /// - Complexity: O(pages of the range that the file occupies).
  package func keep(_ range: Range<UInt64>, of content: FileContent) {
    if !arrived.isEmpty { keepArrived(in: range, of: content) }
    let end = min(range.upperBound, sizeBytes)
    guard range.lowerBound < end else { return }
    for page in range.lowerBound / Self.pageBytes...(end - 1) / Self.pageBytes {
      keep(page: page, of: content)
    }
  }

  /// Saves all pages from a position on that the file occupies; the file is about to be cut there.
  package func keepTail(from offset: UInt64, of content: FileContent) {
    if !arrived.isEmpty { keepArrived(in: offset..<UInt64.max, of: content) }
    var position = offset / Self.pageBytes * Self.pageBytes
    while position < sizeBytes, let found = try? content.seek(from: position, isData: true) {
      keep(page: found / Self.pageBytes, of: content)
      position = (found / Self.pageBytes + 1) * Self.pageBytes
    }
  }

  private func keepArrived(in range: Range<UInt64>, of content: FileContent) {
    for page in arrived
    where range.overlaps(page * Self.pageBytes..<(page + 1) * Self.pageBytes) {
      keep(page: page, of: content)
      arrived.remove(page)
    }
  }

  private func keep(page: UInt64, of content: FileContent) {
    if pages[page] == nil {
      pages[page] = content.read(at: page * Self.pageBytes, count: Int(Self.pageBytes))
    }
  }

  // MARK: Syncs

  /// A sync failed: dirty pages are now clean, but not on the medium.
  /// - Complexity: O(pages that changed since the last sync).
  package func failSync(of content: FileContent) {
    keepGrowth(of: content)
    clean = Set(pages.keys)
  }

  /// Pages changed since the last sync and not left clean by a failed one, in order.
  /// - Complexity: O(pages that changed since the last sync), and sorting them.
  package func dirtyPages(of content: FileContent) -> [UInt64] {
    keepGrowth(of: content)
    return pages.keys.filter { !clean.contains($0) }.sorted()
  }

  /// A dirty page has reached the medium.
  package func arrive(page: UInt64) {
    pages.removeValue(forKey: page)
    if (page + 1) * Self.pageBytes > sizeBytes { arrived.insert(page) }
  }

  /// Bytes of a range reach the medium without a sync; what else their pages got does not.
  /// - Complexity: O(pages that changed since the last sync + pages of the range).
  package func store(_ range: Range<UInt64>, of content: FileContent) {
    // The end of the medium's file moves, so what was written behind it has to be told apart now.
    let rest = sizeBytes % Self.pageBytes
    let last = sizeBytes / Self.pageBytes
    if rest > 0, pages[last] == nil, range.upperBound > sizeBytes {
      pages[last] = content.read(at: last * Self.pageBytes, count: Int(rest))
    }
    keepGrowth(of: content)
    var position = range.lowerBound
    while position < range.upperBound {
      let page = position / Self.pageBytes
      let end = min(range.upperBound, (page + 1) * Self.pageBytes)
      if let old = pages[page] {
        let bytes = content.read(at: position, count: Int(end - position))
        let start = Int(position % Self.pageBytes)
        var whole = Self.padded(old)
        whole.replaceSubrange(start..<start + bytes.count, with: bytes)
        pages[page] = whole
      }
      position = end
    }
    sizeBytes = max(sizeBytes, range.upperBound)
  }

  /// Whole pages reach the medium without a sync; its file then reaches at least to the last one.
  /// - Complexity: O(pages that changed since the last sync).
  package func store(pages chosen: [UInt64], of content: FileContent) {
    guard let final = chosen.max() else { return }
    let end = min((final + 1) * Self.pageBytes, content.sizeBytes)
    // What was appended to a page that stays behind has to be told apart from now on.
    let rest = sizeBytes % Self.pageBytes
    let last = sizeBytes / Self.pageBytes
    if rest > 0, pages[last] == nil, end > sizeBytes {
      pages[last] = content.read(at: last * Self.pageBytes, count: Int(rest))
    }
    keepGrowth(of: content)
    for page in chosen { pages.removeValue(forKey: page) }
    sizeBytes = max(sizeBytes, end)
  }

  /// The dirty pages, and the medium's last one when only behind its end something was appended.
  package func unsyncedPages(of content: FileContent) -> [UInt64] {
    let pages = dirtyPages(of: content)
    let last = sizeBytes / Self.pageBytes
    guard content.sizeBytes > sizeBytes, !pages.contains(last) else { return pages }
    return (pages + [last]).sorted()
  }

  /// Pages behind the old end have nothing there yet.
  private func keepGrowth(of content: FileContent) {
    var position = (sizeBytes + Self.pageBytes - 1) / Self.pageBytes * Self.pageBytes
    while position < content.sizeBytes, let found = try? content.seek(from: position, isData: true)
    {
      let page = found / Self.pageBytes
      if pages[page] == nil, !arrived.contains(page) { pages[page] = [] }
      position = (found / Self.pageBytes + 1) * Self.pageBytes
    }
  }

  /// A sync succeeded: only clean pages still differ.
  package func sync(of content: FileContent) {
    sizeBytes = content.sizeBytes
    arrived = []
    forgetDirty()
  }

  /// Keeps only clean pages.
  package func forgetDirty() { pages = pages.filter { clean.contains($0.key) } }

  /// The clean pages that a range touches, in order.
  package func cleanPages(in range: Range<UInt64>) -> [UInt64] {
    guard !clean.isEmpty, !range.isEmpty else { return [] }
    let touched = range.lowerBound / Self.pageBytes...(range.upperBound - 1) / Self.pageBytes
    return clean.filter { touched.contains($0) }.sorted()
  }

  /// A clean page becomes dirty again: the next sync writes all of it.
  package func becomeDirty(page: UInt64) { clean.remove(page) }

  /// A clean page left the cache.
  /// - Returns: The medium's content there, a whole page.
  package func evict(page: UInt64) -> [UInt8] {
    clean.remove(page)
    return Self.padded(pages.removeValue(forKey: page) ?? [])
  }

  private static func padded(_ bytes: [UInt8]) -> [UInt8] {
    bytes + [UInt8](repeating: 0, count: Int(pageBytes) - bytes.count)
  }

  // MARK: Content

  /// The bytes of a range on the medium, cut at the end of the last sync.
  package func read(at offset: UInt64, count: Int, of content: FileContent) -> [UInt8] {
    var bytes: [UInt8] = []
    var position = offset
    let end = min(offset + UInt64(count), sizeBytes)
    while position < end {
      let page = position / Self.pageBytes
      let stop = min(end, (page + 1) * Self.pageBytes)
      let start = Int(position % Self.pageBytes)
      let wanted = Int(stop - position)
      var piece: [UInt8]
      if let old = pages[page] {
        piece = Array(old.dropFirst(start).prefix(wanted))
      } else {
        piece = content.read(at: position, count: wanted)
      }
      piece += [UInt8](repeating: 0, count: wanted - piece.count)
      bytes += piece
      position = stop
    }
    return bytes
  }

  /// The saved pages in order, cut at the end of the last sync.
  package func oldPages() -> [(offsetBytes: UInt64, bytes: [UInt8])] {
    pages.filter { $0.key * Self.pageBytes < sizeBytes }.sorted { $0.key < $1.key }
      .map { page, bytes in
        let offset = page * Self.pageBytes
        let count = Int(min(Self.pageBytes, sizeBytes - offset))
        return (offset, Array(Self.padded(bytes).prefix(count)))
      }
  }
}
