// FreeList.swift: the node that writes a version's free and pending spans down.
//   offset_bytes  size  field        (behind the node header; count = free, auxiliary = pending)
//             48  16×n  free spans: start sector 8, sector count 8; ascending, disjoint
//              …  32×m  pending spans: start 8, count 8, born version 8, released version 8
//              …     …  0 up to the node's size, which is a multiple of a sector
// The node's own sectors are taken before its content is known, so it is as large as the list can
// get, and fills its sectors.

enum FreeList {
  private static let freeBytes = 16
  private static let pendingBytes = 32

  /// Sectors for a node that can hold the map's spans.
  static func sectorCount(of space: SpaceMap, _ room: NodeRoom) -> UInt64 {
    room.sectors(
      Layout.nodeHeaderBytes + space.free.count * freeBytes + space.pending.count * pendingBytes)
  }

  /// Fills the node in.
  static func encode(_ space: SpaceMap, into node: MutableBytes) {
    var offset = Layout.nodeHeaderBytes
    for span in space.free {
      node.set(span.start, at: offset)
      node.set(span.count, at: offset + 8)
      offset += freeBytes
    }
    for pending in space.pending {
      node.set(pending.span.start, at: offset)
      node.set(pending.span.count, at: offset + 8)
      node.set(pending.born.rawValue, at: offset + 16)
      node.set(pending.released.rawValue, at: offset + 24)
      offset += pendingBytes
    }
    node.clear(from: offset, to: node.count)
  }

  /// Reads the spans; each is checked against the logical file.
  static func decode(
    _ node: RawBytes, header: NodeHeader, endSector: UInt64, current: Version, at ref: Ref
  ) throws(EngineError) -> SpaceMap {
    let room = node.count - Layout.nodeHeaderBytes
    guard header.count <= room / freeBytes,
      header.auxiliary <= (room - header.count * freeBytes) / pendingBytes
    else {
      throw .corrupted(
        "free_spans=\(header.count) pending_spans=\(header.auxiliary) do not fit "
          + "node_bytes=\(node.count)", at: ref)
    }
    var free: [Span] = []
    free.reserveCapacity(header.count)
    var offset = Layout.nodeHeaderBytes
    var lowest = Layout.firstNodeSector
    for _ in 0..<header.count {
      let span = try span(node, offset, endSector: endSector, at: ref)
      guard span.start >= lowest else {
        throw .corrupted("free span at sector \(span.start) overlaps another", at: ref)
      }
      lowest = span.end
      free.append(span)
      offset += freeBytes
    }
    var pending: [PendingSpan] = []
    pending.reserveCapacity(header.auxiliary)
    for _ in 0..<header.auxiliary {
      let span = try span(node, offset, endSector: endSector, at: ref)
      let born = Version(rawValue: node.uint64(offset + 16))
      let released = Version(rawValue: node.uint64(offset + 24))
      guard born < released, released <= current else {
        throw .corrupted(
          "pending span born=\(born) released=\(released) in version \(current)", at: ref)
      }
      pending.append(PendingSpan(span: span, born: born, released: released))
      offset += pendingBytes
    }
    let space = SpaceMap(free: free, pending: pending, endSector: endSector)
    // Spans are at most 2^36 sectors and at most 2^26 of them fit a node: the sum cannot overflow.
    guard space.freeSectorCount + space.pendingSectorCount <= endSector else {
      throw .corrupted(
        "free_sectors=\(space.freeSectorCount) + pending_sectors=\(space.pendingSectorCount) > "
          + "end_sector=\(endSector)", at: ref)
    }
    return space
  }

  private static func span(
    _ node: RawBytes, _ offset: Int, endSector: UInt64, at ref: Ref
  ) throws(EngineError) -> Span {
    let start = node.uint64(offset)
    let count = node.uint64(offset + 8)
    guard start >= Layout.firstNodeSector, start < endSector, count > 0,
      count <= endSector - start
    else {
      throw .corrupted("span start=\(start) count=\(count) end_sector=\(endSector)", at: ref)
    }
    return Span(start: start, count: count)
  }
}
