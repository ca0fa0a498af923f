// ScheduleServer.swift: the process in which schedules are searched. It may die under one: the
// journal says under which.

import CSystem
import FaultFS
import LabCore

/// The child's side of a search.
package enum ScheduleServer {
  /// Does one job, and says what came of it on standard output.
  /// - Parameters:
  ///   - path: The job.
  ///   - journalPath: Where the choices of the run that goes on are written.
  /// - Throws: `LabError` when nobody can be told.
  package static func run(job path: String, journal journalPath: String) throws(LabError) {
    let channel = LineChannel(input: 0, output: 1)
    let line: ScheduleLine
    do throws(LabError) {
      let journal = try ScheduleJournal(path: journalPath)
      line = try result(of: try JobFile.read(path), journal) { count in
        // Whoever does not read this will not read the end either.
        try? channel.write(JSONLine.encode(ScheduleLine.runs(count)))
      }
    } catch {
      line = .failed(error.code, error.message)
    }
    try channel.write(try JSONLine.encode(line))
  }

  private static func result(
    of job: ScheduleJob, _ journal: ScheduleJournal, progress: @escaping (Int) -> Void
  ) throws(LabError) -> ScheduleLine {
    let mount = try job.mountPoint.map { (path) throws(LabError) in
      try FaultFSClient(mountPoint: path, cpu: csystem_first_allowed_cpu())
    }
    let scheduled = job.scheduled(on: mount)
    var runCount = 0
    let run = { (chooser: any ScheduleChooser) throws(LabError) -> ScheduledOutcome in
      runCount += 1
      let outcome = try scheduled.run(JournaledChooser(chooser, in: journal))
      precondition(runCount != job.plantedTrapRun, "planted: the engine traps in this run")
      if runCount % progressEvery == 0 { progress(runCount) }
      return outcome
    }
    if let text = job.schedule {
      _ = try run(ReplayChooser(try Schedule.parse(text)))
      return .ran
    }
    let explorer = ScheduleExplorer(
      run: run, actors: scheduled.actors, ruleCount: job.rules.count,
      declaration: job.declaration, seed: Seed(rawValue: job.seed), runsMax: job.runsMax,
      recordingsMax: job.recordingsMax)
    return .searched(SearchedSchedules(try explorer.explore()))
  }

  private static let progressEvery = 64
}
