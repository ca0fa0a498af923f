// ScenarioRunner+DocumentSchedules.swift: the schedules of actors on documents, searched in a child
// process, and the crash states of some of them, recorded on the mount.

import DocumentLab
import Exploration
import Findings
import LabCore
import Workload

extension ScenarioRunner {
  /// Most schedules whose crash states are explored.
  private static let recordedSchedulesMax = 3

  /// Runs the schedules of a scenario with actors on documents.
  func performDocumentSchedules(
    _ scenario: Scenario, _ item: inout CaseReport
  ) throws(LabError) {
    let declaration = scenario.schedule ?? ScheduleDeclaration()
    var job = try documentScheduleJob(scenario)
    job.runsMax = min(declaration.runs, settings.budget ?? declaration.runs)
    job.recordingsMax = scenario.crash == nil ? 1 : Self.recordedSchedulesMax
    let console = console.about(scenario.file)
    let program = try job.program()
    let search = ScheduleSearch(
      job: job, actors: program.actors, directory: run.path,
      progress: { console.progress("\($0) schedules") })
    var explored: ExploredSchedules
    switch try search.run() {
    case .fatal(let fatal): return report(scenario, declaration, fatal, &item)
    case .searched(let searched): explored = try again(searched, program)
    case .ran: throw .internalError("a search for schedules ran only one")
    }
    var report = report(scenario, declaration, explored)
    if let failure = explored.failure {
      report.findings = [
        finding(scenario, declaration, failure, number: item.findings.count + 1)
      ]
    }
    let place = item.explorations.count
    item.explorations.append(report)
    guard explored.failure == nil, let crash = scenario.crash, let mount = opened.mount else {
      return
    }
    for model in try models(of: crash) {
      for (number, outcome) in explored.recordings.enumerated() {
        try Interruption.check()
        guard let schedule = DocumentSchedule(outcome) else { continue }
        let documents = try DocumentRun(
          self, scenario, mount, under: schedule, sharing: explored.recordings.count)
        let recorded = try documents.record(disturbance: nil)
        item.explorations += try documents.explore(
          recorded.trace, under: model, firstNumber: item.findings.count + 1)
        explored.counts.exploredRecordingCount = max(
          explored.counts.exploredRecordingCount, number + 1)
      }
    }
    item.explorations[place].schedules = explored.counts
  }

  /// Runs a schedule of a token again.
  /// - Returns: What it finds; nil when it holds.
  /// - Throws: `LabError` with code `.nondeterminism` when the run is another one.
  func replayDocumentSchedule(
    _ scenario: Scenario, _ text: String
  ) throws(LabError) -> Finding? {
    let declaration = scenario.schedule ?? ScheduleDeclaration()
    var job = try documentScheduleJob(scenario)
    let program = try job.program()
    job.schedule = text
    let search = ScheduleSearch(job: job, actors: program.actors, directory: run.path)
    if case .fatal(let fatal) = try search.run() {
      return finding(scenario, declaration, fatal, number: 1)
    }
    let outcome = try again(text, program)
    guard !outcome.violations.isEmpty else { return nil }
    return finding(
      scenario, declaration,
      ShrunkSchedule(record: outcome.record, outcome: outcome, isMinimal: false, runs: 0),
      number: 1)
  }

  private func documentScheduleJob(_ scenario: Scenario) throws(LabError) -> ScheduleJob {
    let seed = seed(of: scenario)
    var job = ScheduleJob(
      plan: try WorkloadPlan(scenario, seed: seed), rules: [],
      declaration: scenario.schedule ?? ScheduleDeclaration(),
      seed: seed.derived("schedule").rawValue, runsMax: 0, recordingsMax: 0,
      silenceSeconds: settings.timeoutSeconds)
    job.documents = scenario.file
    job.directory = try run.subdirectory("document-schedules")
    return job
  }
}
