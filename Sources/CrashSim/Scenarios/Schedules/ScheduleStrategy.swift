// ScheduleStrategy.swift: a strategy defines the runs, and a chooser for each run selects the next
// actor. Invariant: both depend only on a seed and on earlier decisions.

/// A chooser's decision.
enum ScheduleChoice: Sendable, Hashable {
  /// This actor continues; it must be enabled.
  case actor(Int)
  /// The run is not the one that the chooser was made for; the reason in words.
  case refuse(String)
}

/// Selects the next actor throughout one run.
protocol ScheduleChooser: Sendable {
  /// Selects one of the actors that can continue.
  mutating func choose(_ decision: ScheduleDecision) -> ScheduleChoice
  /// The error in a completed run, if any.
  func complaint() -> String?
}

extension ScheduleChooser {
  func complaint() -> String? { nil }
}

/// Defines the runs.
protocol ScheduleStrategy: Sendable {
  /// The next run's chooser; nil when there are no more runs.
  mutating func nextRun() -> (any ScheduleChooser)?
  /// Uses the record of the last run.
  mutating func take(_ record: ScheduleRecord)
  /// Whether every run of the strategy's kind was made.
  var isComplete: Bool { get }
}

extension ScheduleStrategy {
  mutating func take(_ record: ScheduleRecord) {}
  var isComplete: Bool { false }
}

/// Continues with the running actor; the reference for counting preemptions.
struct UsualChooser: ScheduleChooser {
  mutating func choose(_ decision: ScheduleDecision) -> ScheduleChoice { .actor(decision.usual) }
}
