// SequenceDifference.swift: computes the deletions and insertions that turn one sequence into
// another. The common prefix and suffix are kept. In between, each element of the new sequence is
// matched with an equal one of the old, in order, and the longest subsequence of matches that
// ascends in both stays in place; all others are deleted and inserted. O(n) when nothing moved,
// else O(n log n); never quadratic. Invariant: applying deletions and then insertions to the old
// sequence gives the new one.

/// The difference of two sequences.
struct SequenceDifference {
  /// Positions in the old sequence, ascending.
  private(set) var deletions: [Int] = []
  /// Positions in the new sequence, ascending.
  private(set) var insertions: [Int] = []
  /// Positions in the new sequence where an element was replaced; only on request.
  private(set) var replacements: [Int] = []

  /// - Parameters:
  ///   - old: The old sequence.
  ///   - new: The new sequence.
  ///   - pairs: Whether equal numbers of deletions and insertions between two elements that stayed
  ///     count as replacements, as in a list whose elements are set.
  init<Element: Hashable>(from old: [Element], to new: [Element], pairs: Bool = false) {
    var start = 0
    while start < old.count, start < new.count, old[start] == new[start] { start += 1 }
    var (oldEnd, newEnd) = (old.count, new.count)
    while oldEnd > start, newEnd > start, old[oldEnd - 1] == new[newEnd - 1] {
      oldEnd -= 1
      newEnd -= 1
    }
    let matches = Self.matches(old[start..<oldEnd], new[start..<newEnd])
    let kept = Self.ascending(matches)
    var (oldNext, newNext) = (start, start)
    func close(_ oldLimit: Int, _ newLimit: Int, _ difference: inout SequenceDifference) {
      if pairs, oldLimit - oldNext == newLimit - newNext {
        difference.replacements += newNext..<newLimit
      } else {
        difference.deletions += oldNext..<oldLimit
        difference.insertions += newNext..<newLimit
      }
    }
    for (new, old) in kept {
      close(old, new, &self)
      (oldNext, newNext) = (old + 1, new + 1)
    }
    close(oldEnd, newEnd, &self)
  }

  /// Pairs of a position in the new and one in the old sequence, ascending in the new one.
  private static func matches<Element: Hashable>(
    _ old: ArraySlice<Element>, _ new: ArraySlice<Element>
  ) -> [(new: Int, old: Int)] {
    guard !old.isEmpty, !new.isEmpty else { return [] }
    // Chains of equal elements: the head of each chain here, the following elements in `next`.
    var heads: [Element: Int] = Dictionary(minimumCapacity: old.count)
    var next = [Int](repeating: -1, count: old.count)
    for index in old.indices.reversed() {
      next[index - old.startIndex] = heads.updateValue(index, forKey: old[index]) ?? -1
    }
    var matches: [(new: Int, old: Int)] = []
    for index in new.indices {
      guard let match = heads[new[index]], match >= 0 else { continue }
      matches.append((index, match))
      heads[new[index]] = next[match - old.startIndex]
    }
    return matches
  }

  /// The longest part of the matches that ascends in the old sequence too.
  static func ascending(_ matches: [(new: Int, old: Int)]) -> [(new: Int, old: Int)] {
    if zip(matches, matches.dropFirst()).allSatisfy({ $0.old < $1.old }) { return matches }
    // The match that ends the best run of each length, and the one before each match in its run.
    var ends: [Int] = []
    var before = [Int](repeating: -1, count: matches.count)
    for (index, match) in matches.enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if matches[ends[middle]].old < match.old { low = middle + 1 } else { high = middle }
      }
      if low > 0 { before[index] = ends[low - 1] }
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var run: [(new: Int, old: Int)] = []
    var last = ends.last ?? -1
    while last >= 0 {
      run.append(matches[last])
      last = before[last]
    }
    return run.reversed()
  }
}
