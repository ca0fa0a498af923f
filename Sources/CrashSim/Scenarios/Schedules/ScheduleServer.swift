// ScheduleServer.swift: the process that searches schedules. If it dies under one, the journal has
// that schedule.

import CSystem
import FaultFS
import LabCore

/// The child's side of a search.
package struct ScheduleServer: ChildProgram {
  package static let name = "search-schedules"
  package static let parameters = ["JOB", "JOURNAL"]
  package static let mounts = true
  /// The file of the job.
  let job: String
  /// The file for the choices of the current run.
  let journal: String

  package var arguments: [String] { [job, journal] }

  init(job: String, journal: String) {
    self.job = job
    self.journal = journal
  }

  package init(_ arguments: inout ChildArguments) {
    job = arguments.text()
    journal = arguments.text()
  }

  /// Runs the job, and writes the results to standard output.
  /// - Throws: `LabError` when the results cannot be written.
  package func run() throws(LabError) -> Int32 {
    let channel = LineChannel(input: 0, output: 1)
    let line: ScheduleLine
    do throws(LabError) {
      let journal = try ScheduleJournal(path: journal)
      line = try Self.result(of: try JobFile.read(job), journal) { count in
        // A parent that does not read this will not read the results either.
        try? channel.write(JSONLine.encode(ScheduleLine.runs(count)))
      }
    } catch {
      line = .failed(error.code, error.message)
    }
    try channel.write(try JSONLine.encode(line))
    return ExitCode.held.rawValue
  }

  private static func result(
    of job: ScheduleJob, _ journal: ScheduleJournal, progress: @escaping (Int) -> Void
  ) throws(LabError) -> ScheduleLine {
    let mount = try job.mountPoint.map { (path) throws(LabError) in
      try FaultFSClient(mountPoint: path, cpu: csystem_first_allowed_cpu())
    }
    let scheduled = try job.program(on: mount)
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
