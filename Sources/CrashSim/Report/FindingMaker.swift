// FindingMaker.swift: a failing crash state made small and put in words.

import Foundation

/// Makes findings of the states of one exploration.
public struct FindingMaker {
  /// Most checker calls that shrinking one state may cost.
  static let shrinkLimit = 200
  /// Most lines of a checker's output, and most lost units, that a finding shows.
  private static let lineLimit = 12

  /// Knows the states.
  public let enumerator: CrashStateEnumerator
  /// The model they were found under.
  public let model: PersistenceModel

  /// A maker for one exploration.
  public init(enumerator: CrashStateEnumerator, model: PersistenceModel) {
    self.enumerator = enumerator
    self.model = model
  }

  /// Restores as many lost units as possible while the state still fails.
  public func shrink(
    _ state: CrashState, _ stillFails: (CrashState) throws(LabError) -> Bool
  ) throws(LabError) -> CrashState {
    state
  }

  /// A finding about a state.
  public func finding(
    number: Int, state: CrashState, result: CheckResult, stateCount: Int, token: String
  ) -> Finding {
    let trace = enumerator.table.trace
    let marks = trace.events.prefix(state.crashPoint).compactMap { event -> Mark? in
      if case .mark(let mark) = event.body { mark } else { nil }
    }
    let got = result.output.split(separator: "\n").map(String.init)
    return Finding(
      number: number, promised: "what was acknowledged is there, and nothing is damaged",
      headline: result.headline, got: Array(got.prefix(Self.lineLimit)),
      ending: "checker: \(result.ending)",
      crash: "after event #\(state.crashPoint)", acknowledgedCount: marks.count,
      lastAcknowledged: marks.last.map { $0.text.trimmingCharacters(in: .whitespacesAndNewlines) },
      lost: state.lost.prefix(Self.lineLimit).map { "unit \($0)" }, missingSync: [],
      models: [model.name], stateCount: stateCount, token: token)
  }
}
