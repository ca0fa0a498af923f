// DocumentRun.swift: runs a scenario on documents: its steps once, and judged; then every
// disturbance that it names. Steps and judge are programs (DocumentChildren.swift), so crash states
// are explored as those of any program.

import CrashStates
import DocumentLab
import Exploration
import FaultFS
import Findings
import Foundation
import LabCore
import Recording
import Workload

extension ScenarioRunner {
  /// Number of states that are checked for each model of a scenario without a budget.
  static let defaultBudgetOfDocuments = 2_000

  /// Runs a scenario on documents.
  func performDocuments(
    _ scenario: Scenario, _ item: inout CaseReport
  ) throws(LabError) {
    guard let mount = opened.mount else {
      item.skipped.append("documents need a FUSE mount")
      return
    }
    guard scenario.documents?.together.isEmpty != false else {
      return try performDocumentSchedules(scenario, &item)
    }
    let run = try DocumentRun(self, scenario, mount)
    let recorded = try run.record(disturbance: nil)
    item.timelines = [Timeline(recorded.trace)]
    defer { item.timelines[0].show(recorded.trace, findings: item.findings(of: 0)) }
    let plain = try run.judged([(.run, recorded)], as: "run", firstNumber: 1)
    item.explorations.append(plain)
    // What fails without a crash fails in every state after it.
    guard plain.findings.isEmpty else { return }
    if let crash = scenario.crash {
      for model in try models(of: crash) {
        try Interruption.check()
        item.explorations += try run.explore(
          recorded.trace, under: model, firstNumber: item.findings.count + 1)
      }
    }
    if let media = scenario.media {
      try Interruption.check()
      item.explorations.append(
        try run.explore(media, recorded.trace, firstNumber: item.findings.count + 1))
    }
    let sweeps =
      [scenario.kill.map { Disturbance.kill($0) }] + [scenario.sweep.map { Disturbance.fault($0) }]
    for case let sweep? in sweeps {
      try Interruption.check()
      item.explorations.append(
        try run.sweep(sweep, firstNumber: item.findings.count + 1))
    }
  }

  /// Reproduces a failure that was no crash state; those have tokens of explored programs.
  func replayDocuments(
    _ recipe: ScenarioRecipe, _ scenario: Scenario, keepingImageIn directory: String?
  ) throws(LabError) -> Finding? {
    guard let mount = opened.mount else {
      throw .usage("\(scenario.file): documents need a FUSE mount")
    }
    if case .schedule(let text) = recipe.place {
      return try replayDocumentSchedule(scenario, text)
    }
    let run = try DocumentRun(self, scenario, mount)
    let recorded: DocumentRun.Recorded
    let place: DocumentRun.Place
    switch recipe.place {
    case .run:
      place = .run
      recorded = try run.record(disturbance: nil)
    case .kill(let number, let before):
      guard let kill = scenario.kill else {
        throw .usage("\(scenario.file) no longer has 'killSweep'")
      }
      place = .disturbed(.kill(kill), number: number, before: before)
      recorded = try run.record(disturbance: (.kill(kill), number, before))
    case .fault(let number):
      guard let sweep = scenario.sweep else {
        throw .usage("\(scenario.file) no longer has 'sweep'")
      }
      place = .disturbed(.fault(sweep), number: number, before: true)
      recorded = try run.record(disturbance: (.fault(sweep), number, true))
    default: throw .usage("the token's place is none of a scenario on documents")
    }
    if let directory { try CrashDirectory.keep(recorded.trace.final, in: directory) }
    return try run.judged([(place, recorded)], as: "run", firstNumber: 1).findings.first
  }
}

/// One scenario on documents, and what judges it.
struct DocumentRun {
  /// Where a failure was seen.
  enum Place {
    case run
    case disturbed(Disturbance, number: Int, before: Bool)
  }

  /// A recorded run.
  struct Recorded {
    let trace: Trace
    /// Whether the disturbance's place was reached.
    let wasHit: Bool
  }

  private let runner: ScenarioRunner
  private let scenario: Scenario
  private let fileSystem: FaultFSClient
  private let explorer: ProgramExplorer
  private let program: ProgramUnderTest
  private let rules: [FaultRule]
  private let seed: Seed
  private let target: ExplorationTarget

  /// - Parameters:
  ///   - runner: Whose options hold.
  ///   - scenario: The scenario.
  ///   - fileSystem: The mount.
  ///   - schedule: The order of actors side by side.
  ///   - count: How many schedules share the scenario's budget.
  /// - Throws: `LabError` when the scenario cannot be a program.
  init(
    _ runner: ScenarioRunner, _ scenario: Scenario, _ fileSystem: FaultFSClient,
    under schedule: DocumentSchedule? = nil, sharing count: Int = 1
  ) throws(LabError) {
    self.runner = runner
    self.scenario = scenario
    self.fileSystem = fileSystem
    seed = runner.seed(of: scenario)
    rules = try scenario.rulesOfFaults()
    var program = DocumentProgram.commands(
      scenario, program: "'\(try LineProcess.program())'", schedule: schedule)
    if let depth = scenario.crash?.recoveryDepth, depth > 0 {
      var recovery = ProgramRecovery(
        command: "exec "
          + DocumentRecover(scenario: scenario.file).shellCommand(
            program: "'\(try LineProcess.program())'"))
      recovery.statesMax = 12
      recovery.depth = min(depth, ProgramRecovery.depthMax)
      program.recovery = recovery
    }
    self.program = program
    var settings = runner.settings
    settings.seed = seed
    settings.faults = rules
    settings.progress = nil
    settings.fileSystems = []
    settings.media = nil
    let declared = scenario.crash?.budgetStates ?? ScenarioRunner.defaultBudgetOfDocuments
    settings.budget = max(1, min(declared, settings.budget ?? declared) / max(1, count))
    explorer = try ProgramExplorer(
      program: program, settings: settings, keepingTrace: nil, console: .silent)
    target = try explorer.makeTarget(
      Trace(initial: TreeImage()), model: nil, system: nil)
  }

  /// Does the steps on the mount.
  /// - Parameter disturbance: What happens at which place; nil for the scenario's own faults alone.
  /// - Returns: The recording.
  /// - Throws: `LabError` when the steps cannot be done.
  func record(
    disturbance: (kind: Disturbance, number: Int, before: Bool)?
  ) throws(LabError) -> Recorded {
    try fileSystem.empty(writeBack: nil)
    var stage = ProgramStage(
      run: runner.run, timeoutSeconds: runner.settings.recordingTimeoutSeconds)
    if let setup = program.setup {
      try require(try stage.execute(setup, on: fileSystem, acknowledges: false), stage)
    }
    try fileSystem.beginRecording()
    var added = rules
    if let disturbance {
      added.append(try rule(disturbance))
      stage.environment[DocumentProgram.disturbedVariable] = "1"
    }
    try fileSystem.addRules(added)
    defer { try? fileSystem.clearRules() }
    try require(try stage.execute(program.workload, on: fileSystem, acknowledges: true), stage)
    let hits = try fileSystem.ruleHits()
    try fileSystem.clearRules()
    for (fault, hits) in zip(scenario.faults, hits) where hits.hitCount == 0 {
      guard disturbance == nil else { break }
      throw .usage("\(scenario.file):\(fault.position): this fault never hit anything")
    }
    let path = "\(runner.run.path)/documents.sqlite"
    _ = try fileSystem.endRecording(savingTo: path)
    return Recorded(
      trace: try TraceFile.load(path),
      wasHit: disturbance == nil || (hits.last?.hitCount ?? 0) > 0)
  }

  private func require(
    _ ending: ProcessEnding, _ stage: ProgramStage
  ) throws(LabError) {
    guard ending.isSuccess else {
      throw .lab("\(scenario.file): the worker ended with \(ending)\n\(stage.output.quotedLines)")
    }
  }

  private func rule(
    _ disturbance: (kind: Disturbance, number: Int, before: Bool)
  ) throws(LabError) -> FaultRule {
    switch disturbance.kind {
    case .kill(let kill):
      var match = FaultRule.Match(kill.kinds, nth: disturbance.number)
      match.actor = kill.process
      return FaultRule(when: match, what: .kill(disturbance.before ? .before : .after))
    case .fault(let fault): return try fault.moved(to: disturbance.number).rule()
    }
  }

  /// Explores power cuts.
  func explore(
    _ trace: Trace, under model: PersistenceModel, firstNumber: Int
  ) throws(LabError) -> [ExplorationReport] {
    var reports = try explorer.explore(
      trace, under: model, checkersOf: target, firstNumber: firstNumber)
    for index in reports.indices {
      reports[index].title = scenario.title
      reports[index].line = scenario.lines.crash
    }
    return reports
  }

  /// Explores damage of the medium.
  func explore(
    _ declared: MediaDeclaration, _ trace: Trace, firstNumber: Int
  ) throws(LabError) -> ExplorationReport {
    var media = ProgramMedia()
    media.kinds = declared.kinds.isEmpty ? media.kinds : declared.kinds
    media.fileGlob = declared.fileGlob
    var report = try explorer.exploreMedia(
      media, trace, checkersOf: target, firstNumber: firstNumber)
    report.title = scenario.title
    report.line = scenario.lines.media
    return report
  }

  /// Runs the steps once for each place of a disturbance.
  func sweep(
    _ disturbance: Disturbance, firstNumber: Int
  ) throws(LabError) -> ExplorationReport {
    var sides = [true]
    var numbers = 1...DisturbanceRunner.placesMax
    if case .kill(let kill) = disturbance {
      sides = kill.sides
      if case .operation(let number) = kill.place { numbers = number...number }
    }
    let placesMax = min(runner.settings.budget ?? .max, scenario.crash?.budgetStates ?? .max)
    var runs: [(Place, Recorded)] = []
    let shard = runner.settings.shard
    for before in sides {
      for number in numbers where number % shard.count == shard.index {
        guard runs.count < placesMax else { break }
        try Interruption.check()
        let recorded = try record(disturbance: (disturbance, number, before))
        guard recorded.wasHit else { break }
        runs.append((.disturbed(disturbance, number: number, before: before), recorded))
        runner.console.progress("\(disturbance.name): place \(number)")
      }
    }
    guard !runs.isEmpty || shard.count > 1 else {
      throw .usage(
        "\(scenario.file): the workload does nothing at which this could happen: "
          + disturbance.name)
    }
    var report = try judged(runs, as: disturbance.name, firstNumber: firstNumber)
    report.line = scenario.lines.line(of: disturbance)
    return report
  }

  /// Judges runs that ended without a power cut.
  func judged(
    _ runs: [(place: Place, recorded: Recorded)], as name: String, firstNumber: Int
  ) throws(LabError) -> ExplorationReport {
    let clock = ContinuousClock()
    let start = clock.now
    var failures: [Int: CheckResult] = [:]
    for (index, run) in runs.enumerated() {
      let trace = run.recorded.trace
      let result = try target.judge(
        trace.final, acknowledged: trace.acknowledged(trace.markCount),
        variables: [DocumentProgram.survivedVariable: "1"])
      if !result.ending.isSuccess { failures[index] = result }
    }
    let first = runs.first?.recorded.trace
    var report = ExplorationReport(
      title: scenario.title, model: name, seed: seed.rawValue,
      operationCount: first.map { $0.events.count - $0.markCount } ?? 0,
      markCount: first?.markCount ?? 0, crashPointCount: runs.count, candidateCount: runs.count,
      distinctCount: runs.count, exploredCount: runs.count, bound: "\(runs.count)",
      seconds: start.duration(to: clock.now).inSeconds, findings: [])
    report.recording = 0
    for failure in FailureClass.classify(failures) {
      let run = runs[failure.firstOrdinal]
      report.findings.append(
        finding(failure, run.place, run.recorded, firstNumber + report.findings.count, name))
    }
    return report
  }

  private func finding(
    _ failure: FailureClass, _ place: Place, _ recorded: Recorded, _ number: Int, _ name: String
  ) -> Finding {
    let marks = recorded.trace.marks
    let (recipePlace, text): (ScenarioRecipe.Place, String) =
      switch place {
      case .run: (.run, "there was no crash")
      case .disturbed(.kill(let kill), let number, let before):
        (.kill(operation: number, before: before), kill.text(number: number, before: before))
      case .disturbed(.fault(let fault), let number, _):
        (
          .fault(operation: number),
          "\(fault.on.rawValue) number \(number) failed; there was no crash"
        )
      }
    let recipe = ScenarioRecipe(of: scenario, seed: seed.rawValue, place: recipePlace)
    var finding = Finding(
      number: number, promised: failure.first.promised ?? "the data file keeps its promises",
      headline: failure.first.headline,
      got: failure.first.output.split(separator: "\n").map(String.init),
      ending: "the judge ended with \(failure.first.ending)", crash: text,
      acknowledgedCount: marks.count,
      lastAcknowledged: marks.last.map { $0.text.trimmingCharacters(in: .whitespacesAndNewlines) },
      lost: ["nothing: the machine kept running"], missingSync: [], models: [name],
      stateCount: failure.count, token: ReplayRecipe.scenario(recipe).token)
    finding.classKey = failure.key
    finding.firstOrdinal = failure.firstOrdinal
    return finding
  }
}
