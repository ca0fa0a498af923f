// ScheduleSearch.swift: searches failing schedules in a separate process, so that an engine that
// traps under a schedule is a finding, and does not end Faultline.
// Invariant: the results of the search are run again in this process, and must be the same.

import Findings
import Foundation
import LabCore

/// A schedule that ended its process.
struct FatalSchedule: Sendable {
  /// The schedule, up to the decision after which the process ended.
  let schedule: Schedule
  let ending: ProcessEnding
  /// What the process wrote to standard error, at most some kilobytes.
  let errorText: String

  /// Its verdict.
  var result: CheckResult {
    let reason = errorText.split(separator: "\n").first
    let violation = Violation(
      .structure, promised: "no order of the actors makes the process trap",
      got: "the engine did not survive the schedule: \(ending)"
        + (reason.map { " (\($0))" } ?? ""))
    return CheckResult([violation])
  }
}

/// Searches, or runs one schedule, in a separate process.
struct ScheduleSearch {
  /// The result.
  enum Answer {
    case searched(SearchedSchedules)
    /// The process ended during a schedule.
    case fatal(FatalSchedule)
    /// The requested schedule was run.
    case ran
  }

  let job: ScheduleJob
  let actors: [String]
  /// The directory of the job's files.
  let directory: String
  /// Called with the number of schedules run so far.
  var progress: (Int) -> Void = { _ in }

  /// Starts the process and waits for its end.
  /// - Throws: `LabError` when the search failed, with its code.
  func run() throws(LabError) -> Answer {
    let jobPath = "\(directory)/schedules.job"
    let journalPath = "\(directory)/schedules.journal"
    try JobFile.write(job, to: jobPath)
    let child = try LineProcess(
      ScheduleServer(job: jobPath, journal: journalPath),
      errorPath: "\(directory)/schedules.errors")
    defer { child.end() }
    var searched = SearchedSchedules(ruleCount: job.rules.count)
    let start = ContinuousClock.now
    do throws(LabError) {
      while true {
        switch try child.poll(seconds: 60) {
        case nil: continue
        case .ended(let ending)?:
          return .fatal(
            FatalSchedule(
              schedule: ScheduleJournal.read(journalPath, actors: actors), ending: ending,
              errorText: child.errorText))
        case .line(let line)?:
          switch try Self.decoded(line) {
          case .runs(let count):
            searched.counts.runCount = count
            progress(count)
          case .searched(let searched): return .searched(searched)
          case .ran: return .ran
          case .failed(let code, let message): throw LabError(code, message)
          }
        }
      }
    } catch {
      guard error.code == .interrupted, job.schedule == nil else { throw error }
      searched.isInterrupted = true
      searched.counts.actorCount = actors.count
      searched.seconds = start.duration(to: .now).inSeconds
      return .searched(searched)
    }
  }

  private static func decoded(_ line: [UInt8]) throws(LabError) -> ScheduleLine {
    guard let decoded = try? JSONDecoder().decode(ScheduleLine.self, from: Data(line)) else {
      throw .internalError("the search for schedules sent an unreadable line")
    }
    return decoded
  }
}
