// ExhaustiveStrategy.swift: every down-closed set, where there are few pending units.

import LabCore

struct ExhaustiveStrategy: CandidateStrategy {
  let name = Strategy.exhaustive

  func propose(_ context: StrategyContext, _ emit: Proposal) throws(LabError) {
    let window = context.window
    guard window.count <= context.options.exhaustiveUpTo else { return }
    try extend(KeptSet(count: window.count), from: 0, window, emit)
  }

  /// Iterates over the choices for the places from `place` on.
  ///
  /// The depth is the number of units, which is small. Sets with the same start are consecutive.
  private func extend(
    _ kept: KeptSet, from place: Int, _ window: PendingWindow, _ emit: Proposal
  ) throws(LabError) {
    guard place < window.count else { return try emit(kept, nil) }
    try extend(kept, from: place + 1, window, emit)
    guard window.dependencies[place].allSatisfy({ kept.contains($0) }) else { return }
    var more = kept
    more.insert(place)
    try extend(more, from: place + 1, window, emit)
  }
}
