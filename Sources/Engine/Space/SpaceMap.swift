// SpaceMap.swift: which sectors are free, pending or beyond the logical end.
// Invariants: `free` is sorted and neighbours are merged; no sector is in two spans; all spans lie
// in firstNodeSector ..< endSector. A transaction works on a copy, and the copy becomes the
// database's only after the commit: a commit that fails gives all of its space back by being
// forgotten.

/// The space of the file, as one version sees it.
struct SpaceMap: Sendable {
  private(set) var free: [Span]
  private(set) var pending: [PendingSpan]
  /// First sector behind the logical file.
  private(set) var endSector: UInt64
  /// invariant: no span before `firstCandidates[n]` has room for n sectors.
  private var firstCandidates: [Int] = []

  init(free: [Span], pending: [PendingSpan], endSector: UInt64) {
    self.free = free
    self.pending = pending
    self.endSector = endSector
  }

  /// The space of a new file, up to the first sector that can hold a node.
  static var empty: SpaceMap {
    SpaceMap(free: [], pending: [], endSector: Layout.firstNodeSector)
  }

  var freeSectorCount: UInt64 { free.reduce(0) { $0 + $1.count } }
  var pendingSectorCount: UInt64 { pending.reduce(0) { $0 + $1.span.count } }

  /// Takes sectors that no live version uses: from the first free span with room, else behind the
  /// logical end.
  /// - Complexity: O(1) amortised over a transaction for the usual small counts.
  mutating func allocate(sectors count: UInt64) -> Ref {
    precondition(count > 0, "a node has at least one sector")
    let slot = Int(min(count, 64))
    while firstCandidates.count <= slot { firstCandidates.append(0) }
    var index = firstCandidates[slot]
    while index < free.count, free[index].count < count { index += 1 }
    firstCandidates[slot] = count < 64 ? index : 0
    guard index < free.count else {
      let ref = Ref(sector: endSector)
      endSector += count
      return ref
    }
    // An emptied span stays in the list with count 0 until the next reclaim.
    let ref = Ref(sector: free[index].start)
    free[index].start += count
    free[index].count -= count
    return ref
  }

  /// Records that the version to be made no longer reaches these spans; neighbours that came and
  /// went together become one.
  mutating func release(_ spans: [PendingSpan]) {
    for next in spans.sorted(by: { $0.span.start < $1.span.start }) {
      if let last = pending.last, last.span.end == next.span.start, last.born == next.born,
        last.released == next.released
      {
        pending[pending.count - 1].span.count += next.span.count
      } else {
        pending.append(next)
      }
    }
  }

  /// Drops what allocation emptied, so that only spans with sectors are written down.
  mutating func tidy() {
    free.removeAll { $0.count == 0 }
    firstCandidates = []
  }
}

extension SpaceMap {
  /// Makes pending space reusable that none of the live versions reaches.
  ///
  /// A span is reachable from the versions in `born ..< released` only, so one pinned version
  /// keeps what it reaches and nothing of what came and went after it.
  /// - Parameter live: Every version that must stay whole, sorted.
  mutating func reclaim(live: [Version]) {
    var reclaimed: [Span] = []
    pending.removeAll { candidate in
      let index = live.partitioningIndex { $0 >= candidate.born }
      if index < live.count, live[index] < candidate.released { return false }
      reclaimed.append(candidate.span)
      return true
    }
    firstCandidates = []
    guard !reclaimed.isEmpty else { return }
    var all = free.filter { $0.count > 0 } + reclaimed
    all.sort { $0.start < $1.start }
    free = []
    for span in all {
      if let last = free.last, last.end == span.start {
        free[free.count - 1].count += span.count
      } else {
        free.append(span)
      }
    }
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
