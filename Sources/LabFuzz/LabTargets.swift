// LabTargets.swift: Faultline's own fuzz targets, and the registry of all targets.

import DocumentQueryFuzz
import DocumentStoreFuzz
import EngineFuzz
import FleeceFuzz
import Fuzz
import QueryFuzz
import Scenarios
import SyncFuzz

extension FuzzTarget {
  /// Faultline's own targets.
  package static let ofLab = [
    LabTarget.target, ScenarioTarget.target, FaultRuleTarget.target, ModelTarget.target,
    TraceTarget.target, ControlTarget.target, TokenTarget.target, HistoryTarget.target,
    ScheduleTarget.target,
  ]

  /// The targets that are built only with Faultline's: fuzzers of the engine should not depend on
  /// SQLite, which the document store uses.
  package static let withLab = ofLab + ofDocumentStore + ofDocumentQueries

  /// Every target, those with a planted bug last.
  package static let all = ofEngine + ofQueries + ofFleece + ofSync + withLab + planted
}

extension FuzzOutcome {
  /// The outcome of a parser.
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
