// ReplayStrategy.swift: one run that follows a schedule: exactly, or as far as the program allows.

/// Replays a schedule once, and rejects a program that behaves differently.
struct ReplayStrategy: ScheduleStrategy {
  private let schedule: Schedule
  private var isDone = false

  init(_ schedule: Schedule) { self.schedule = schedule }

  mutating func nextRun() -> (any ScheduleChooser)? {
    guard !isDone else { return nil }
    isDone = true
    return ReplayChooser(schedule)
  }
}

/// Follows a schedule exactly.
struct ReplayChooser: ScheduleChooser {
  private let schedule: Schedule
  private var turn = 0
  private var taken = 0

  init(_ schedule: Schedule) { self.schedule = schedule }

  mutating func choose(_ decision: ScheduleDecision) -> ScheduleChoice {
    if turn < schedule.turns.count, taken == schedule.turns[turn].count {
      turn += 1
      taken = 0
    }
    guard turn < schedule.turns.count else {
      return .refuse("the schedule ends at decision \(decision.step), and the run continues")
    }
    taken += 1
    let actor = schedule.turns[turn].actor
    guard decision.enabled.contains(actor) else {
      return .refuse(
        "decision \(decision.step) is for '\(schedule.actors[actor])', which cannot continue there")
    }
    return .actor(actor)
  }

  func complaint() -> String? {
    let isOver = turn == schedule.turns.count - 1 && taken == schedule.turns[turn].count
    return isOver || schedule.turns.isEmpty
      ? nil : "the run ended, and the schedule continues at its turn \(turn + 1)"
  }
}

/// Follows turns where possible, and skips those of actors that cannot continue.
struct GuidedChooser: ScheduleChooser {
  private let turns: [ScheduleTurn]
  private var turn = 0
  private var taken = 0

  init(_ turns: [ScheduleTurn]) { self.turns = turns }

  mutating func choose(_ decision: ScheduleDecision) -> ScheduleChoice {
    while turn < turns.count {
      if taken < turns[turn].count, decision.enabled.contains(turns[turn].actor) {
        taken += 1
        return .actor(turns[turn].actor)
      }
      turn += 1
      taken = 0
    }
    return .actor(decision.usual)
  }
}
