// ScenarioRunner+Replay.swift: reproduces one failure of a scenario from its token.

import CrashStates
import EngineExploration
import FaultFS
import Findings
import Foundation
import LabCore
import Recording
import Workload

extension ScenarioRunner {
  /// Reproduces the failure that a recipe names.
  /// - Parameters:
  ///   - recipe: The run and the place of the failure.
  ///   - directory: Where to keep the crashed directory, if at all.
  /// - Returns: The finding, or nil when the promise now holds.
  /// - Throws: `LabError` with code `.nondeterminism` when the run has another shape.
  package func replay(
    _ recipe: ScenarioRecipe, keepingImageIn directory: String?
  ) throws(LabError) -> Finding? {
    let scenario = try load(recipe)
    if scenario.documents != nil {
      return try replayDocuments(recipe, scenario, keepingImageIn: directory)
    }
    if let sync = scenario.sync {
      return try replaySync(recipe, scenario, sync, keepingImageIn: directory)
    }
    let plan = try WorkloadPlan(scenario, seed: Seed(rawValue: recipe.seed))
    switch recipe.place {
    case .run:
      let (_, run) = try record(scenario, plan, as: "trace")
      guard let violation = run.violations.first else { return nil }
      return finding(scenario, plan, violation, run)
    case .kill(let operation, let before):
      guard let mount = opened.mount else {
        throw .usage("the token's \(Self.killSkipped), and here it is \(backendName)")
      }
      return try replay(
        scenario, plan, mount, .kill(killDeclaration(scenario, plan)), operation: operation,
        before: before, directory)
    case .killedCrash(let operation, let before, let model, let state, let shape, let second):
      let path = "\(run.path)/killed.sqlite"
      _ = try recordKilled(scenario, plan, operation: operation, before: before, to: path)
      return try replay(
        scenario, plan, recipe, tracePath: path, model: model, state: state, second: second,
        shape: shape, directory)
    case .fault(let operation):
      guard let mount = opened.mount else {
        throw .usage("the token's \(Self.sweepSkipped), and here it is \(backendName)")
      }
      guard let sweep = scenario.sweep else {
        throw .usage("\(scenario.file) no longer has 'sweep'")
      }
      return try replay(
        scenario, plan, mount, .fault(sweep), operation: operation, before: true, directory)
    case .schedule(let text):
      let declaration = scenario.schedule ?? ScheduleDeclaration()
      if let fatal = try replayFatally(scenario, plan, text) {
        return finding(scenario, declaration, fatal, number: 1)
      }
      let outcome = try replaySchedule(scenario, plan, text, directory)
      guard !outcome.violations.isEmpty else { return nil }
      return finding(
        scenario, declaration,
        ShrunkSchedule(record: outcome.record, outcome: outcome, isMinimal: false, runs: 0),
        number: 1)
    case .scheduledCrash(let text, let model, let state, let shape, let second):
      let path = "\(run.path)/schedule.sqlite"
      try recordSchedule(scenario, plan, text, to: path)
      return try replay(
        scenario, plan, recipe, tracePath: path, model: model, state: state, second: second,
        shape: shape, directory)
    case .node, .nodeFault, .accidents:
      throw .usage("the token's place is in a scenario on synchronization")
    case .media(let state, let shape):
      return try replay(scenario, plan, recipe, state, shape: shape, directory)
    case .crash(let model, let state, let shape):
      return try replay(
        scenario, plan, recipe, tracePath: record(scenario, plan, as: "trace").path, model: model,
        state: state, second: nil, shape: shape, directory)
    case .recovery(let model, let state, let shape, let second):
      return try replay(
        scenario, plan, recipe, tracePath: record(scenario, plan, as: "trace").path, model: model,
        state: state, second: second, shape: shape, directory)
    }
  }

  /// Records the run in which a process is killed at a place.
  /// - Returns: What happened there, in words.
  func recordKilled(
    _ scenario: Scenario, _ plan: WorkloadPlan, operation: Int, before: Bool, to path: String
  ) throws(LabError) -> String {
    guard let mount = opened.mount else {
      throw .usage("the token's \(Self.killSkipped), and here it is \(backendName)")
    }
    return try DisturbanceRunner(
      runner: self, fileSystem: mount, scenario: scenario, plan: plan,
      disturbance: .kill(killDeclaration(scenario, plan))
    ).record(operation: operation, before: before, to: path)
  }

  /// The promises that a run broke without a crash.
  func finding(
    _ scenario: Scenario, _ plan: WorkloadPlan, _ violation: Violation, _ run: WorkerRun
  ) -> Finding {
    Finding(
      number: 1, promised: violation.promised, headline: "\(violation)", got: [violation.got],
      ending: violation.position.map { "during the step at \(scenario.place(of: $0))" }
        ?? "during the run",
      crash: "there was no crash",
      acknowledgedCount: run.marks.count,
      lastAcknowledged: run.marks.last.map {
        $0.text.trimmingCharacters(in: .whitespacesAndNewlines)
      },
      lost: ["nothing: the machine kept running"], missingSync: [], models: ["run"], stateCount: 1,
      token: token(ofRun: scenario, plan), classKey: Self.classKey(of: violation))
  }

  /// The common part of violations of one kind: the text without numbers, names and details.
  private static func classKey(of violation: Violation) -> String {
    let promised = violation.promised.withNumbersReplaced.split(
      separator: "'", omittingEmptySubsequences: false)
    let names = promised.enumerated().filter { $0.offset.isMultiple(of: 2) }.map { $0.element }
    let got = violation.got.prefix { $0 != ":" }
    return "run: \(violation.oracle): \(names.joined(separator: "…")): \(got)".withNumbersReplaced
  }

  /// Throws for a recording of another shape, which has other states.
  func refuse(_ current: String, unless shape: String) throws(LabError) {
    guard current == shape else {
      throw LabError(
        .nondeterminism,
        "the scenario did something else this time (trace shape \(current), the token names "
          + "\(shape)): the token belongs to another version of the scenario or of the engine")
    }
  }

  private func replay(
    _ scenario: Scenario, _ plan: WorkloadPlan, _ mount: FaultFSClient,
    _ disturbance: Disturbance, operation: Int, before: Bool, _ directory: String?
  ) throws(LabError) -> Finding? {
    let finding = try DisturbanceRunner(
      runner: self, fileSystem: mount, scenario: scenario, plan: plan, disturbance: disturbance
    ).replay(operation: operation, before: before)
    if let directory {
      let path = "\(run.path)/disturbed.sqlite"
      try mount.saveTree(to: path)
      try CrashDirectory.keep(try TraceFile.load(path).initial, in: directory)
    }
    return finding
  }

  private func replay(
    _ scenario: Scenario, _ plan: WorkloadPlan, _ recipe: ScenarioRecipe,
    tracePath: String, model: String, state: String, second: String?, shape: String,
    _ directory: String?
  ) throws(LabError) -> Finding? {
    let models = try PersistenceModel.chosen(model)
    var job = job(scenario, plan, tracePath, model: models[0])
    job.seed = recipe.seed
    job.ignoredSyncs = recipe.ignoredSyncs ?? []
    try refuse(try job.trace().shape, unless: shape)
    let enumerator = try job.enumerator()
    let jobPath = "\(run.path)/job-replay.json"
    try job.save(to: jobPath)
    if let directory {
      let judge = try EngineJudge(job, enumerator: enumerator)
      try CrashDirectory.keep(try judge.tree(key: state, second: second), in: directory)
    }
    let client = EngineJudgeClient(jobPath: jobPath, timeoutSeconds: settings.timeoutSeconds)
    let result = try client.ask(.state(key: state, second: second))
    guard !result.ending.isSuccess else { return nil }
    guard let key = StateKey(parsing: state) else {
      throw .usage("the token's state '\(state)' cannot be read")
    }
    let maker = try FindingMaker(enumerator: enumerator, model: models[0])
    return try maker.finding(
      number: 1, state: try enumerator.state(for: key), result: result, stateCount: 1,
      token: ReplayRecipe.scenario(recipe).token,
      context: second.map { "power fails again during recovery, at \($0)" },
      accepts: second == nil ? client.accepts(enumerator) : nil)
  }
}
