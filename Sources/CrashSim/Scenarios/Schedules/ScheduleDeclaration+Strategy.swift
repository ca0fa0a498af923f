// ScheduleDeclaration+Strategy.swift: the strategy that a scenario's declaration asks for.

import LabCore
import Workload

extension ScheduleDeclaration {
  /// The script's lines as they were read; the parser has proven that they can be.
  var lines: [ScriptLine] { script.compactMap { ScriptLine($0) } }

  /// The strategy itself.
  /// - Parameters:
  ///   - seed: What its choices follow from.
  ///   - actors: The actors of the steps.
  ///   - decisions: How many decisions a run takes, as far as that is known.
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
