// ScenarioRunner+Step.swift: makes the recordings of a failure for stepping. They are those on
// which the failure was judged: the run with its faults, or, for a kill or a failing operation,
// that particular run; and the recoveries from all power cuts but the last.

import CrashStates
import EngineExploration
import Exploration
import Findings
import Foundation
import LabCore
import Workload

extension ScenarioRunner {
  /// The scenario of a recipe; reports how it, or the engine, differs from the one that failed.
  func load(_ recipe: ScenarioRecipe) throws(LabError) -> Scenario {
    let scenario = try Self.load([recipe.path])[0]
    let differences = scenario.fingerprint.map {
      $0.differences(from: recipe.fingerprint, scenario: recipe.path)
    }
    for line in differences ?? [] { console.say(line) }
    return try scenario.drawn(ifNumbered: recipe.history, seed: Seed(rawValue: recipe.seed))
  }

  /// Records the failure that a recipe names, positioned before its first event.
  /// - Throws: `LabError` with code `.nondeterminism` when the run has another shape.
  package func walk(_ recipe: ScenarioRecipe) throws(LabError) -> FailureWalk {
    let scenario = try load(recipe)
    if let sync = scenario.sync { return try walkSync(recipe, scenario, sync) }
    let plan = try WorkloadPlan(scenario, seed: Seed(rawValue: recipe.seed))
    switch recipe.place {
    case .crash(let model, let state, let shape):
      let path = try record(scenario, plan, as: "trace").path
      return try walk(
        scenario, plan, recipe, path, model: model, state: state, second: nil, shape: shape)
    case .recovery(let model, let state, let shape, let second):
      let path = try record(scenario, plan, as: "trace").path
      return try walk(
        scenario, plan, recipe, path, model: model, state: state, second: second, shape: shape)
    case .schedule(let text):
      let path = try recordSchedule(scenario, plan, text)
      return try walkToEnd(scenario, plan, path, "a promise is broken under this schedule")
    case .scheduledCrash(let text, let model, let state, let shape, let second):
      let path = try recordSchedule(scenario, plan, text)
      return try walk(
        scenario, plan, recipe, path, model: model, state: state, second: second, shape: shape)
    case .node, .nodeFault, .accidents:
      throw .usage("the token's place is in a scenario on synchronization")
    case .media(let state, let shape):
      let (path, _) = try record(scenario, plan, as: "trace")
      let job = job(scenario, plan, path, model: .strict)
      let trace = try job.trace()
      try refuse(trace.shape, unless: shape)
      let text = "the medium damages the file after event \(state.eventCount)"
      return FailureWalk(
        try TraceWalk(
          try UnitTable(trace: trace, model: .strict), marks: plan.actorMarks(in: trace),
          failure: TraceWalk.Failure(crashPoint: state.eventCount, text: text)))
    case .run:
      let (path, _) = try record(scenario, plan, as: "trace")
      return try walkToEnd(scenario, plan, path, "a promise is broken without any crash")
    case .kill(let operation, let before):
      let disturbance = Disturbance.kill(killDeclaration(scenario, plan))
      return try walk(scenario, plan, disturbance, operation: operation, before: before)
    case .killedCrash(let operation, let before, let model, let state, let shape, let second):
      let path = "\(run.path)/killed.sqlite"
      _ = try recordKilled(scenario, plan, operation: operation, before: before, to: path)
      return try walk(
        scenario, plan, recipe, path, model: model, state: state, second: second, shape: shape)
    case .fault(let operation):
      guard let sweep = scenario.sweep else {
        throw .usage("\(scenario.file) no longer has 'sweep'")
      }
      return try walk(scenario, plan, .fault(sweep), operation: operation, before: true)
    }
  }

  /// The kill of a scenario; at every operation if it no longer has one.
  func killDeclaration(_ scenario: Scenario, _ plan: WorkloadPlan) -> KillDeclaration {
    scenario.kill
      ?? KillDeclaration(process: plan.processes[0].name, place: .everyOperation, side: .both)
  }

  private func walk(
    _ scenario: Scenario, _ plan: WorkloadPlan, _ recipe: ScenarioRecipe, _ path: String,
    model: String, state key: String, second: String?, shape: String
  ) throws(LabError) -> FailureWalk {
    var job = job(scenario, plan, path, model: try PersistenceModel.chosen(model)[0])
    job.seed = recipe.seed
    job.ignoredSyncs = recipe.ignoredSyncs ?? []
    let trace = try job.trace()
    try refuse(trace.shape, unless: shape)
    let judge = try EngineJudge(
      job, enumerator: try job.enumerator(), recordsCallStacks: settings.recordsCallStacks)
    return try FailureWalk(
      try judge.recordings(key: key, second: second), marks: plan.actorMarks(in: trace))
  }

  private func walk(
    _ scenario: Scenario, _ plan: WorkloadPlan, _ disturbance: Disturbance, operation: Int,
    before: Bool
  ) throws(LabError) -> FailureWalk {
    guard let mount = opened.mount else {
      throw .usage("the token's failure needs a FUSE mount, and here it is \(backendName)")
    }
    let path = "\(run.path)/trace.sqlite"
    let text = try DisturbanceRunner(
      runner: self, fileSystem: mount, scenario: scenario, plan: plan, disturbance: disturbance
    ).record(operation: operation, before: before, to: path)
    return try walkToEnd(scenario, plan, path, text)
  }

  private func recordSchedule(
    _ scenario: Scenario, _ plan: WorkloadPlan, _ text: String
  ) throws(LabError) -> String {
    let path = "\(run.path)/trace.sqlite"
    try recordSchedule(scenario, plan, text, to: path)
    return path
  }

  /// Without a power cut nothing is lost: the failure is in the final state.
  private func walkToEnd(
    _ scenario: Scenario, _ plan: WorkloadPlan, _ path: String, _ text: String
  ) throws(LabError) -> FailureWalk {
    let model = try models(of: scenario).first ?? .ext4Ordered
    let trace = try job(scenario, plan, path, model: model).trace()
    return FailureWalk(
      try TraceWalk(
        try UnitTable(trace: trace, model: model), marks: plan.actorMarks(in: trace),
        failure: TraceWalk.Failure(crashPoint: trace.events.count, text: text)))
  }

  private func models(of scenario: Scenario) throws(LabError) -> [PersistenceModel] {
    guard let crash = scenario.crash else { return [] }
    return try models(of: crash)
  }
}

extension ProgramExplorer {
  /// Records what a recipe names, or uses a recording, positioned before its first event.
  /// - Throws: `LabError` with code `.nondeterminism` when the program's behavior has changed.
  package func walk(
    _ recipe: ExploreRecipe, from recording: String? = nil
  ) throws(LabError) -> FailureWalk {
    let trace = try recordedAgain(recipe, from: recording)
    if let media = recipe.media {
      return FailureWalk(
        try TraceWalk(
          try UnitTable(trace: trace, model: .strict), marks: nil,
          failure: TraceWalk.Failure(
            crashPoint: media.eventCount,
            text: "the medium damages files after event \(media.eventCount)")))
    }
    let model = recipe.fileSystem == nil ? settings.models.first : nil
    if let recovery = program.recovery, let crashes = recipe.recovered {
      return try recoveryExploration(recovery, try makeTarget(trace, model: model, system: nil))
        .walk(recipe, through: crashes)
    }
    let table = try CrashStateEnumerator(
      trace: trace, model: model ?? .blockDevice, seed: settings.seed,
      ignoring: recipe.ignoredSyncs ?? []
    ).table
    guard let key = StateKey(parsing: recipe.state) else {
      throw .usage("the token's state '\(recipe.state)' cannot be read")
    }
    let cut = CutRecording(table: table, state: try table.state(for: key))
    return try FailureWalk([cut])
  }
}
