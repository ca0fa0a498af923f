// ScheduleShrinker.swift: shrinks a failing schedule to as few preemptions as possible. First,
// turns of one actor are merged while the run still fails in the same way; then every schedule with
// fewer preemptions is tried, the fewest first, within the budget.

import LabCore

/// The result of shrinking.
struct ShrunkSchedule<Outcome> {
  var record: ScheduleRecord
  var outcome: Outcome
  /// Whether every schedule with fewer preemptions was tried.
  var isMinimal: Bool
  /// Number of runs used.
  var runs: Int
}

/// Shrinks failing schedules.
struct ScheduleShrinker<Outcome> {
  /// One run under a chooser.
  let attempt: (any ScheduleChooser) throws(LabError) -> (ScheduleRecord, Outcome)
  /// Whether a run fails in the wanted way.
  let fails: (ScheduleRecord, Outcome) -> Bool
  var mergesMax = 200
  var searchesMax = 4_000

  /// Shrinks a run that fails.
  func shrink(
    _ record: ScheduleRecord, _ outcome: Outcome
  ) throws(LabError) -> ShrunkSchedule<Outcome> {
    var best = ShrunkSchedule(record: record, outcome: outcome, isMinimal: false, runs: 0)
    try merge(&best)
    try search(&best)
    return best
  }

  /// Removes preemptions one at a time.
  private func merge(_ best: inout ShrunkSchedule<Outcome>) throws(LabError) {
    var index = 0
    while best.runs < mergesMax {
      let turns = best.record.schedule.turns
      guard index < turns.count else { return }
      guard let candidate = Self.merged(turns, at: index) else {
        index += 1
        continue
      }
      try Interruption.check()
      let (record, outcome) = try attempt(GuidedChooser(candidate))
      best.runs += 1
      if record.preemptionCount < best.record.preemptionCount, fails(record, outcome) {
        best.record = record
        best.outcome = outcome
        index = 0
      } else {
        index += 1
      }
    }
  }

  /// The turns with the actor's next turn merged into this one.
  private static func merged(_ turns: [ScheduleTurn], at index: Int) -> [ScheduleTurn]? {
    let actor = turns[index].actor
    guard let later = turns[(index + 1)...].firstIndex(where: { $0.actor == actor }) else {
      return nil
    }
    var merged = turns
    let moved = merged.remove(at: later)
    merged[index].count += moved.count
    return merged
  }

  private func search(_ best: inout ShrunkSchedule<Outcome>) throws(LabError) {
    let count = best.record.preemptionCount
    guard count > 0 else {
      best.isMinimal = true
      return
    }
    var strategy = BoundedStrategy(preemptions: count - 1, runsMax: searchesMax)
    while let chooser = strategy.nextRun() {
      try Interruption.check()
      let (record, outcome) = try attempt(chooser)
      best.runs += 1
      if fails(record, outcome) {
        best.record = record
        best.outcome = outcome
        best.isMinimal = true
        return
      }
      strategy.take(record)
    }
    best.isMinimal = strategy.isComplete
  }
}
