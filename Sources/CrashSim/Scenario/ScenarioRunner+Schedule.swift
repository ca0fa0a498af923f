// ScenarioRunner+Schedule.swift: scenarios whose steps run side by side: their schedules, and the
// crash states of what those recorded. All of it happens in this process, whatever the door.

import Foundation

extension ScenarioRunner {
  /// Fewest crash states that are worth exploring of one recording.
  private static let statesPerRecordingMin = 100
  /// Recordings whose crash states are explored; each costs some processes.
  private static let recordingsMax = 16

  /// Runs the schedules of a scenario.
  func runSchedules(
    _ scenario: Scenario, _ plan: WorkloadPlan, _ item: inout CaseReport
  ) throws(LabError) {
    let declaration = scenario.schedule ?? ScheduleDeclaration()
    let scheduled = try scheduledPlan(scenario, plan)
    let budget = scenario.crash.map { crashBudget($0) } ?? 0
    let console = console.about(scenario.file)
    let explorer = ScheduleExplorer(
      run: { (chooser) throws(LabError) in try scheduled.run(chooser) },
      actors: scheduled.actors, ruleCount: scenario.faults.count, declaration: declaration,
      seed: seed(of: scenario).derived("schedule"),
      runsMax: min(declaration.runs, settings.budget ?? declaration.runs),
      recordingsMax: min(Self.recordingsMax, budget / Self.statesPerRecordingMin),
      progress: { count in
        if count % 64 == 0 { console.progress("\(count) schedules") }
      })
    var explored = try explorer.explore()
    try refuseIdleRules(scenario, explored)
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
          scenario, plan, explored.recordings, model: model, budget: budget, &explored.counts,
          &item)
      }
    }
    item.explorations[place].schedules = explored.counts
  }

  func scheduledPlan(
    _ scenario: Scenario, _ plan: WorkloadPlan
  ) throws(LabError) -> ScheduledPlan {
    var rules: [FaultRule] = []
    for fault in scenario.faults { rules.append(try fault.rule()) }
    var limits = ScheduleLimits()
    limits.silenceSeconds = settings.timeoutSeconds
    return ScheduledPlan(plan, rules: rules, limits: limits)
  }

  private func crashBudget(_ crash: CrashDeclaration) -> Int {
    let declared = crash.budgetStates ?? Self.defaultBudget
    return min(declared, settings.budget ?? declared)
  }

  /// A fault that hits in no schedule tests nothing.
  private func refuseIdleRules(
    _ scenario: Scenario, _ explored: ExploredSchedules
  ) throws(LabError) {
    guard !explored.isInterrupted else { return }
    for (fault, count) in zip(scenario.faults, explored.hitCounts) where count == 0 {
      throw .usage(
        "\(scenario.file):\(fault.position): this fault hit no operation in "
          + "\(explored.counts.runCount) schedules; correct its count, its file or its bytes")
    }
  }

  private func report(
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

  // MARK: - Findings

  func finding(
    _ scenario: Scenario, _ declaration: ScheduleDeclaration,
    _ failure: ShrunkSchedule<ScheduledOutcome>, number: Int
  ) -> Finding {
    let result = failure.outcome.result
    let record = failure.record
    let marks = failure.outcome.trace.marks
    let recipe = ScenarioRecipe(
      path: scenario.file, seed: seed(of: scenario).rawValue,
      place: .schedule(record.schedule.text), door: .inProcess)
    let count = Formatting.counted(record.preemptionCount, "preemption")
    let proof = failure.isMinimal ? ", and none with fewer fails so" : ""
    var finding = Finding(
      number: number, promised: result.promised ?? "actors may run side by side",
      headline: result.headline,
      got: result.output.split(separator: "\n").map(String.init) + Self.turns(of: record),
      ending: "a schedule of \(record.decisions.count) decisions",
      crash: "there was no crash: a schedule with \(count) fails\(proof)",
      acknowledgedCount: marks.count,
      lastAcknowledged: marks.last.map { $0.text.trimmingCharacters(in: .whitespacesAndNewlines) },
      lost: ["nothing: the machine lives"], missingSync: [], models: [declaration.name],
      stateCount: 1, token: ReplayToken.encode(.scenario(recipe)))
    finding.classKey = FailureClass.key(of: result)
    finding.firstOrdinal = 0
    return finding
  }

  /// The schedule in words, as far as a person reads it.
  private static func turns(of record: ScheduleRecord) -> [String] {
    let turns = record.turnsInWords
    let most = 24
    guard turns.count > most else { return turns }
    return turns.prefix(most) + ["… \(turns.count - most) more turns"]
  }

  // MARK: - Crashes

  /// Explores the crash states of what schedules recorded, as far as the budget goes.
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
    // The counts of crash points belong to one recording each.
    whole.crashPoints = nil
    item.explorations.append(whole)
  }

  private func explorer(
    _ scenario: Scenario, _ job: EngineJob, _ schedule: String
  ) -> EngineExplorer {
    let file = scenario.file
    let seed = seed(of: scenario).rawValue
    let model = job.model
    return EngineExplorer(
      job: job, directory: run.path, settings: settings, console: console,
      token: { state, second, shape in
        let place = ScenarioRecipe.Place.scheduledCrash(
          schedule: schedule, model: model, state: state, shape: shape, second: second)
        return ReplayToken.encode(
          .scenario(
            ScenarioRecipe(path: file, seed: seed, place: place, door: .inProcess)))
      })
  }

  // MARK: - Replay

  /// Runs one schedule again.
  /// - Throws: `LabError` with code `.nondeterminism` when the run does something else.
  func replaySchedule(
    _ scenario: Scenario, _ plan: WorkloadPlan, _ text: String, _ directory: String?
  ) throws(LabError) -> ScheduledOutcome {
    guard plan.isConcurrent else {
      throw .usage("\(scenario.file) has no 'together' any more")
    }
    let schedule = try Schedule.parse(text)
    let scheduled = try scheduledPlan(scenario, plan)
    guard schedule.actors == scheduled.actors else {
      throw .usage(
        "the token's actors are \(schedule.actors.joined(separator: ", ")), those of "
          + "\(scenario.file) are \(scheduled.actors.joined(separator: ", "))")
    }
    var tree: TreeImage?
    let outcome = try scheduled.run(ReplayChooser(schedule), finalTree: { tree = $0 })
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
