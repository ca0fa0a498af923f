// ScenarioRunner+Schedule.swift: scenarios with concurrent steps: their schedules, and the crash
// states of the recordings. They run in threads of this process, whatever the backend; the files
// are in memory, or on the mount when the plan compacts.

import CrashStates
import EngineExploration
import FaultFS
import Findings
import Foundation
import LabCore
import Recording
import Workload

extension ScenarioRunner {
  /// Minimum number of crash states explored per recording.
  private static let statesPerRecordingMin = 100
  /// Most recordings whose crash states are explored; each needs several processes.
  private static let recordingsMax = 16

  /// Runs the schedules of a scenario.
  func runSchedules(
    _ scenario: Scenario, _ plan: WorkloadPlan, _ item: inout CaseReport,
    _ parameters: HistoryParameters? = nil
  ) throws(LabError) {
    if let reason = scenario.needsMount, opened.mount == nil {
      item.skipped.append(reason)
      return
    }
    let declaration = scenario.schedule ?? ScheduleDeclaration()
    let budget = scenario.crash.map { crashBudget($0) }
    var job = try scheduleJob(scenario, plan)
    job.runsMax = min(declaration.runs, settings.budget ?? declaration.runs)
    let affordable = (budget ?? 0) / Self.statesPerRecordingMin
    // A small budget has at least one, and a history's actions are counted in one.
    let least = budget != nil || parameters != nil ? 1 : 0
    job.recordingsMax = min(Self.recordingsMax, max(affordable, least))
    let console = console.about(scenario.file)
    let scheduled = job.scheduled(on: opened.mount)
    let search = ScheduleSearch(
      job: job, actors: scheduled.actors, directory: run.path,
      progress: { console.progress("\($0) schedules") })
    var explored = ExploredSchedules(hitCounts: [])
    switch try search.run() {
    case .fatal(let fatal):
      return report(scenario, declaration, fatal, &item)
    case .searched(let searched): explored = try again(searched, scheduled)
    case .ran: throw .internalError("a search for schedules ran only one")
    }
    if let parameters, var counts = item.histories, let first = explored.recordings.first {
      note(parameters, scenario, plan, first.trace, seconds: explored.seconds, in: &counts)
      item.histories = counts
    }
    try refuseIdleRules(scenario, explored)
    try refuseIdleCompactions(scenario, explored)
    var report = report(scenario, declaration, explored)
    if let failure = explored.failure {
      report.findings = [
        finding(scenario, declaration, failure, number: item.findings.count + 1)
      ]
    }
    let place = item.explorations.count
    item.explorations.append(report)
    if explored.failure == nil, let crash = scenario.crash {
      for model in try models(of: crash) {
        try exploreCrashes(
          scenario, plan, explored.recordings, model: model, budget: crashBudget(crash),
          &explored.counts, &item)
      }
    }
    item.explorations[place].schedules = explored.counts
  }

  private func scheduleJob(
    _ scenario: Scenario, _ plan: WorkloadPlan
  ) throws(LabError) -> ScheduleJob {
    var rules: [FaultRule] = []
    for fault in scenario.faults { rules.append(try fault.rule()) }
    return ScheduleJob(
      plan: plan, rules: rules, declaration: scenario.schedule ?? ScheduleDeclaration(),
      seed: seed(of: scenario).derived("schedule").rawValue, runsMax: 0, recordingsMax: 0,
      silenceSeconds: settings.timeoutSeconds,
      mountPoint: scenario.needsMount == nil ? nil : try run.subdirectory("schedules"))
  }

  /// Runs the results of a search again in this process.
  func again(
    _ searched: SearchedSchedules, _ scheduled: some ScheduledProgram
  ) throws(LabError) -> ExploredSchedules {
    var explored = ExploredSchedules(hitCounts: searched.hitCounts)
    explored.counts = searched.counts
    explored.seconds = searched.seconds
    explored.isInterrupted = searched.isInterrupted
    if let failure = searched.failure {
      let outcome = try again(failure.schedule, scheduled)
      guard !outcome.violations.isEmpty else {
        throw LabError(.nondeterminism, "schedule: it failed in one process and not in another")
      }
      explored.failure = ShrunkSchedule(
        record: outcome.record, outcome: outcome, isMinimal: failure.isMinimal, runs: 0)
    }
    for text in searched.recordings { explored.recordings.append(try again(text, scheduled)) }
    return explored
  }

  func again(
    _ text: String, _ scheduled: some ScheduledProgram
  ) throws(LabError) -> ScheduledOutcome {
    let outcome = try scheduled.run(ReplayChooser(try Schedule.parse(text)))
    if case .refused(let reason) = outcome.record.ending {
      throw LabError(
        .nondeterminism,
        "schedule: another process did something else (\(reason)); something "
          + "decides here that no point of the schedule comes before")
    }
    return outcome
  }

  private func crashBudget(_ crash: CrashDeclaration) -> Int {
    let declared = crash.budgetStates ?? Self.defaultBudget
    return min(declared, settings.budget ?? declared)
  }

  /// A fault that never hits tests nothing.
  private func refuseIdleRules(
    _ scenario: Scenario, _ explored: ExploredSchedules
  ) throws(LabError) {
    guard !explored.isInterrupted, scenario.historyNumber == nil else { return }
    for (fault, count) in zip(scenario.faults, explored.hitCounts) where count == 0 {
      throw .usage(
        "\(scenario.file):\(fault.position): this fault hit no operation in "
          + "\(explored.counts.runCount) schedules; correct its count, its file or its bytes")
    }
  }

  /// A compaction that fails in every schedule tests nothing.
  private func refuseIdleCompactions(
    _ scenario: Scenario, _ explored: ExploredSchedules
  ) throws(LabError) {
    guard !explored.isInterrupted, explored.failure == nil, explored.counts.compactionCount == 0,
      let step = scenario.blocks.joined().first(where: { $0.action == .command(.compact) })
    else { return }
    throw .usage(
      "\(scenario.file):\(step.position): the compaction was refused in all "
        + "\(explored.counts.runCount) schedules, because others pinned or wrote; give its actor "
        + "fewer of them, or run more schedules")
  }

  func report(
    _ scenario: Scenario, _ declaration: ScheduleDeclaration, _ explored: ExploredSchedules
  ) -> ExplorationReport {
    var report = ExplorationReport(
      title: scenario.title, model: declaration.name, seed: seed(of: scenario).rawValue,
      operationCount: 0, markCount: 0, crashPointCount: 0, candidateCount: 0, distinctCount: 0,
      exploredCount: 0, bound: "0", isInterrupted: explored.isInterrupted,
      seconds: explored.seconds, findings: [])
    report.schedules = explored.counts
    report.line = scenario.lines.schedule ?? scenario.lines.title
    return report
  }

  /// The search ended with its process: there is nothing else to report.
  func report(
    _ scenario: Scenario, _ declaration: ScheduleDeclaration, _ fatal: FatalSchedule,
    _ item: inout CaseReport
  ) {
    var report = report(scenario, declaration, ExploredSchedules(hitCounts: []))
    report.findings = [finding(scenario, declaration, fatal, number: item.findings.count + 1)]
    item.explorations.append(report)
  }

  // MARK: - Findings

  func finding(
    _ scenario: Scenario, _ declaration: ScheduleDeclaration,
    _ failure: ShrunkSchedule<ScheduledOutcome>, number: Int
  ) -> Finding {
    let count = Formatting.counted(failure.record.preemptionCount, "preemption")
    let proof = failure.isMinimal ? ", and none with fewer fails so" : ""
    return finding(
      scenario, declaration, failure.record.schedule, failure.outcome.result,
      turns: failure.record.turnsInWords, marks: failure.outcome.trace.marks,
      crash: "there was no crash: a schedule with \(count) fails\(proof)", number: number)
  }

  func finding(
    _ scenario: Scenario, _ declaration: ScheduleDeclaration, _ fatal: FatalSchedule, number: Int
  ) -> Finding {
    finding(
      scenario, declaration, fatal.schedule, fatal.result, turns: fatal.schedule.turnsInWords,
      marks: [], crash: "the machine kept running: the process ended under this schedule",
      number: number)
  }

  private func finding(
    _ scenario: Scenario, _ declaration: ScheduleDeclaration, _ schedule: Schedule,
    _ result: CheckResult, turns: [String], marks: [Mark], crash: String, number: Int
  ) -> Finding {
    let recipe = ScenarioRecipe(
      of: scenario, seed: seed(of: scenario).rawValue, place: .schedule(schedule.text),
      backend: scenario.scheduleBackend)
    var finding = Finding(
      number: number, promised: result.promised ?? "actors may run side by side",
      headline: result.headline,
      got: result.output.split(separator: "\n").map(String.init) + Self.shortened(turns),
      ending: "a schedule of \(schedule.decisionCount) decisions", crash: crash,
      acknowledgedCount: marks.count,
      lastAcknowledged: marks.last.map { $0.text.trimmingCharacters(in: .whitespacesAndNewlines) },
      lost: ["nothing: the machine kept running"], missingSync: [], models: [declaration.name],
      stateCount: 1, token: ReplayRecipe.scenario(recipe).token)
    finding.classKey = FailureClass.key(of: result)
    finding.firstOrdinal = 0
    return finding
  }

  /// The turns, abbreviated for display.
  private static func shortened(_ turns: [String]) -> [String] {
    let most = 24
    guard turns.count > most else { return turns }
    return turns.prefix(most) + ["… \(turns.count - most) more turns"]
  }

  // MARK: - Crashes

  /// Explores the crash states of the schedules' recordings, within the budget.
  private func exploreCrashes(
    _ scenario: Scenario, _ plan: WorkloadPlan, _ recordings: [ScheduledOutcome],
    model: PersistenceModel, budget: Int, _ counts: inout ScheduleCounts,
    _ item: inout CaseReport
  ) throws(LabError) {
    guard !recordings.isEmpty else { return }
    var whole: ExplorationReport?
    for (number, outcome) in recordings.enumerated() {
      try Interruption.check()
      let path = "\(run.path)/schedule-\(number).sqlite"
      try TraceFile.save(outcome.trace, to: path)
      var job = job(scenario, plan, path, model: model)
      job.budget = max(budget / recordings.count, 1)
      let part = try explorer(scenario, job, outcome.record.schedule.text).explore(
        title: scenario.title, firstNumber: item.findings.count + 1)
      whole = whole.map { $0.joined(with: part) } ?? part
      counts.exploredRecordingCount = max(counts.exploredRecordingCount, number + 1)
      if part.isInterrupted || part.isOutOfTime == true { break }
    }
    guard var whole else { return }
    whole.line = scenario.lines.crash
    // Counts of crash points are specific to one recording.
    whole.crashPoints = nil
    item.explorations.append(whole)
  }

  private func explorer(
    _ scenario: Scenario, _ job: EngineJob, _ schedule: String
  ) -> EngineExplorer {
    let seed = seed(of: scenario).rawValue
    let model = job.model
    return EngineExplorer(
      job: job, directory: run.path, settings: settings, console: console,
      token: { state, second, shape in
        let place = ScenarioRecipe.Place.scheduledCrash(
          schedule: schedule, model: model, state: state, shape: shape, second: second)
        let recipe = ScenarioRecipe(
          of: scenario, seed: seed, place: place, backend: scenario.scheduleBackend)
        return ReplayRecipe.scenario(recipe).token
      })
  }

  // MARK: - Replay

  /// Runs one schedule again, first in a separate process.
  /// - Returns: How that process ended, if it did not survive.
  func replayFatally(
    _ scenario: Scenario, _ plan: WorkloadPlan, _ text: String
  ) throws(LabError) -> FatalSchedule? {
    guard plan.isConcurrent else {
      throw .usage("\(scenario.file) no longer has 'together'")
    }
    let schedule = try Schedule.parse(text)
    var job = try scheduleJob(scenario, plan)
    let actors = job.scheduled().actors
    guard schedule.actors == actors else {
      throw .usage(
        "the token's actors are \(schedule.actors.joined(separator: ", ")), those of "
          + "\(scenario.file) are \(actors.joined(separator: ", "))")
    }
    job.schedule = text
    let search = ScheduleSearch(job: job, actors: actors, directory: run.path)
    guard case .fatal(let fatal) = try search.run() else { return nil }
    return fatal
  }

  /// Records one schedule again.
  /// - Throws: `LabError` with code `.nondeterminism` when the run is different, `.usage` when the
  ///   engine does not survive it.
  func recordSchedule(
    _ scenario: Scenario, _ plan: WorkloadPlan, _ text: String, to path: String
  ) throws(LabError) {
    if let fatal = try replayFatally(scenario, plan, text) {
      throw .usage(
        "the engine does not survive the token's schedule (\(fatal.ending)), so it left nothing "
          + "to look at; correct that first")
    }
    try TraceFile.save(try replaySchedule(scenario, plan, text, nil).trace, to: path)
  }

  /// Runs one schedule again that the engine survives.
  /// - Parameters:
  ///   - scenario: The scenario.
  ///   - plan: The actors' commands.
  ///   - text: The schedule.
  ///   - directory: Where to put the files at the end of the run; nil discards them.
  /// - Returns: The run's result, judged.
  /// - Throws: `LabError` with code `.nondeterminism` when the run is different.
  func replaySchedule(
    _ scenario: Scenario, _ plan: WorkloadPlan, _ text: String, _ directory: String?
  ) throws(LabError) -> ScheduledOutcome {
    var tree: TreeImage?
    let outcome = try scheduleJob(scenario, plan).scheduled(on: opened.mount).run(
      ReplayChooser(try Schedule.parse(text)), finalTree: { tree = $0 })
    if let directory, let tree { try CrashDirectory.keep(tree, in: directory) }
    if case .refused(let reason) = outcome.record.ending {
      throw LabError(
        .nondeterminism,
        "the scenario did something else this time (\(reason)): the token belongs to another "
          + "version of the scenario or of the engine")
    }
    return outcome
  }
}
