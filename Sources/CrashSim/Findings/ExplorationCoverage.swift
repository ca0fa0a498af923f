// ExplorationCoverage.swift: the basis of a verdict: how much of a recording the judged states
// cover.

import CrashStates
import LabCore

/// How many of the crash points with states of their own are covered by judged states.
public struct ExplorationCoverage: Codable, Sendable, Hashable {
  /// Crash points that have states of their own.
  public let crashPointCount: Int
  /// Number of those with a judged state.
  public let seenCount: Int
  /// Number of those directly after a mark.
  public let markCount: Int
  /// Number of those directly after a mark with a judged state.
  public let seenMarkCount: Int

  /// In reports: a warning about an exploration with low coverage.
  public internal(set) var caution: String?

  /// True when a state of each was judged.
  public var isWhole: Bool { seenCount == crashPointCount }
  /// True when most crash points were not covered, so that "held" means little.
  public var isThin: Bool { seenCount * 2 < crashPointCount }
}

extension ExplorationReport {
  /// The coverage of the verdict; nil if not counted, or if nothing was recorded.
  public var coverage: ExplorationCoverage? {
    guard let crashPoints, !crashPoints.isEmpty, crashPoints.allSatisfy({ $0.checked != nil })
    else { return nil }
    let marks = crashPoints.filter { $0.followsMark == true }
    let isSeen = { (count: CrashPointCount) in (count.checked ?? 0) > 0 }
    return ExplorationCoverage(
      crashPointCount: crashPoints.count, seenCount: crashPoints.count(where: isSeen),
      markCount: marks.count, seenMarkCount: marks.count(where: isSeen))
  }

  /// The number of crash points with judged states.
  /// - Parameter named: Whether the text must say what the number counts.
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

  /// For an exploration with low coverage, how little was covered, and how to cover the rest; nil
  /// for others.
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
  /// The warning about an exploration of a case; nil when there is none, or none yet: for a shard
  /// the coverage of the other shards is unknown, and a planted bug is either found or not.
  package func caution(about exploration: ExplorationReport, of item: CaseReport) -> String? {
    shard != nil || item.isNegative ? nil : exploration.caution
  }

  /// Encodes all fields, and for each exploration its coverage.
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
