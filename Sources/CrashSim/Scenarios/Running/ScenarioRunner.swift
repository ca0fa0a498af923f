// ScenarioRunner.swift: `faultline run` as a library: records each scenario through a backend,
// explores the requested crashes and kills, and decides whether it held.
// Invariant: a negative scenario holds if and only if a named oracle found the planted bug.

import CrashStates
import EngineExploration
import Exploration
import FaultFS
import Findings
import Foundation
import LabCore
import Workload

/// Runs scenarios.
package final class ScenarioRunner {
  let settings: ExplorationSettings
  let console: Console
  let run: RunDirectory
  /// One backend serves all scenarios of a run.
  let opened: OpenedBackend
  /// The promise that the last scenario broke without a crash, as a finding.
  private(set) var runFinding: Finding?
  var backend: any ScenarioBackend { opened.backend }
  /// A description of the backend, with the reason if the user did not choose it.
  package var backendName: String { opened.name }

  /// Number of states that are checked for each model of a scenario without a budget.
  package static let defaultBudget = 20_000
  /// Number of states of each recovery that are explored, level by level.
  static func recoveryBudgets(_ depth: Int) -> [Int] {
    depth == 1 ? [64] : Array([24, 8, 4].prefix(depth))
  }
  /// Most crash states of the workload for which recoveries are explored.
  static let recoveredStatesMax = 2_000

  /// Opens a backend; a mount is placed in the runner's own run directory.
  /// - Parameters:
  ///   - settings: The extent of crash exploration.
  ///   - console: The output for reports.
  ///   - backend: The backend; nil mounts if that is possible, and is in-process otherwise.
  /// - Throws: `LabError` when the chosen backend cannot be opened.
  package init(
    settings: ExplorationSettings, console: Console, backend: BackendChoice? = nil
  ) throws(LabError) {
    self.settings = settings
    self.console = console
    run = try RunDirectory()
    do throws(LabError) {
      opened = try OpenedBackend(
        backend, mountPoint: try run.subdirectory("mount"),
        callStacks: settings.recordsCallStacks ? try run.makeCallStackDirectory() : nil)
    } catch {
      run.remove()
      throw error
    }
  }

  deinit {
    try? backend.shutdown()
    run.remove()
  }

  /// Unmounts; further scenarios cannot run.
  package func end() throws(LabError) {
    try backend.shutdown()
    run.remove()
  }

  /// Loads all scenarios below paths; nothing runs if one of them is invalid.
  ///
  /// Old spellings give warnings on standard error.
  /// - Throws: `LabError` with code `.usage` and all diagnostics of all files.
  package static func load(_ paths: [String]) throws(LabError) -> [Scenario] {
    var scenarios: [Scenario] = []
    var problems: [String] = []
    for path in try files(paths) {
      let builtIn = BuiltInScenario.text(named: path).map { Data($0.utf8) }
      guard let data = builtIn ?? FileManager.default.contents(atPath: path) else {
        throw .usage("cannot read \(path); is it a regular file that you may read?")
      }
      do throws(ScenarioError) {
        let text = try ScenarioParser.text(of: Array(data), file: path)
        var (scenario, oldSpellings) = try ScenarioParser.read(text, file: path)
        for spelling in oldSpellings { spelling.warn() }
        scenario.fingerprint = ReplayFingerprint(ofScenario: Array(data))
        scenarios.append(scenario)
      } catch {
        problems.append("\(error)")
      }
    }
    guard problems.isEmpty else { throw .usage(problems.joined(separator: "\n")) }
    return scenarios
  }

  /// The files at the given paths: the paths themselves, and the YAML files below folders.
  static func files(_ paths: [String]) throws(LabError) -> [String] {
    var files: [String] = []
    for path in paths {
      if BuiltInScenario.text(named: path) != nil {
        files.append(path)
        continue
      }
      guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else {
        throw .usage("\(path): no such file or directory; give scenario files or folders of them")
      }
      guard attributes[.type] as? FileAttributeType == .typeDirectory else {
        files.append(path)
        continue
      }
      let below = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
      let found = below.filter { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") }.sorted()
      files += found.map { path.hasSuffix("/") ? path + $0 : "\(path)/\($0)" }
    }
    guard !files.isEmpty else {
      throw .usage("no .yaml files below \(paths.joined(separator: ", "))")
    }
    return files
  }

  /// The message in reports for kills when there is no process to kill.
  static let killSkipped = "killSweep needs a FUSE mount"
  /// The message for a sweep of failing operations.
  static let sweepSkipped = "sweep needs a FUSE mount"

  // MARK: One scenario

  /// Runs one scenario.
  /// - Returns: Its report, including failures of Faultline.
  package func run(_ scenario: Scenario) throws(LabError) -> CaseReport {
    let clock = ContinuousClock()
    let start = clock.now
    var item = CaseReport(name: scenario.file, title: scenario.title)
    item.line = scenario.lines.title
    item.isNegative = scenario.negative != nil
    runFinding = nil
    console.say(console.bold("\(scenario.file)") + "  \(scenario.title)")
    let content = try contentKey(of: scenario)
    if let known = settings.progress?.finished(scenario.file, content: content) {
      console.show(known, isShard: settings.shard.count > 1)
      return known
    }
    do throws(LabError) {
      try perform(scenario, &item)
    } catch {
      switch error.code {
      case .interrupted: item.isInterrupted = true
      case .lab: item.complaints.append("Faultline failed: \(error.message)")
      case .usage, .nondeterminism: throw error
      }
      if error.code == .lab { item.outcome = .labFailed }
    }
    if item.explorations.contains(where: \.isInterrupted) { item.isInterrupted = true }
    if item.outcome != .labFailed { decide(scenario, &item) }
    item.seconds = start.duration(to: clock.now).inSeconds
    if !item.isInterrupted && !item.isOutOfTime && item.outcome != .labFailed {
      settings.progress?.note(item, content: content)
    }
    console.show(item, isShard: settings.shard.count > 1)
    return item
  }

  /// Everything that the result of a scenario depends on besides the run's options.
  private func contentKey(of scenario: Scenario) throws(LabError) -> String {
    guard settings.progress != nil else { return "" }
    var text = [UInt8](FileManager.default.contents(atPath: scenario.file) ?? Data())
    if let crash = scenario.crash {
      for model in try models(of: crash) { text += Array(model.specification.utf8) }
      text += Array("\(crash.systems)".utf8)
    }
    return ContentHash.of(text).description
  }

  /// Runs a scenario, or one of its histories.
  func perform(
    _ scenario: Scenario, _ item: inout CaseReport, _ parameters: HistoryParameters? = nil
  ) throws(LabError) {
    if scenario.documents != nil { return try performDocuments(scenario, &item) }
    if let sync = scenario.sync { return try performSync(scenario, sync, &item, parameters) }
    if let history = scenario.history { return try performHistories(scenario, history, &item) }
    let clock = ContinuousClock()
    let start = clock.now
    let seed = self.seed(of: scenario)
    let plan = try WorkloadPlan(scenario, seed: seed)
    if plan.isConcurrent { return try runSchedules(scenario, plan, &item, parameters) }
    if let reason = scenario.needsMount, opened.mount == nil {
      item.skipped.append(reason)
      return
    }
    let (tracePath, recorded) = try record(scenario, plan, as: "trace")
    let trace = try job(scenario, plan, tracePath, model: settings.models[0]).trace()
    let marks = plan.actorMarks(in: trace)
    if let parameters, var counts = item.histories {
      note(
        parameters, scenario, plan, trace, seconds: start.duration(to: clock.now).inSeconds,
        in: &counts)
      item.histories = counts
    }
    item.timelines = [Timeline(trace, marks: marks)]
    defer { item.noteCoverage(recorded.coverage) }
    defer { item.timelines[0].show(trace, marks: marks, findings: item.findings(of: 0)) }
    // In a history all steps after the first violation may only be its consequences.
    let told = scenario.historyNumber == nil ? recorded.violations.count : 1
    for violation in recorded.violations.prefix(told) {
      item.complaints.append(Self.complaint(violation, scenario))
      item.runToken = token(ofRun: scenario, plan)
    }
    runFinding = recorded.violations.first.map { finding(scenario, plan, $0, recorded) }
    if let crash = scenario.crash {
      for model in try models(of: crash) {
        try Interruption.check()
        item.explorations.append(
          try explore(
            scenario, plan, tracePath, model: model, firstNumber: item.findings.count + 1))
      }
      if !settings.modelsAreChosen {
        for system in crash.systems { try explore(scenario, crash, on: system, &item) }
      }
    }
    if let media = scenario.media {
      try Interruption.check()
      item.explorations.append(
        try exploreMedia(
          scenario, media, plan, tracePath, firstNumber: item.findings.count + 1))
    }
    let disturbances =
      [scenario.kill.map { (Disturbance.kill($0), Self.killSkipped) }]
      + [scenario.sweep.map { (Disturbance.fault($0), Self.sweepSkipped) }]
    for case (let disturbance, let skipped)? in disturbances {
      try Interruption.check()
      guard let mount = opened.mount else {
        item.skipped.append(skipped)
        continue
      }
      item.explorations += try DisturbanceRunner(
        runner: self, fileSystem: mount, scenario: scenario, plan: plan, disturbance: disturbance
      ).run(firstNumber: item.findings.count + 1)
    }
  }

  /// The message for a promise that was broken before any disturbance.
  private static func complaint(_ violation: Violation, _ scenario: Scenario) -> String {
    let place = violation.position.map { "\(scenario.place(of: $0)): " } ?? ""
    return "\(place)without any crash: \(violation)"
  }

  func token(ofRun scenario: Scenario, _ plan: WorkloadPlan) -> String {
    let recipe = ScenarioRecipe(
      of: scenario, seed: plan.seed, place: .run,
      backend: opened.mount == nil ? .inProcess : nil)
    return ReplayRecipe.scenario(recipe).token
  }

  func seed(of scenario: Scenario) -> Seed {
    settings.seedIsChosen ? settings.seed : scenario.seed ?? settings.seed
  }

  func models(of crash: CrashDeclaration) throws(LabError) -> [PersistenceModel] {
    if settings.modelsAreChosen { return settings.models }
    if crash.models.isEmpty { return [] }
    return try PersistenceModel.chosen(crash.models.joined(separator: ","))
  }

  /// Runs the plan on an empty tree with the scenario's faults, and saves its trace.
  func record(
    _ scenario: Scenario, _ plan: WorkloadPlan, as name: String
  ) throws(LabError) -> (path: String, run: WorkerRun) {
    var rules: [FaultRule] = []
    for fault in scenario.faults { rules.append(try fault.rule()) }
    let path = "\(run.path)/\(name).sqlite"
    try backend.empty(writeBack: scenario.writeBack?.rule(plan.seed))
    try backend.beginRecording()
    try backend.addRules(rules)
    var recorded = try recorder().run(plan)
    if !rules.isEmpty {
      let hits = try backend.ruleHits()
      try refuseIdleRules(scenario, hits)
      recorded.coverage.add(hits, of: rules)
    }
    try backend.saveRecording(to: path)
    try backend.clearRules()
    if let trap = recorded.trap {
      recorded.violations.append(trap)
    } else if let death = recorded.death {
      throw .lab("\(scenario.file): the worker died without being killed: \(death)")
    }
    return (path, recorded)
  }

  func recorder() -> ScenarioRecorder {
    ScenarioRecorder(
      backend: backend, timeoutSeconds: settings.timeoutSeconds,
      errorPath: "\(run.path)/worker-errors")
  }

  /// A fault that never hits tests nothing, and that would go unnoticed.
  private func refuseIdleRules(
    _ scenario: Scenario, _ hits: [RuleHits]
  ) throws(LabError) {
    for (fault, hits) in zip(scenario.faults, hits) where hits.hitCount == 0 {
      let rule = DryRun.text(try fault.rule())
      throw .usage(
        "\(scenario.file):\(fault.position): this fault never hit anything: \(rule); "
          + (hits.matchCount == 0
            ? "no operation matches it; correct what it is on, its file, bytes, actor or commit"
            : "\(Formatting.counted(hits.matchCount, "operation")) matched; correct its count"))
    }
  }

  private func explore(
    _ scenario: Scenario, _ plan: WorkloadPlan, _ tracePath: String, model: PersistenceModel,
    firstNumber: Int
  ) throws(LabError) -> ExplorationReport {
    try explore(
      scenario, job(scenario, plan, tracePath, model: model), firstNumber: firstNumber,
      console: console)
  }

  /// Explores the crash states of a recorded scenario.
  func explore(
    _ scenario: Scenario, _ job: EngineJob, firstNumber: Int, console: Console
  ) throws(LabError) -> ExplorationReport {
    let seed = self.seed(of: scenario)
    let name = job.model
    let ignored = job.ignoredSyncs.isEmpty ? nil : job.ignoredSyncs
    let choice = opened.mount == nil ? BackendChoice.inProcess : nil
    let explorer = EngineExplorer(
      job: job, directory: run.path, settings: settings, console: console,
      token: { state, second, shape in
        let place: ScenarioRecipe.Place =
          if let second {
            .recovery(model: name, state: state, shape: shape, second: second)
          } else {
            .crash(model: name, state: state, shape: shape)
          }
        var recipe = ScenarioRecipe(
          of: scenario, seed: seed.rawValue, place: place, backend: choice)
        recipe.ignoredSyncs = ignored
        return ReplayRecipe.scenario(recipe).token
      })
    var report = try explorer.explore(title: scenario.title, firstNumber: firstNumber)
    report.line = scenario.lines.crash
    report.recording = 0
    return report
  }

  func job(
    _ scenario: Scenario, _ plan: WorkloadPlan, _ tracePath: String, model: PersistenceModel
  ) -> EngineJob {
    let declared = scenario.crash?.budgetStates ?? Self.defaultBudget
    var job = EngineJob(
      tracePath: tracePath, plan: plan, model: model.specification,
      seed: seed(of: scenario).rawValue,
      budget: min(declared, settings.budget ?? declared))
    job.onlyPrefixes = scenario.crash?.explore == .prefixes
    if let depth = scenario.crash?.recoveryDepth, depth > 0 {
      job.recoveryBudgets = Self.recoveryBudgets(depth)
      job.budget = min(job.budget ?? declared, Self.recoveredStatesMax)
    }
    return job
  }

  // MARK: Verdict

  private func decide(_ scenario: Scenario, _ item: inout CaseReport) {
    guard let negative = scenario.negative else {
      let isClean = item.findings.isEmpty && item.complaints.isEmpty
      item.outcome = isClean ? (item.isInterrupted ? .interrupted : .held) : .broken
      return
    }
    let broken = scenario.documents?.breaks.map { ": \($0.name)" } ?? ""
    let wanted = negative.oracles.map(\.rawValue).map { name in
      if name == OracleName.documents.rawValue { return name + broken }
      guard name == OracleName.sync.rawValue else { return name }
      let breaks = scenario.sync?.breaks ?? scenario.history?.breaks
      return name + (breaks.map { ": \($0.name)" } ?? "")
    }
    let found = item.findings.flatMap(\.headlines).contains { headline in
      wanted.contains { headline.hasPrefix("\($0):") }
    }
    item.outcome = found ? .held : item.isInterrupted ? .interrupted : .broken
    let hasOnlySystems =
      item.explorations.isEmpty && item.skipped.allSatisfy { $0.hasPrefix("on: ") }
    if item.outcome == .broken, !item.skipped.isEmpty, hasOnlySystems {
      // It is reported as skipped, like tests of real file systems on such a machine.
      item.outcome = .held
    } else if item.outcome == .broken, !item.skipped.isEmpty {
      // A skipped part may be what finds the bug, so the outcome is unknown.
      item.outcome = .labFailed
      item.complaints.append("the planted bug was not found by the parts that could run here")
    } else if item.outcome == .broken {
      let names = wanted.joined(separator: " or ")
      let complaint =
        "the planted bug was not found: \(names) should have failed, because \(negative.because)"
      if settings.shard.count > 1 {
        // The bug may be found in the states of another shard.
        item.outcome = .held
        item.pendingComplaint = complaint
      } else {
        item.complaints.append(complaint)
      }
    }
  }
}
