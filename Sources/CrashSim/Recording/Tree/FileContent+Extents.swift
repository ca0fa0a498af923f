// FileContent+Extents.swift: [U] a file's bytes as a value, for crash states and trace files.
// Safety: pieces are read during the callback, and the content does not change meanwhile.

extension FileContent {
  /// The content as extents: maximal runs of 4 KiB pages with a nonzero byte, cut where an extent
  /// must end.
  /// - Parameter store: Where the bytes go when they are too many for memory.
  /// - Returns: The extents in order.
  func extents(in store: PayloadStore) -> [Extent] {
    var builder = ExtentBuilder(in: store)
    for index in chunkIndices() {
      let base = index * UInt64(Self.chunkBytes)
      unsafe forEachPiece(at: base, count: UInt64(Self.chunkBytes)) { piece in
        var start = 0
        // Only a chunk's memory, its first piece, can hold bytes other than zeros.
        while start < piece.count {
          let end = min(start + Self.pageBytes, piece.count)
          let page = unsafe UnsafeRawBufferPointer(rebasing: piece[start..<end])
          if unsafe !page.allSatisfy({ $0 == 0 }) {
            let offset = base + UInt64(start)
            unsafe builder.append(page, at: offset)
            // A small chunk ends inside a page; zeros follow up to its end, or the file's.
            let rest = sizeBytes - builder.endBytes
            let padding = min(Self.pageBytes - page.count, Int(clamping: rest))
            builder.append(repeatElement(0, count: padding), at: builder.endBytes)
          }
          start = end
        }
      }
    }
    return builder.finish()
  }

  /// The same, with a new store.
  package func extents() -> [Extent] {
    extents(in: PayloadStore(wrappingUpTo: PayloadStore.memoryBytesMax))
  }
}
