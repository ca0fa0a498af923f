// FuzzShrink.swift: finds a smaller input with the same effect: parts are removed, large ones
// first, then bytes are simplified.

package enum FuzzShrink {
  /// Most candidates that are tried; each may need a process.
  private static let triesMax = 2000

  /// The smallest input found that still has the wanted effect.
  package static func shrink(_ input: [UInt8], _ isWanted: ([UInt8]) -> Bool) -> [UInt8] {
    var (best, tries) = (input, 0)
    func take(_ candidate: [UInt8]) -> Bool {
      guard tries < triesMax, candidate != best else { return false }
      tries += 1
      guard isWanted(candidate) else { return false }
      best = candidate
      return true
    }
    var part = max(1, best.count / 2)
    while true {
      var (start, isSmaller) = (0, false)
      while start < best.count {
        var candidate = best
        candidate.removeSubrange(start..<min(start + part, best.count))
        if take(candidate) { isSmaller = true } else { start += part }
      }
      if part == 1, !isSmaller { break }
      if !isSmaller { part = max(1, part / 2) }
      if tries >= triesMax { break }
    }
    for index in best.indices where best[index] != 48 {
      var candidate = best
      candidate[index] = 48
      _ = take(candidate)
    }
    return best
  }
}
