// ScheduleStrategy.swift: what a strategy is: it says which runs there are, and a chooser of each
// run says who goes on. Invariant: both decide from a seed and from what runs did, and from nothing
// else.

/// What a chooser says.
enum ScheduleChoice: Sendable, Hashable {
  /// This actor goes on; it has to be an enabled one.
  case actor(Int)
  /// The run is not the one that the chooser was made for; why, in words.
  case refuse(String)
}

/// Says who goes on, through one run.
protocol ScheduleChooser: Sendable {
  /// Chooses among those who could go on.
  mutating func choose(_ decision: ScheduleDecision) -> ScheduleChoice
  /// What is wrong with a run that has ended, if anything is.
  func complaint() -> String?
}

extension ScheduleChooser {
  func complaint() -> String? { nil }
}

/// Says which runs there are.
protocol ScheduleStrategy: Sendable {
  /// The next run's chooser; nil when there are no more runs.
  mutating func nextRun() -> (any ScheduleChooser)?
  /// Takes in what the run did.
  mutating func take(_ record: ScheduleRecord)
  /// Whether every run of the strategy's kind was made, none left out.
  var isComplete: Bool { get }
}

extension ScheduleStrategy {
  mutating func take(_ record: ScheduleRecord) {}
  var isComplete: Bool { false }
}

/// Goes on with whoever runs; the base that preemptions are counted from.
struct UsualChooser: ScheduleChooser {
  mutating func choose(_ decision: ScheduleDecision) -> ScheduleChoice { .actor(decision.usual) }
}
