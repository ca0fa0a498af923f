// PageShadow.swift: what a file held at its last sync, for the pages that were changed since.
// Kept only while a rule in force needs it (stale reads, syncs that fail as on Btrfs).
// Invariant: a page in `pages` is as it was at the last sync; every other page still is. It holds
// no more memory than the file did then.

/// The old content of the pages of one file.
final class PageShadow {
  private static let pageBytes = UInt64(FileContent.pageBytes)
  /// Size at the last sync.
  let sizeBytes: UInt64
  private(set) var pages: [UInt64: [UInt8]] = [:]

  init(of content: FileContent) { sizeBytes = content.sizeBytes }

  /// Remembers the pages of a range that is about to change.
  /// - Complexity: O(pages of the range that the file occupies).
  func keep(_ range: Range<UInt64>, of content: FileContent) {
    let end = min(range.upperBound, sizeBytes)
    guard range.lowerBound < end else { return }
    for page in range.lowerBound / Self.pageBytes...(end - 1) / Self.pageBytes {
      keep(page: page, of: content)
    }
  }

  /// Remembers all pages from a position on that the file occupies; it is about to be cut there.
  func keepTail(from offset: UInt64, of content: FileContent) {
    var position = offset / Self.pageBytes * Self.pageBytes
    while position < sizeBytes, let found = try? content.seek(from: position, isData: true) {
      keep(page: found / Self.pageBytes, of: content)
      position = (found / Self.pageBytes + 1) * Self.pageBytes
    }
  }

  private func keep(page: UInt64, of content: FileContent) {
    if pages[page] == nil {
      pages[page] = content.read(at: page * Self.pageBytes, count: Int(Self.pageBytes))
    }
  }

  /// The bytes of a range as they were, cut at the old end.
  func read(at offset: UInt64, count: Int, of content: FileContent) -> [UInt8] {
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

  /// The remembered pages in order, cut at the old end.
  func oldPages() -> [(offsetBytes: UInt64, bytes: [UInt8])] {
    pages.sorted { $0.key < $1.key }.map { page, bytes in
      let offset = page * Self.pageBytes
      return (offset, Array(bytes.prefix(Int(min(Self.pageBytes, sizeBytes - offset)))))
    }
  }
}
