// DisturbanceRunner.swift: one run of a scenario for each place of a disturbance without a power
// cut. Either a process is killed at each of its file operations, commands or commit steps, and the
// others continue; or each file operation fails in turn, and the program closes and reopens. Then a
// new process must find every promise kept. What was written before a kill is present: the page
// cache belongs to the kernel.

import CrashStates
import EngineExploration
import FaultFS
import Findings
import Foundation
import LabCore
import Recording
import Workload

/// The disturbance in each run.
enum Disturbance {
  case kill(KillDeclaration)
  case fault(FaultDeclaration)

  /// The name used in reports in place of a model.
  var name: String {
    switch self {
    case .kill(let kill): kill.manner.rawValue
    case .fault(let fault): "\(fault.on.rawValue) fails"
    }
  }
}

extension ScenarioLines {
  /// Line of the section that requests a disturbance.
  func line(of disturbance: Disturbance) -> Int? {
    switch disturbance {
    case .kill: kill
    case .fault: sweep
    }
  }
}

/// Runs a scenario once for each place of a disturbance.
struct DisturbanceRunner {
  let runner: ScenarioRunner
  /// The mount of the runs.
  let fileSystem: FaultFSClient
  let scenario: Scenario
  let plan: WorkloadPlan
  let disturbance: Disturbance

  /// Most places; in a plan with more, only the first ones are disturbed.
  static let placesMax = 20_000

  /// Iterates over the places and judges the results.
  /// - Returns: A report on the places, and one for each model with which power failed as well.
  func run(firstNumber: Int) throws(LabError) -> [ExplorationReport] {
    var report = ExplorationReport(
      title: scenario.title, model: disturbance.name, seed: plan.seed, operationCount: 0,
      markCount: 0, crashPointCount: 0, candidateCount: 0, distinctCount: 0, exploredCount: 0,
      bound: "", seconds: 0, findings: [])
    let clock = ContinuousClock()
    let start = clock.now
    var failures: [Int: CheckResult] = [:]
    var places: [Int: Place] = [:]
    var coverage = CommitCoverage()
    var cuts = KilledRunCuts(self)
    do throws(LabError) {
      try disturbEverywhere(&report, &failures, &places, &coverage, &cuts)
    } catch {
      guard error.code == .interrupted else { throw error }
      report.isInterrupted = true
    }
    report.commitCoverage = coverage.isEmpty ? nil : coverage
    report.candidateCount = report.exploredCount
    report.distinctCount = report.exploredCount
    report.crashPointCount = report.exploredCount
    report.bound = "\(report.exploredCount)"
    report.seconds = start.duration(to: clock.now).inSeconds
    for failure in FailureClass.classify(failures) {
      guard let place = places[failure.firstOrdinal] else { continue }
      report.findings.append(
        finding(
          failure, at: place.operation, before: place.before, marks: place.marks,
          number: firstNumber + report.findings.count))
    }
    guard
      report.exploredCount > 0 || report.isInterrupted || shard.count > 1
        || scenario.historyNumber != nil
    else {
      throw .usage(
        "\(scenario.file): the workload does nothing at which this could happen: "
          + disturbance.name)
    }
    report.line = scenario.lines.line(of: disturbance)
    return [report] + cuts.reports(firstNumber: firstNumber + report.findings.count)
  }

  /// The place, and the acknowledgements before it.
  private typealias Place = (operation: Int, before: Bool, marks: [Mark])

  private func disturbEverywhere(
    _ report: inout ExplorationReport, _ failures: inout [Int: CheckResult],
    _ places: inout [Int: Place], _ coverage: inout CommitCoverage, _ cuts: inout KilledRunCuts
  ) throws(LabError) {
    let judge = try makeJudge()
    for before in sides {
      for number in numbers where number % shard.count == shard.index {
        try Interruption.check()
        // Nothing happened: there are fewer places.
        guard
          let run = try disturbed(at: number, before: before, recordingTo: cuts.tracePath)
        else { break }
        let result = try self.judge(run, with: judge)
        report.operationCount = max(report.operationCount, number)
        coverage.add(run.coverage)
        let ordinal = (before ? 0 : Self.placesMax) + number
        places[ordinal] = (number, before, run.marks)
        if !result.ending.isSuccess { failures[ordinal] = result }
        report.exploredCount += 1
        try cuts.explore(operation: number, before: before)
        runner.console.progress("\(disturbance.name): place \(number), \(failures.count) failing")
      }
    }
  }

  /// Runs and judges one place; for replay.
  func replay(operation: Int, before: Bool) throws(LabError) -> Finding? {
    guard let run = try disturbed(at: operation, before: before) else {
      throw missing(operation)
    }
    let result = try judge(run, with: try makeJudge())
    guard !result.ending.isSuccess,
      let failure = FailureClass.classify([0: result]).first
    else { return nil }
    return finding(failure, at: operation, before: before, marks: run.marks, number: 1)
  }

  /// Records the run with one place.
  /// - Returns: What happened there, in words.
  func record(operation: Int, before: Bool, to path: String) throws(LabError) -> String {
    guard try disturbed(at: operation, before: before, recordingTo: path) != nil else {
      throw missing(operation)
    }
    return text(at: operation, before: before)
  }

  private func missing(_ operation: Int) -> LabError {
    LabError(
      .nondeterminism,
      "the workload has fewer than \(operation) such places this time: the token belongs to "
        + "another version of the scenario or of the engine")
  }

  private var shard: Shard { runner.settings.shard }

  private var sides: [Bool] {
    if case .kill(let kill) = disturbance { kill.sides } else { [true] }
  }

  private var numbers: ClosedRange<Int> {
    if case .kill(let kill) = disturbance, case .operation(let number) = kill.place {
      return number...number
    }
    return 1...Self.placesMax
  }

  private func makeJudge() throws(LabError) -> EngineJudgeClient {
    let path = "\(runner.run.path)/job-kill.json"
    let job = EngineJob(tracePath: "", plan: plan, model: "strict", seed: plan.seed)
    try job.save(to: path)
    return EngineJudgeClient(jobPath: path, timeoutSeconds: runner.settings.timeoutSeconds)
  }

  /// Runs the plan with the disturbance at one place.
  /// - Returns: Nil when there is no such place.
  private func disturbed(
    at number: Int, before: Bool, recordingTo path: String? = nil
  ) throws(LabError) -> WorkerRun? {
    var rules: [FaultRule] = []
    for fault in scenario.faults { rules.append(try fault.rule()) }
    try fileSystem.empty(writeBack: scenario.writeBack?.rule(plan.seed))
    if path != nil { try fileSystem.beginRecording() }
    try fileSystem.addRules(rules)
    defer { try? fileSystem.clearRules() }
    let run = try disturbed(at: number, before: before, rules)
    if let path { try fileSystem.endRecording(savingTo: path) }
    return run
  }

  /// The same, with the scenario's own rules in force.
  private func disturbed(
    at number: Int, before: Bool, _ rules: [FaultRule]
  ) throws(LabError) -> WorkerRun? {
    switch disturbance {
    case .kill(let kill):
      var run = try runner.recorder().run(
        plan, killing: kill.planned(number: number, before: before))
      if let trap = run.trap {
        run.violations.append(trap)
      } else if let death = run.death, death != .signalled(SIGKILL) {
        throw .lab("\(scenario.file): the worker died by itself at place \(number): \(death)")
      }
      guard run.death != nil || run.wasStopped else { return nil }
      if let phase = run.deathPhase { run.coverage.add(phase, .kill) }
      return run
    case .fault(let fault):
      let rule = try fault.moved(to: number).rule()
      try fileSystem.addRules([rule])
      var wasHit = false
      var coverage = CommitCoverage()
      let heal = { () throws(LabError) in
        let hits = try fileSystem.ruleHits()
        guard hits.count > rules.count, let last = hits.last else { return }
        wasHit = last.hitCount > 0
        coverage.add([last], of: [rule])
        try fileSystem.clearRules()
        try fileSystem.addRules(rules)
      }
      var run = try runner.recorder().run(
        plan, tolerating: ScenarioRecorder.tolerated, healing: heal)
      try heal()
      guard wasHit else { return nil }
      run.coverage.add(coverage)
      if let death = run.death {
        run.violations.append(
          Violation(
            .liveness, promised: "a failing file operation is an error value",
            got: "the process ended: \(death)"))
      }
      return run
    }
  }

  private func judge(
    _ run: WorkerRun, with judge: EngineJudgeClient
  ) throws(LabError) -> CheckResult {
    // What the other processes saw meanwhile counts as much as the final content of the file.
    guard run.violations.isEmpty else { return CheckResult(run.violations) }
    return try judge.ask(
      .directory(path: fileSystem.mountPoint, marks: run.marks.map(\.text)))
  }

  /// What happened at a place, in words.
  private func text(at operation: Int, before: Bool) -> String {
    switch disturbance {
    case .kill(let kill): return kill.text(number: operation, before: before)
    case .fault(let fault):
      let later = fault.lasts ? ", and all later ones until the next open," : ""
      return "\(fault.on.rawValue) number \(operation)\(later) failed; there was no crash"
    }
  }

  private func finding(
    _ failure: FailureClass, at operation: Int, before: Bool, marks: [Mark], number: Int
  ) -> Finding {
    let place: ScenarioRecipe.Place =
      switch disturbance {
      case .kill: .kill(operation: operation, before: before)
      case .fault: .fault(operation: operation)
      }
    let recipe = ScenarioRecipe(of: scenario, seed: plan.seed, place: place)
    var finding = Finding(
      number: number, promised: failure.first.promised ?? "the database survives its process",
      headline: failure.first.headline,
      got: failure.first.output.split(separator: "\n").map(String.init),
      ending: "the judge ended with \(failure.first.ending)",
      crash: text(at: operation, before: before),
      acknowledgedCount: marks.count,
      lastAcknowledged: marks.last.map { $0.text.trimmingCharacters(in: .whitespacesAndNewlines) },
      lost: ["nothing: what a killed process wrote stays in the page cache"], missingSync: [],
      models: [disturbance.name], stateCount: failure.count,
      token: ReplayRecipe.scenario(recipe).token)
    finding.classKey = failure.key
    finding.firstOrdinal = failure.firstOrdinal
    return finding
  }
}
