// RandomStrategy.swift: at each decision, selects any actor that can continue, with equal chance.

import LabCore

/// Draws each choice.
struct RandomStrategy: ScheduleStrategy {
  private let seed: Seed
  private let runsMax: Int
  private var runs = 0

  init(seed: Seed, runsMax: Int) {
    self.seed = seed
    self.runsMax = runsMax
  }

  mutating func nextRun() -> (any ScheduleChooser)? {
    guard runs < runsMax else { return nil }
    defer { runs += 1 }
    return Chooser(generator: PRNG(seed.derived(UInt64(runs))))
  }

  private struct Chooser: ScheduleChooser {
    var generator: PRNG

    mutating func choose(_ decision: ScheduleDecision) -> ScheduleChoice {
      let enabled = decision.enabled
      guard enabled.count > 1 else { return .actor(enabled.first) }
      return .actor(enabled.members[generator.below(enabled.count)])
    }
  }
}
