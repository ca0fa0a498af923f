// ScheduleJob.swift: a search for failing schedules as it goes to a process of its own, and what
// that process says. Outcomes do not travel: schedules do, and the parent runs them again.

import FaultFS
import Findings
import LabCore
import Workload

/// What a search is to do.
struct ScheduleJob: Codable, Sendable {
  /// What the actors do.
  var plan: WorkloadPlan
  var rules: [FaultRule]
  var declaration: ScheduleDeclaration
  var seed: UInt64
  var runsMax: Int
  /// Recordings that are wanted for crashes.
  var recordingsMax: Int
  /// Seconds without a decision after which the lab gives up.
  var silenceSeconds: Int
  /// Where the search has its mount, an existing folder; nil when the plan needs none.
  var mountPoint: String?
  /// The text of a schedule to run, in place of a search.
  var schedule: String?
  /// For tests of the lab only: the number of a run, from 1, in which the process traps.
  var plantedTrapRun: Int?

  /// The runs of the plan, on a mount if it needs one.
  func scheduled(on mount: FaultFSClient? = nil) -> ScheduledPlan {
    var limits = ScheduleLimits()
    limits.silenceSeconds = silenceSeconds
    return ScheduledPlan(
      plan, rules: rules, limits: limits, points: declaration.points,
      on: mountPoint == nil ? nil : mount)
  }
}

/// What a search found.
struct SearchedSchedules: Codable, Sendable {
  struct Failure: Codable, Sendable {
    /// The schedule as text.
    let schedule: String
    /// Whether every schedule with fewer preemptions was tried.
    let isMinimal: Bool
  }

  var counts = ScheduleCounts()
  /// How often each fault rule hit in all runs.
  var hitCounts: [Int]
  /// The first schedule that failed, as small as it can be made.
  var failure: Failure?
  /// Schedules of the first recordings that differ from each other, as text.
  var recordings: [String] = []
  var seconds = 0.0
  var isInterrupted = false

  /// A search that has not begun.
  init(ruleCount: Int) { hitCounts = [Int](repeating: 0, count: ruleCount) }

  /// What can be said of an exploration by schedules alone.
  init(_ explored: ExploredSchedules) {
    counts = explored.counts
    hitCounts = explored.hitCounts
    failure = explored.failure.map {
      Failure(schedule: $0.record.schedule.text, isMinimal: $0.isMinimal)
    }
    recordings = explored.recordings.map(\.record.schedule.text)
    seconds = explored.seconds
    isInterrupted = explored.isInterrupted
  }
}

/// What the process of a search says, line by line.
enum ScheduleLine: Codable, Sendable {
  /// So many schedules have been run.
  case runs(Int)
  /// The search is over.
  case searched(SearchedSchedules)
  /// The one schedule that was asked for was run.
  case ran
  /// The lab failed.
  case failed(LabError.Code, String)
}
