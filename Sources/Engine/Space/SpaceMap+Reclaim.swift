// SpaceMap+Reclaim.swift: pending space becomes free when no live version reaches it.
// Invariants: a snapshot's version is in `live`, so nothing that it reaches becomes free; a version
// that recovery may choose is in `roots`, so neither does its free list. The nodes of a free list
// are reached by recovery alone: a pin keeps what it reads, not the list of its version.

extension SpaceMap {
  /// Makes pending space reusable that none of the live versions reaches, and lowers the logical
  /// end to the last sector in use.
  ///
  /// A span is reachable from the versions in `born ..< released` only, so one pinned version keeps
  /// only the space that it reaches, not space allocated and released after it.
  /// - Parameters:
  ///   - live: Every version that must stay whole, sorted.
  ///   - roots: Those of them whose free lists must stay, too, sorted.
  /// - Complexity: O(loose spans + segments), and O(spans) of the segments whose keepers were
  ///   released.
  mutating func reclaim(live: [Version], roots: [Version]) {
    tidy()
    var index = 0
    while index < segments.count {
      if segments[index].isKept(live: live) {
        index += 1
      } else {
        dissolve(at: index)
      }
    }
    var reclaimed: [Span] = []
    loose = loose.compactMap { candidate in
      var candidate = candidate
      candidate.keeper = candidate.keeper(among: candidate.isFreeList ? roots : live)
      guard candidate.keeper == nil else { return candidate }
      reclaimed.append(candidate.span)
      return nil
    }
    if !reclaimed.isEmpty { free = (free + reclaimed).merged() }
    lowerEnd()
  }

  /// Makes the spans of a segment loose; its node is released by the next commit.
  mutating func dissolve(at index: Int) {
    let segment = segments.remove(at: index)
    loose += segment.pending
    dissolved.append(segment)
  }

  /// Free sectors at the logical end are not part of the logical file.
  ///
  /// No live version reaches them, so they can be dropped.
  private mutating func lowerEnd() {
    guard let last = free.last, last.end == endSector else { return }
    free.removeLast()
    taken.append(last)
    endSector = last.start
  }
}
