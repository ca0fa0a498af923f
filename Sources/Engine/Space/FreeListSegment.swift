// FreeListSegment.swift: spans of the free list in a separate node. A commit writes only new
// segments; a segment stays valid as long as none of its free spans is taken and every pending span
// in it has a keeper. After that it is dissolved: its remaining spans become loose.
//   offset_bytes  size  field        (after the node header; count = spans)
//             48  24×n  spans: place 8, born version and flag 8, released version 8
// place = first sector + 2^36 × number of sectors. born = released = 0: free. Bit 63 of born: a
// node of the free list.

/// A segment as the writer knows it.
struct FreeListSegment: Sendable {
  let link: NodeLink
  /// The version that wrote it.
  let version: Version
  let free: [Span]
  let pending: [PendingSpan]
  /// Its sector; a segment has one, sealed or not.
  var span: Span { Span(start: link.ref.sector, count: 1) }
  /// The live versions that keep its pending spans, sorted; nil when not determined yet.
  private(set) var keepers: [Version]?

  init(link: NodeLink, version: Version, free: [Span], pending: [PendingSpan]) {
    self.link = link
    self.version = version
    self.free = free
    self.pending = pending
  }

  /// Whether each pending span has a keeper among the live versions.
  mutating func isKept(live: [Version]) -> Bool {
    if let keepers {
      return keepers.allSatisfy { keeper in
        let index = live.partitioningIndex { $0 >= keeper }
        return index < live.count && live[index] == keeper
      }
    }
    var found: Set<Version> = []
    for span in pending {
      guard let keeper = span.keeper(among: live) else { return false }
      found.insert(keeper)
    }
    keepers = found.sorted()
    return true
  }
}

/// One span as the free list writes it.
enum FreeListSpan {
  private static let sectorBits: UInt64 = 36
  private static let freeListFlag: UInt64 = 1 << 63

  /// Writes a free span.
  static func encode(_ span: Span, into node: MutableBytes, at offset: Int) {
    node.set(place(span), at: offset)
    node.set(UInt64(0), at: offset + 8)
    node.set(UInt64(0), at: offset + 16)
  }

  /// Writes a pending span.
  static func encode(_ pending: PendingSpan, into node: MutableBytes, at offset: Int) {
    node.set(place(pending.span), at: offset)
    let flag = pending.isFreeList ? freeListFlag : 0
    node.set(pending.born.rawValue | flag, at: offset + 8)
    node.set(pending.released.rawValue, at: offset + 16)
  }

  private static func place(_ span: Span) -> UInt64 {
    precondition(span.count > 0 && span.count <= Layout.spanSectorsMax, "long runs were cut")
    return span.start | span.count << sectorBits
  }

  /// Reads a span; it is checked against the logical file.
  /// - Returns: The span; `released` is 0 for a free one.
  static func decode(
    _ node: RawBytes, at offset: Int, endSector: UInt64, current: Version, ref: Ref
  ) throws(EngineError) -> PendingSpan {
    let place = node.uint64(offset)
    let span = Span(start: place & (1 << sectorBits - 1), count: place >> sectorBits)
    guard span.start >= Layout.firstNodeSector, span.start < endSector, span.count > 0,
      span.count <= endSector - span.start
    else {
      throw .corrupted(
        "span start=\(span.start) count=\(span.count) end_sector=\(endSector)", at: ref)
    }
    let born = node.uint64(offset + 8)
    let pending = PendingSpan(
      span: span, born: Version(rawValue: born & ~freeListFlag),
      released: Version(rawValue: node.uint64(offset + 16)), isFreeList: born & freeListFlag != 0)
    if pending.released.rawValue == 0, born == 0 { return pending }
    guard pending.born < pending.released, pending.released <= current else {
      throw .corrupted(
        "pending span born=\(pending.born) released=\(pending.released) in version \(current)",
        at: ref)
    }
    return pending
  }

  /// Cuts runs that are too long for one span.
  static func cut(_ spans: [Span]) -> [Span] {
    guard spans.contains(where: { $0.count > Layout.spanSectorsMax }) else { return spans }
    return spans.flatMap { span -> [Span] in
      stride(from: span.start, to: span.end, by: Int(Layout.spanSectorsMax)).map { start in
        Span(start: start, count: min(Layout.spanSectorsMax, span.end - start))
      }
    }
  }
}
