// StressRun+Thinning.swift: a life that failed with fewer options: each is left out in turn, the
// life is played again with the same seed, and what still fails is kept.
// Processes and threads have another schedule each time, so a life is given some rounds more than
// it took; what does not fail within them may fail all the same, and is not left out. The work is
// bounded in rounds.

import Findings
import LabCore

extension StressRun {
  /// What thinning came to.
  struct Thinned {
    var options: StressLifeOptions
    var dropped: [String] = []
    var rounds = 0
  }

  /// Rounds of all tries together.
  static let thinningRoundsMax = 80

  /// The fewest options with which a life still fails alike.
  /// - Parameters:
  ///   - options: Those with which it failed.
  ///   - life: The life that failed.
  ///   - result: How.
  /// - Returns: Options that failed in the last try that was made with them.
  /// - Throws: `LabError` when the lab fails or is asked to stop.
  func thin(
    _ options: StressLifeOptions, _ life: Life, _ result: CheckResult
  ) throws(LabError) -> Thinned {
    var thinned = Thinned(options: options)
    let rounds = min(life.stops.count + 2, 8)
    var refused: Set<String> = []
    while let next = thinned.options.smaller.first(where: {
      !refused.contains($0.name)
        && $0.options.text(ofScenario: settings.isScenario)
          != thinned.options.text(ofScenario: settings.isScenario)
    }) {
      // A step that was tried counts once, whatever came of it.
      refused.insert(next.name)
      guard thinned.rounds + rounds <= Self.thinningRoundsMax else { break }
      if try fails(next.options, life, like: result, rounds: rounds, &thinned.rounds) {
        thinned.options = next.options
        thinned.dropped.append(next.name)
      }
    }
    return thinned
  }

  /// Plays a life with other options.
  private func fails(
    _ options: StressLifeOptions, _ failed: Life, like result: CheckResult, rounds: Int,
    _ count: inout Int
  ) throws(LabError) -> Bool {
    try emptyState()
    var life = Life(
      firstRound: failed.firstRound, tree: setupTree,
      settings: try options.applied(to: failed.settings))
    life.settings.reportDirectory = nil
    for number in life.firstRound..<life.firstRound + rounds {
      let record = try makeRound(number, of: life).play(on: life.tree)
      life.stops.append(record.stops)
      life.adapt(to: record)
      count += 1
      let judged = try judge(record, number, life)
      if judged.limit != nil { return false }
      if let failure = judged.failure { return Self.kind(of: failure) == Self.kind(of: result) }
      life.tree = judged.tree
      life.acknowledged = judged.acknowledged
    }
    return false
  }

  /// The oracle that failed, or what else the headline begins with.
  private static func kind(of result: CheckResult) -> String {
    result.headline.split(separator: ":").first.map(String.init) ?? ""
  }
}
