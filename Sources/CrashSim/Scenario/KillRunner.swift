// KillRunner.swift: the worker is killed at every file operation, before it takes effect or after,
// and a new process must find every promise kept. What was written before the kill is there: the
// page cache belongs to the kernel, so this is the crash of a process and not of the machine.

import Foundation

/// Runs a scenario once for each place at which its process is killed.
struct KillRunner {
  let runner: ScenarioRunner
  /// The mount on which processes are killed.
  let fileSystem: FaultFSClient
  let scenario: Scenario
  let plan: WorkloadPlan
  let kill: KillDeclaration

  /// Most operations at which a process is killed; a plan with more is killed at this many first
  /// ones.
  private static let operationsMax = 20_000

  /// Kills at each place in turn and judges what is left.
  func run(firstNumber: Int) throws(LabError) -> ExplorationReport {
    var report = ExplorationReport(
      title: scenario.title, model: "kill", seed: plan.seed, operationCount: 0, markCount: 0,
      crashPointCount: 0, candidateCount: 0, distinctCount: 0, exploredCount: 0, bound: "",
      seconds: 0, findings: [])
    let clock = ContinuousClock()
    let start = clock.now
    var failures: [Int: CheckResult] = [:]
    var places: [Int: Place] = [:]
    do throws(LabError) {
      try killEverywhere(&report, &failures, &places)
    } catch {
      guard error.code == .interrupted else { throw error }
      report.isInterrupted = true
    }
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
    guard report.exploredCount > 0 || report.isInterrupted else {
      throw .usage("\(scenario.file): the worker does nothing at which it could be killed")
    }
    return report
  }

  /// Where a process was killed, and what it had been told until then.
  private typealias Place = (operation: Int, before: Bool, marks: [Mark])

  private func killEverywhere(
    _ report: inout ExplorationReport, _ failures: inout [Int: CheckResult],
    _ places: inout [Int: Place]
  ) throws(LabError) {
    let judge = try makeJudge()
    for before in kill.sides {
      for number in numbers() {
        try Interruption.check()
        let run = try killed(at: number, before: before)
        // The worker lived: it has fewer operations than that.
        guard run.death != nil else { break }
        let result = try self.judge(run, with: judge)
        report.operationCount = max(report.operationCount, number)
        places[report.exploredCount] = (number, before, run.marks)
        if !result.ending.isSuccess { failures[report.exploredCount] = result }
        report.exploredCount += 1
        runner.console.progress("kill: operation \(number), \(failures.count) failing")
      }
    }
  }

  /// Kills once, and judges; for replay.
  func replay(operation: Int, before: Bool) throws(LabError) -> Finding? {
    let run = try killed(at: operation, before: before)
    guard run.death != nil else {
      throw LabError(
        .nondeterminism,
        "the worker has fewer than \(operation) operations this time: the token belongs to another "
          + "version of the scenario or of the engine")
    }
    let result = try judge(run, with: try makeJudge())
    guard !result.ending.isSuccess,
      let failure = FailureClass.classify([0: result]).first
    else { return nil }
    return finding(failure, at: operation, before: before, marks: run.marks, number: 1)
  }

  private func numbers() -> ClosedRange<Int> {
    if case .operation(let number) = kill.place { return number...number }
    return 1...Self.operationsMax
  }

  private func makeJudge() throws(LabError) -> EngineJudgeClient {
    let path = "\(runner.run.path)/job-kill.json"
    let job = EngineJob(tracePath: "", plan: plan, model: "strict", seed: plan.seed)
    try job.save(to: path)
    return EngineJudgeClient(jobPath: path, timeoutSeconds: runner.settings.timeoutSeconds)
  }

  private func killed(at number: Int, before: Bool) throws(LabError) -> WorkerRun {
    var rules: [FaultRule] = []
    for fault in scenario.faults { rules.append(try fault.rule()) }
    try fileSystem.empty()
    try fileSystem.addRules(rules + [kill.rule(operation: number, before: before)])
    let run = try runner.recorder().run(plan)
    try fileSystem.clearRules()
    if let death = run.death, death != .signalled(SIGKILL) {
      throw .lab("\(scenario.file): the worker died by itself at operation \(number): \(death)")
    }
    return run
  }

  private func judge(
    _ run: WorkerRun, with judge: EngineJudgeClient
  ) throws(LabError) -> CheckResult {
    try judge.ask(
      .directory(path: fileSystem.mountPoint, marks: run.marks.map(\.text)))
  }

  private func finding(
    _ failure: FailureClass, at operation: Int, before: Bool, marks: [Mark], number: Int
  ) -> Finding {
    let recipe = ScenarioRecipe(
      path: scenario.file, seed: plan.seed, place: .kill(operation: operation, before: before))
    return Finding(
      number: number, promised: failure.first.promised ?? "the database survives its process",
      headline: failure.first.headline,
      got: failure.first.output.split(separator: "\n").map(String.init),
      ending: "the judge ended with \(failure.first.ending)",
      crash:
        "the process was killed \(before ? "before" : "after") its file operation \(operation)",
      acknowledgedCount: marks.count,
      lastAcknowledged: marks.last.map { $0.text.trimmingCharacters(in: .whitespacesAndNewlines) },
      lost: ["nothing: what a killed process wrote stays in the page cache"], missingSync: [],
      models: ["kill"], stateCount: failure.count, token: ReplayToken.encode(.scenario(recipe)))
  }
}
