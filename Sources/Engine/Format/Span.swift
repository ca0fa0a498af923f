// Span.swift: runs of whole sectors, with what a commit records about those that it no longer
// needs.

/// A run of sectors.
struct Span: Hashable, Sendable {
  var start: UInt64
  var count: UInt64

  var end: UInt64 { start + count }
}

/// A run of sectors that versions in `born ..< released` may still reach.
struct PendingSpan: Hashable, Sendable {
  var span: Span
  var born: Version
  var released: Version
  /// A node of the free list: only a slot leads to it, never a snapshot, so pins do not keep it.
  var isFreeList = false
  /// The newest live version that reaches it, as determined by reclaiming; nil before that.
  var keeper: Version?

  /// The newest of the sorted versions that reach the span.
  func keeper(among live: [Version]) -> Version? {
    let index = live.partitioningIndex { $0 >= released }
    guard index > 0, live[index - 1] >= born else { return nil }
    return live[index - 1]
  }
}

extension [Span] {
  /// The same sectors, ascending and with neighbours merged.
  ///
  /// Spans overlap only when the file has two nodes in one place.
  func merged() -> [Span] {
    var result: [Span] = []
    result.reserveCapacity(count)
    for span in sorted(by: { $0.start < $1.start }) {
      if let last = result.last, last.end >= span.start {
        result[result.count - 1].count = Swift.max(last.end, span.end) - last.start
      } else {
        result.append(span)
      }
    }
    return result
  }

  /// Whether a sector of the span is in one of these, which ascend and are disjoint.
  func intersects(_ span: Span) -> Bool {
    let index = partitioningIndex { $0.end > span.start }
    return index < count && self[index].start < span.end
  }

  /// These spans without the sectors of others; both ascend, and the others are inside of these.
  func subtracting(_ others: [Span]) -> [Span] {
    guard !others.isEmpty else { return self }
    var result: [Span] = []
    var next = 0
    for span in self {
      var start = span.start
      while next < others.count, others[next].start < span.end {
        if others[next].start > start {
          result.append(Span(start: start, count: others[next].start - start))
        }
        start = others[next].end
        next += 1
      }
      if start < span.end { result.append(Span(start: start, count: span.end - start)) }
    }
    return result
  }
}
