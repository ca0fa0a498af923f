// ScheduleDeclaration+Strategy.swift: the strategy that a scenario's declaration selects.

import LabCore
import Workload

extension ScheduleDeclaration {
  /// The script's lines, which the parser has validated.
  var lines: [ScriptLine] { script.compactMap { ScriptLine($0) } }

  /// The strategy itself.
  /// - Parameters:
  ///   - seed: Seed of its choices.
  ///   - actors: The actors of the steps.
  ///   - decisions: Number of decisions in a run, if known.
  ///   - runs: Most runs.
  /// - Returns: The strategy, at its first run.
  func makeStrategy(
    seed: Seed, actors: [String], decisions: Int, runs: Int
  ) -> any ScheduleStrategy {
    switch strategy {
    case .scripted: ScriptedStrategy(lines, actors: actors)
    case .random: RandomStrategy(seed: seed, runsMax: runs)
    case .pct:
      PCTStrategy(
        seed: seed, actorCount: actors.count, depth: depth, runsMax: runs, decisions: decisions)
    case .exhaustive: BoundedStrategy(preemptions: preemptions, runsMax: runs)
    }
  }
}
