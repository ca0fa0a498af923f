// ScheduleJob.swift: the job of a process that searches failing schedules, and its output. Only
// schedules are passed, not outcomes: the parent runs them again.

import FaultFS
import Findings
import LabCore
import Workload

/// The job of a search.
struct ScheduleJob: Codable, Sendable {
  /// The actors' commands.
  var plan: WorkloadPlan
  var rules: [FaultRule]
  var declaration: ScheduleDeclaration
  var seed: UInt64
  var runsMax: Int
  /// Number of recordings required for crashes.
  var recordingsMax: Int
  /// Seconds without a decision after which Faultline gives up.
  var silenceSeconds: Int
  /// The search's mount point, an existing folder; nil when the plan needs none.
  var mountPoint: String?
  /// The scenario on documents whose actors are run in the place of the plan's.
  var documents: String?
  /// The folder for their files.
  var directory: String?
  /// The text of a schedule to run instead of searching.
  var schedule: String?
  /// For tests of Faultline only: the number of a run, from 1, in which the process traps.
  var plantedTrapRun: Int?

  /// When a run is given up.
  private var limits: ScheduleLimits {
    var limits = ScheduleLimits()
    limits.silenceSeconds = silenceSeconds
    return limits
  }

  /// What is run: the plan's actors, or those of a scenario on documents.
  /// - Throws: `LabError` when the steps before the documents' actors fail.
  func program(on mount: FaultFSClient? = nil) throws(LabError) -> any ScheduledProgram {
    guard let documents, let directory else { return scheduled(on: mount) }
    return try DocumentScheduledPlan(
      try DocumentProgram.load(documents).plan, points: declaration.points, limits: limits,
      in: directory)
  }

  /// The runs of the plan, on a mount if it needs one.
  func scheduled(on mount: FaultFSClient? = nil) -> ScheduledPlan {
    ScheduledPlan(
      plan, rules: rules, limits: limits, points: declaration.points,
      on: mountPoint == nil ? nil : mount)
  }
}

/// The results of a search.
struct SearchedSchedules: Codable, Sendable {
  struct Failure: Codable, Sendable {
    /// The schedule as text.
    let schedule: String
    /// Whether every schedule with fewer preemptions was tried.
    let isMinimal: Bool
  }

  var counts = ScheduleCounts()
  /// Number of hits of each fault rule in all runs.
  var hitCounts: [Int]
  /// The first schedule that failed, shrunk.
  var failure: Failure?
  /// Schedules of the first distinct recordings, as text.
  var recordings: [String] = []
  var seconds = 0.0
  var isInterrupted = false

  /// A search that has not started.
  init(ruleCount: Int) { hitCounts = [Int](repeating: 0, count: ruleCount) }

  /// The part of an exploration's results that schedules can represent.
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

/// A line of the search process's output.
enum ScheduleLine: Codable, Sendable {
  /// This many schedules have been run.
  case runs(Int)
  /// The search has ended.
  case searched(SearchedSchedules)
  /// The requested schedule was run.
  case ran
  /// Faultline failed.
  case failed(LabError.Code, String)
}
