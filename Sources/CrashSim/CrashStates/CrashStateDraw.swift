// CrashStateDraw.swift: one crash state of one crash point, drawn from a seed.
// A strategy is drawn first, then one of its proposals: a state that loses everything is as likely
// as one that keeps some of many units, however many such states there are.

import LabCore

extension CrashStateEnumerator {
  /// The state of the last crash point that loses nothing.
  package func lastState() -> CrashState {
    let last = table.crashPointCount - 1
    return CrashState(
      crashPoint: last, acknowledgedMarks: table.acknowledgedMarks(at: last),
      kept: table.pendingUnits(at: last), lost: [], torn: nil)
  }

  /// Draws a state of the last crash point, at which the power fails when the trace ends.
  /// - Parameter seed: Seed of the choice.
  /// - Returns: A state that the model allows.
  /// - Throws: `LabError` of a strategy.
  /// - Complexity: O(units of the trace + proposals of the crash point).
  package func drawFinalState(_ seed: Seed) throws(LabError) -> CrashState {
    var window = PendingWindow(table: table)
    while window.crashPoint < table.trace.events.count { window.advance() }
    let context = StrategyContext(
      window: window, options: options, seed: self.seed.derived("strategies"))
    var random = PRNG(seed)
    var strategies = allStrategies
    while !strategies.isEmpty {
      let strategy = strategies.remove(at: random.below(strategies.count))
      var proposals: [(kept: KeptSet, torn: TornWrite?)] = []
      try strategy.propose(context) { (kept, torn) throws(LabError) in
        proposals.append((kept, torn))
      }
      if proposals.isEmpty { continue }
      let (kept, torn) = proposals[random.below(proposals.count)]
      let keptIDs = kept.members(of: window.ids)
      let known = Set(keptIDs)
      return CrashState(
        crashPoint: window.crashPoint,
        acknowledgedMarks: table.acknowledgedMarks(at: window.crashPoint), kept: keptIDs,
        lost: window.ids.filter { !known.contains($0) && $0 != torn?.unit }, torn: torn)
    }
    throw .lab("no strategy proposed a state of crash point \(window.crashPoint)")
  }
}
