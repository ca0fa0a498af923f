// SpaceMap.swift: which sectors are free, pending or beyond the logical end. Invariants: `free`
// ascends and neighbours are merged (an emptied span stays until `tidy`); no sector is in two
// spans; all spans lie in firstNodeSector ..< endSector. Free sectors listed in `segments` are in
// `free` as well, unless those sectors are in `taken`. A transaction works on a copy, and the copy
// becomes the database's only after the commit: a failed commit returns all of its space because
// its copy is discarded.

/// The space of the file, according to one version.
struct SpaceMap: Sendable {
  var free: [Span]
  /// Pending spans that no segment holds: the free list node writes them itself.
  var loose: [PendingSpan]
  /// Nodes of the free list that are unchanged from version to version.
  var segments: [FreeListSegment]
  /// First sector after the logical file.
  var endSector: UInt64
  /// Sectors that were free when the segments were written and are not any more.
  var taken: [Span] = []
  /// Segments with outdated spans; their nodes are released by the next commit.
  var dissolved: [FreeListSegment] = []
  /// The end of the sectors taken last: the next allocation is best placed there.
  private(set) var lastTakenEnd: UInt64?
  /// Sectors of the last commit that the next one frees together: its inner nodes and its top.
  private(set) var briefSectors: UInt64 = 0
  /// The same of this commit so far, and where they end.
  private var brief: (count: UInt64, end: UInt64)?
  /// Takes the lowest place with room instead of the best one: used while nodes are moved out of
  /// the tail.
  var prefersLowest = false
  /// Places each node in the best-fitting gap, also those that commits replace together: while pins
  /// hold most of the file, one of them stays, so their common run would leave a gap.
  var fillsHoles = false
  /// invariant: no span before `firstCandidates[n]` has room for n sectors.
  private var firstCandidates: [Int] = []

  init(
    free: [Span], loose: [PendingSpan] = [], segments: [FreeListSegment] = [], endSector: UInt64
  ) {
    self.free = free
    self.loose = loose
    self.segments = segments
    self.endSector = endSector
  }

  /// The space of a new file, up to the first sector that can hold a node.
  static var empty: SpaceMap { SpaceMap(free: [], endSector: Layout.firstNodeSector) }

  var freeSectorCount: UInt64 { free.reduce(0) { $0 + $1.count } }

  /// Every span that a version before the newest may still reach.
  var pending: [PendingSpan] { loose + segments.flatMap(\.pending) }

  var pendingSectorCount: UInt64 {
    segments.reduce(loose.reduce(0) { $0 + $1.span.count }) { sum, segment in
      segment.pending.reduce(sum) { $0 + $1.span.count }
    }
  }

  /// Takes sectors that no live version uses: of the free spans with room the smallest, else beyond
  /// the logical end.
  /// - Parameters:
  ///   - count: How many.
  ///   - isBrief: Whether the next commit will probably replace the node. Those nodes take one run
  ///     together with the top, so that they are one write, and one hole afterwards.
  /// - Returns: Where they begin.
  /// - Complexity: O(free spans).
  mutating func allocate(sectors count: UInt64, isBrief: Bool = false) -> Ref {
    precondition(count > 0, "a node has at least one sector")
    guard isBrief, !fillsHoles else { return take(count, from: place(for: count)) }
    let ref = take(count, from: briefPlace(for: count))
    brief = ((brief?.count ?? 0) + count, ref.sector + count)
    return ref
  }

  /// The best place for the top.
  var bestEnd: UInt64? { brief?.end ?? lastTakenEnd }

  /// Whether those nodes went beyond the logical end, so that the top goes there, too.
  var isBriefAtEnd: Bool { brief?.end == endSector }

  /// Remembers how much a commit took that the next one frees.
  mutating func noteTop(sectors count: UInt64) {
    briefSectors = (brief?.count ?? 0) + count
    brief = nil
  }

  /// The free span to take such a node from; nil means beyond the logical end.
  private mutating func briefPlace(for count: UInt64) -> Int? {
    if let brief {
      let next = free.firstIndex { $0.start == brief.end && $0.count >= count }
      return next ?? (brief.end == endSector ? nil : place(for: count))
    }
    let isShort = briefSectors >= count && briefSectors <= Layout.briefSectorsMax
    return place(for: isShort ? briefSectors : count)
  }

  private mutating func take(_ count: UInt64, from index: Int?) -> Ref {
    guard let index else {
      let ref = Ref(sector: endSector)
      endSector += count
      lastTakenEnd = endSector
      return ref
    }
    // An emptied span stays in the list with count 0 until `tidy`.
    let ref = Ref(sector: free[index].start)
    note(taken: Span(start: free[index].start, count: count))
    free[index].start += count
    free[index].count -= count
    lastTakenEnd = free[index].start
    return ref
  }

  /// The free span to take from.
  private mutating func place(for count: UInt64) -> Int? {
    let slot = Int(min(count, 64))
    while firstCandidates.count <= slot { firstCandidates.append(0) }
    var index = firstCandidates[slot]
    while index < free.count, free[index].count < count { index += 1 }
    firstCandidates[slot] = count < 64 ? index : 0
    guard index < free.count else { return nil }
    if prefersLowest { return index }
    var best = index
    while index < free.count, free[best].count > count {
      if free[index].count >= count, free[index].count < free[best].count { best = index }
      index += 1
    }
    return best
  }

  private mutating func note(taken span: Span) {
    if let last = taken.last, last.end == span.start {
      taken[taken.count - 1].count += span.count
    } else {
      taken.append(span)
    }
  }

  /// Takes a span that is inside of one free span.
  mutating func take(_ span: Span) {
    let index = free.partitioningIndex { $0.end > span.start }
    precondition(index < free.count && free[index].start <= span.start, "only free space is taken")
    let whole = free[index]
    precondition(whole.end >= span.end, "only free space is taken")
    var rest: [Span] = []
    if whole.start < span.start {
      rest.append(Span(start: whole.start, count: span.start - whole.start))
    }
    if span.end < whole.end { rest.append(Span(start: span.end, count: whole.end - span.end)) }
    free.replaceSubrange(index...index, with: rest)
    firstCandidates = []
  }

  /// Records that the version to be made no longer reaches these spans; neighbours that came and
  /// went together become one.
  mutating func release(_ spans: [PendingSpan]) {
    for next in spans.sorted(by: { $0.span.start < $1.span.start }) {
      if let last = loose.last, last.span.end == next.span.start, last.born == next.born,
        last.released == next.released, last.isFreeList == next.isFreeList, last.keeper == nil,
        last.span.count + next.span.count <= Layout.spanSectorsMax
      {
        loose[loose.count - 1].span.count += next.span.count
      } else {
        loose.append(next)
      }
    }
  }

  /// Drops what allocation emptied, so that only spans with sectors are left.
  mutating func tidy() {
    free.removeAll { $0.count == 0 }
    firstCandidates = []
  }
}

extension Array {
  /// The first index whose element satisfies a predicate that is false before and true after it.
  func partitioningIndex(_ belongsToRight: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = low + (high - low) / 2
      if belongsToRight(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
