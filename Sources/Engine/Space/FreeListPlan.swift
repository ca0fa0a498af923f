// FreeListPlan.swift: which parts of the free list a commit writes, decided before any of it is
// encoded. Invariants: the top nodes take no sector that a segment lists, so that planning
// terminates; and taking sectors for them adds no span, so that the list's node is large enough.

/// The parts of the free list that a commit writes, and the places of the top nodes.
struct FreeListPlan {
  /// A segment to be written.
  struct NewSegment {
    let ref: Ref
    let free: [Span]
    let pending: [PendingSpan]
    var sizeBytes: Int {
      Layout.nodeHeaderBytes + (free.count + pending.count) * Layout.freeListSpanBytes
    }
  }

  var segments: [NewSegment] = []
  var list = Ref.none
  var listSizeBytes = 0
  var group = Ref.none
  /// Free spans that the list's node writes itself.
  var free: [Span] = []
}

extension SpaceMap {
  /// Releases the parts of the old free list that the new version does not reach, moves remaining
  /// spans to segments, and takes the sectors of the top nodes, adjacent if there is room.
  /// - Parameters:
  ///   - version: The version being made.
  ///   - freshLinks: Links that the list's node has room for.
  ///   - groupSectors: Sectors of the group.
  ///   - sectors: Returns the number of sectors of a node of this size.
  /// - Returns: The nodes to write, and their places.
  mutating func plan(
    version: Version, freshLinks: Int, groupSectors: UInt64, sectors: (Int) -> UInt64
  ) -> FreeListPlan {
    tidy()
    taken = taken.merged()
    var index = 0
    while index < segments.count {
      if segments[index].free.contains(where: { taken.intersects($0) }) {
        dissolve(at: index)
      } else {
        index += 1
      }
    }
    release(
      dissolved.map {
        PendingSpan(
          span: $0.span, born: $0.version, released: version,
          isFreeList: true)
      })
    var plan = FreeListPlan()
    let owned = segments.flatMap(\.free).sorted { $0.start < $1.start }
    plan.free = FreeListSpan.cut(free.subtracting(owned))
    let parts = spillPending(base: version) + Self.spill(&plan.free)
    plan.listSizeBytes = FreeList.sizeBytes(
      segments: segments.count + parts.count, freshLinks: freshLinks,
      spans: plan.free.count + loose.count)
    let listSectors = sectors(plan.listSizeBytes)
    let total = UInt64(parts.count) + listSectors + groupSectors
    var start: Ref?
    if !fillsHoles { start = isBriefAtEnd ? takeAtEnd(total) : takeTop(total, &plan.free) }
    var run = start.map { Span(start: $0.sector, count: total) }
    func next(_ count: UInt64) -> Ref {
      guard let rest = run else { return takeTop(count, &plan.free) ?? takeAtEnd(count) }
      run = Span(start: rest.start + count, count: rest.count - count)
      return Ref(sector: rest.start)
    }
    for part in parts {
      plan.segments.append(.init(ref: next(1), free: part.free, pending: part.pending))
    }
    plan.list = next(listSectors)
    plan.group = next(groupSectors)
    noteTop(sectors: total)
    tidy()
    taken = []
    dissolved = []
    return plan
  }

  private typealias Part = (free: [Span], pending: [PendingSpan])

  /// Full segments of pending spans that a pin keeps, the oldest pins first.
  ///
  /// A span kept only by the base version is free again after this commit, so it stays in the
  /// list's node.
  private mutating func spillPending(base: Version) -> [Part] {
    let count = Layout.segmentSpanCount
    let isSteady = { (span: PendingSpan) in
      guard let keeper = span.keeper else { return false }
      return keeper.next < base && !span.isFreeList
    }
    var steady = loose.filter(isSteady)
    guard steady.count >= count else { return [] }
    steady.sort { ($0.keeper ?? $0.born, $0.span.start) < ($1.keeper ?? $1.born, $1.span.start) }
    let spilled = steady.count / count * count
    loose = loose.filter { !isSteady($0) } + steady[spilled...]
    return stride(from: 0, to: spilled, by: count).map { ([], Array(steady[$0..<$0 + count])) }
  }

  /// Full segments of free spans, neighbours together, when there are many.
  private static func spill(_ free: inout [Span]) -> [Part] {
    let count = Layout.segmentSpanCount
    guard free.count >= 2 * count else { return [] }
    // The first ones stay: low positions are taken first.
    let kept = free.count % count
    let parts = stride(from: kept, to: free.count, by: count).map {
      (Array(free[$0..<$0 + count]), [] as [PendingSpan])
    }
    free.removeSubrange(kept...)
    return parts
  }

  /// Sectors of one free span that no segment lists, after the commit's last node if possible; else
  /// in the smallest span with room, or the lowest.
  private mutating func takeTop(_ count: UInt64, _ free: inout [Span]) -> Ref? {
    var best: Int?
    for index in free.indices where free[index].count >= count {
      if !fillsHoles, let last = bestEnd, free[index].start == last {
        best = index
        break
      }
      if let found = best, prefersLowest || free[found].count <= free[index].count { continue }
      best = index
    }
    guard let best else { return nil }
    let start = free[best].start
    take(Span(start: start, count: count))
    free[best].start += count
    free[best].count -= count
    if free[best].count == 0 { free.remove(at: best) }
    return Ref(sector: start)
  }

  private mutating func takeAtEnd(_ count: UInt64) -> Ref {
    let ref = Ref(sector: endSector)
    endSector += count
    return ref
  }
}
