// LabTargets.swift: the registry of all fuzz targets: the engine's, and those that need the lab.

import Fuzz
import Scenarios

extension FuzzTarget {
  /// Every target.
  package static let all: [FuzzTarget] =
    FuzzTarget.engine.filter { !$0.isPlanted }
    + [
      LabTarget.target, ScenarioTarget.target, FaultRuleTarget.target, ModelTarget.target,
      TraceTarget.target, ControlTarget.target, TokenTarget.target, HistoryTarget.target,
      ScheduleTarget.target,
    ] + FuzzTarget.engine.filter(\.isPlanted)
}

extension FuzzOutcome {
  /// The outcome of a reading.
  init(_ reading: FuzzReaders.Reading) {
    switch reading {
    case .accepted: self = .accepted
    case .refused: self = .refused
    case .wrong(let text): self = .finding(text)
    }
  }
}

extension FuzzTarget {
  /// A target whose inputs are texts of one language.
  static func texts(
    _ name: String, judges: String, smokeCount: UInt64, words: [String], samples: [String],
    run: @escaping @Sendable ([UInt8]) -> FuzzOutcome
  ) -> FuzzTarget {
    let mutator = TextMutator(words: words) { choices in samples[choices.below(samples.count)] }
    return FuzzTarget(
      name: name, judges: judges, smokeCount: smokeCount,
      seeds: { samples.map { Array($0.utf8) } }, run: run
    ).with {
      $0.mutate = mutator.mutation
      $0.dictionary = words
    }
  }
}
