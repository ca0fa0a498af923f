// StressRun+Thinning.swift: reduces the options of a failed life: each is left out in turn, the
// life is repeated with the same seed, and the option stays out if it still fails.
// Processes and threads have another schedule each time, so a life gets some rounds more than it
// took; if it does not fail within them, it might still fail, and the option is kept. The work is
// bounded in rounds.

import Findings
import LabCore

extension StressRun {
  /// The result of thinning.
  struct Thinned {
    var options: StressLifeOptions
    var dropped: [String] = []
    var rounds = 0
  }

  /// Most rounds of all tries together.
  static let thinningRoundsMax = 80

  /// The fewest options with which a life still fails in the same way.
  /// - Parameters:
  ///   - options: The options with which it failed.
  ///   - life: The failed life.
  ///   - result: The failure.
  /// - Returns: Options that failed in the last try with them.
  /// - Throws: `LabError` when Faultline fails or is asked to stop.
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
      // A reduction is tried only once, whatever its result.
      refused.insert(next.name)
      guard thinned.rounds + rounds <= Self.thinningRoundsMax else { break }
      if try fails(next.options, life, like: result, rounds: rounds, &thinned.rounds) {
        thinned.options = next.options
        thinned.dropped.append(next.name)
      }
    }
    return thinned
  }

  /// Runs a life with other options.
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

  /// The oracle that failed, or otherwise the start of the headline.
  private static func kind(of result: CheckResult) -> String {
    result.headline.split(separator: ":").first.map(String.init) ?? ""
  }
}
