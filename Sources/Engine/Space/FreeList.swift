// FreeList.swift: the node that writes a version's free and pending spans down.
//   offset_bytes  size  field        (after the node header; count = spans, auxiliary = segments)
//             48     4  fresh links
//             52     4  0
//             56  16×s  links to the segments, oldest first
//              …  16×f  fresh links: with one sync, the nodes that recovery has to check
//              …  24×n  spans as in a segment (FreeListSegment.swift): free ones, then pending ones
//              …     …  0 up to the node's size
// Its place is taken before its content is known, so it is as large as the list can get. The spans
// of the node and the segments account for all sectors that the version that wrote the list does
// not use.

enum FreeList {
  private static let fixedBytes = Layout.nodeHeaderBytes + 8
  private static let linkBytes = 16

  /// Bytes of a node with this content.
  static func sizeBytes(segments: Int, freshLinks: Int, spans: Int) -> Int {
    fixedBytes + (segments + freshLinks) * linkBytes + spans * Layout.freeListSpanBytes
  }

  /// Fills the list's node in.
  static func encode(
    segments: [FreeListSegment], fresh: [NodeLink], free: [Span], pending: [PendingSpan],
    into node: MutableBytes
  ) {
    node.set(UInt32(fresh.count), at: Layout.nodeHeaderBytes)
    node.set(UInt32(0), at: Layout.nodeHeaderBytes + 4)
    var offset = fixedBytes
    for link in segments.map(\.link) + fresh {
      node.set(link.ref.offsetBytes, at: offset)
      node.set(link.checksum, at: offset + 8)
      offset += linkBytes
    }
    offset = encode(free: free, pending: pending, into: node, at: offset)
    node.clear(from: offset, to: node.count)
  }

  /// Fills a segment's node in.
  static func encodeSegment(free: [Span], pending: [PendingSpan], into node: MutableBytes) {
    _ = encode(free: free, pending: pending, into: node, at: Layout.nodeHeaderBytes)
  }

  private static func encode(
    free: [Span], pending: [PendingSpan], into node: MutableBytes, at start: Int
  ) -> Int {
    var offset = start
    for span in free {
      FreeListSpan.encode(span, into: node, at: offset)
      offset += Layout.freeListSpanBytes
    }
    for span in pending {
      FreeListSpan.encode(span, into: node, at: offset)
      offset += Layout.freeListSpanBytes
    }
    return offset
  }

  /// The fields of a list's node, checked against its size.
  private struct Shape {
    let segments: Int
    let freshLinks: Int
    let spansOffset: Int

    init(_ node: Node) throws(EngineError) {
      segments = node.header.auxiliary
      guard node.bytes.count >= fixedBytes else {
        throw .corrupted("free list of node_bytes=\(node.bytes.count)", at: node.ref)
      }
      freshLinks = Int(node.bytes.uint32(Layout.nodeHeaderBytes))
      let needed = FreeList.sizeBytes(
        segments: segments, freshLinks: freshLinks, spans: node.header.count)
      // Each number is below 2^32 and each size below 2^5, so the sum cannot overflow.
      guard needed <= node.bytes.count, node.bytes.uint32(Layout.nodeHeaderBytes + 4) == 0 else {
        throw .corrupted(
          "segments=\(segments) fresh_links=\(freshLinks) spans=\(node.header.count) do not fit "
            + "node_bytes=\(node.bytes.count)", at: node.ref)
      }
      spansOffset = fixedBytes + (segments + freshLinks) * linkBytes
    }
  }

  private static func link(_ node: Node, _ index: Int) -> NodeLink {
    let offset = fixedBytes + index * linkBytes
    return NodeLink(
      ref: Ref(offsetBytes: node.bytes.uint64(offset)), checksum: node.bytes.uint64(offset + 8))
  }

  /// The nodes that a commit of one sync wrote, for recovery to check.
  static func freshLinks(_ node: Node) throws(EngineError) -> [NodeLink] {
    let shape = try Shape(node)
    guard shape.freshLinks <= Layout.freshLinkCountMax else {
      throw .corrupted(
        "fresh_links=\(shape.freshLinks) > \(Layout.freshLinkCountMax)", at: node.ref)
    }
    return (0..<shape.freshLinks).map { link(node, shape.segments + $0) }
  }

  /// Links to the segments and the fresh nodes.
  static func links(_ node: Node) throws(EngineError) -> [NodeLink] {
    let shape = try Shape(node)
    return (0..<shape.segments + shape.freshLinks).map { link(node, $0) }
  }

  /// Reads the list with its segments.
  /// - Throws: `EngineError` with code `.corrupted`; spans that overlap are that, too.
  /// - Complexity: O(spans × log spans).
  static func decode(
    _ node: Node, reader: NodeReader, endSector: UInt64, current: Version, again: Bool = false
  ) throws(EngineError) -> SpaceMap {
    let shape = try Shape(node)
    let own = try spans(
      node, at: shape.spansOffset, endSector: endSector, current: current)
    var segments: [FreeListSegment] = []
    guard UInt64(shape.segments) <= endSector else {
      throw .corrupted("segments=\(shape.segments) > end_sector=\(endSector)", at: node.ref)
    }
    for index in 0..<shape.segments {
      let link = link(node, index)
      let segment =
        again
        ? try reader.verifiedAgain(link, kind: .freeListSegment, newest: current)
        : try reader.node(link, kind: .freeListSegment, newest: current)
      let size = Layout.nodeHeaderBytes + segment.header.count * Layout.freeListSpanBytes
      guard segment.bytes.count == size, segment.header.count <= Layout.segmentSpanCount else {
        throw .corrupted(
          "spans=\(segment.header.count) node_bytes=\(segment.bytes.count)", at: segment.ref)
      }
      let spans = try spans(
        segment, at: Layout.nodeHeaderBytes, endSector: endSector, current: current)
      segments.append(
        FreeListSegment(
          link: link, version: segment.header.version, free: spans.free, pending: spans.pending))
    }
    let free = own.free + segments.flatMap(\.free)
    // Checked before neighbours are merged, since merging would hide that two free spans share
    // sectors.
    try checkDisjoint(
      free + own.pending.map(\.span) + segments.flatMap { $0.pending.map(\.span) }, at: node.ref)
    return SpaceMap(
      free: free.merged(), loose: own.pending, segments: segments, endSector: endSector)
  }

  private static func spans(
    _ node: Node, at start: Int, endSector: UInt64, current: Version
  ) throws(EngineError) -> (free: [Span], pending: [PendingSpan]) {
    var free: [Span] = []
    var pending: [PendingSpan] = []
    for index in 0..<node.header.count {
      let span = try FreeListSpan.decode(
        node.bytes, at: start + index * Layout.freeListSpanBytes, endSector: endSector,
        current: current, ref: node.ref)
      if span.released.rawValue == 0 { free.append(span.span) } else { pending.append(span) }
    }
    return (free, pending)
  }

  private static func checkDisjoint(_ spans: [Span], at ref: Ref) throws(EngineError) {
    var next = Layout.firstNodeSector
    for span in spans.sorted(by: { $0.start < $1.start }) {
      guard span.start >= next else {
        throw .corrupted("the span at sector \(span.start) overlaps another", at: ref)
      }
      next = span.end
    }
  }
}
