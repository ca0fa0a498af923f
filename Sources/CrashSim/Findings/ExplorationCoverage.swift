// ExplorationCoverage.swift: what a verdict rests on: over how much of a recording the judged
// states are spread.

import CrashStates
import LabCore

/// Over how many of the crash points that have states of their own the judged states are spread.
public struct ExplorationCoverage: Sendable, Hashable {
  /// Crash points that have states of their own.
  public let crashPointCount: Int
  /// Those of them of which a state was judged.
  public let seenCount: Int
  /// Those of them right behind a mark.
  public let markCount: Int
  /// Those right behind a mark of which a state was judged.
  public let seenMarkCount: Int

  /// True when a state of each was judged.
  public var isWhole: Bool { seenCount == crashPointCount }
  /// True when most crash points were not looked at, so that "held" says little.
  public var isThin: Bool { seenCount * 2 < crashPointCount }
}

extension ExplorationReport {
  /// What the verdict rests on; nil where it was not counted, or nothing was recorded.
  public var coverage: ExplorationCoverage? {
    guard let crashPoints, !crashPoints.isEmpty, crashPoints.allSatisfy({ $0.checked != nil })
    else { return nil }
    let marks = crashPoints.filter { $0.followsMark == true }
    let isSeen = { (count: CrashPointCount) in (count.checked ?? 0) > 0 }
    return ExplorationCoverage(
      crashPointCount: crashPoints.count, seenCount: crashPoints.count(where: isSeen),
      markCount: marks.count, seenMarkCount: marks.count(where: isSeen))
  }

  /// Says of a thin exploration how little was looked at, and what would look at the rest; nil of
  /// others.
  package var caution: String? {
    guard let coverage, coverage.isThin else { return nil }
    let unseen = coverage.crashPointCount - coverage.seenCount
    let remedy = budgetOfEachCrashPoint.map {
      "; --budget \($0) looks at each of them at least once"
        + (isOutOfTime == true ? ", given the time" : "")
    }
    return "little was looked at: no state of \(Formatting.grouped(unseen)) of "
      + Formatting.counted(coverage.crashPointCount, "crash point") + (remedy ?? "")
  }
}
