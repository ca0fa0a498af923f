// ExplorationCoverage.swift: what a verdict rests on: over how much of a recording the judged
// states are spread.

import CrashStates
import LabCore

/// Over how many of the crash points that have states of their own the judged states are spread.
public struct ExplorationCoverage: Codable, Sendable, Hashable {
  /// Crash points that have states of their own.
  public let crashPointCount: Int
  /// Those of them of which a state was judged.
  public let seenCount: Int
  /// Those of them right behind a mark.
  public let markCount: Int
  /// Those right behind a mark of which a state was judged.
  public let seenMarkCount: Int

  /// In reports: what a person has to know of a thin exploration.
  public internal(set) var caution: String?

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

  /// At how many crash points states were judged.
  /// - Parameter named: Whether the number has to say what it counts.
  /// - Returns: For example `3 of 12 crash points (9 have states of their own; …)`.
  package func crashPointText(named: Bool) -> String {
    let all =
      named
      ? Formatting.counted(crashPointCount, "crash point") : Formatting.grouped(crashPointCount)
    guard let coverage, !coverage.isWhole else { return all }
    return "\(Formatting.grouped(coverage.seenCount)) of \(all) "
      + "(\(Formatting.grouped(coverage.crashPointCount)) have states of their own; after marks "
      + "\(Formatting.grouped(coverage.seenMarkCount)) of "
      + "\(Formatting.grouped(coverage.markCount)))"
  }

  /// Says of a thin exploration how little was looked at, and what would look at the rest; nil of
  /// others.
  package var caution: String? {
    guard let coverage, coverage.isThin else { return nil }
    let unseen = coverage.crashPointCount - coverage.seenCount
    let remedy = budgetOfEachCrashPoint.map {
      "; --budget \($0) looks at each of them at least once"
        + (isOutOfTime == true ? " if there is time" : "")
    }
    return "little was looked at: no state of \(Formatting.grouped(unseen)) of "
      + Formatting.counted(coverage.crashPointCount, "crash point") + (remedy ?? "")
  }
}

extension RunReport {
  /// The caution about an exploration of a case; nil when there is none, or none yet: of a shard it
  /// is not known what the others look at, and a planted bug is found or not.
  package func caution(about exploration: ExplorationReport, of item: CaseReport) -> String? {
    shard != nil || item.isNegative ? nil : exploration.caution
  }

  /// Writes all fields, and for each exploration what its verdict rests on.
  package func encode(to encoder: any Encoder) throws {
    var written = cases
    for place in written.indices {
      for number in written[place].explorations.indices {
        let exploration = written[place].explorations[number]
        var basis = exploration.coverage
        basis?.caution = caution(about: exploration, of: written[place])
        written[place].explorations[number].basis = basis
      }
    }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(formatVersion, forKey: .formatVersion)
    try container.encodeIfPresent(version, forKey: .version)
    try container.encode(seed, forKey: .seed)
    try container.encode(isInterrupted, forKey: .isInterrupted)
    try container.encodeIfPresent(shard, forKey: .shard)
    try container.encodeIfPresent(options, forKey: .options)
    try container.encode(written, forKey: .cases)
  }
}
