// SyncRun.swift: runs a scenario on a synchronized realm: its steps once, and judged; then again
// for every crash state of every node, and for every failing operation. The whole world is in this
// process and follows from the scenario alone, so each of these runs repeats the first up to its
// disturbance.

import CrashStates
import Exploration
import FaultFS
import Findings
import LabCore
import Recording
import SyncLab
import Workload

extension ScenarioRunner {
  /// Number of states of all nodes that are checked for each model of a scenario without a budget.
  static let defaultBudgetOfSync = 600

  /// Runs a scenario on a synchronized realm.
  func performSync(
    _ scenario: Scenario, _ declared: SyncDeclaration, _ item: inout CaseReport,
    _ parameters: HistoryParameters? = nil
  ) throws(LabError) {
    let clock = ContinuousClock()
    let start = clock.now
    let run = SyncRun(self, scenario, declared)
    let recorded = try run.record()
    if let parameters, var counts = item.histories {
      note(
        parameters, declared, recorded.lives,
        seconds: start.duration(to: clock.now).inSeconds, in: &counts)
      item.histories = counts
    }
    let traces = recorded.lives.map(\.trace)
    item.timelines = traces.map { Timeline($0) }
    item.messages = MessageChart(
      nodes: declared.nodes,
      events: recorded.messages.map {
        .init(from: $0.from, to: $0.to, text: $0.text, isLost: $0.isLost)
      })
    defer {
      for place in traces.indices {
        item.timelines[place].show(traces[place], findings: item.findings(of: place))
      }
    }
    let plain = run.report(recorded, firstNumber: 1)
    item.explorations.append(plain)
    // What fails without a crash fails in every state after it.
    guard plain.findings.isEmpty else { return }
    if let crash = scenario.crash {
      for model in try models(of: crash) {
        for (place, life) in recorded.lives.enumerated() {
          try Interruption.check()
          var report = try run.explore(
            life, of: recorded.lives.count, under: model, firstNumber: item.findings.count + 1,
            console.about(life.name))
          report.recording = place
          item.explorations.append(report)
        }
      }
    }
    if let sweep = scenario.sweep {
      try Interruption.check()
      item.explorations.append(
        try run.sweep(sweep, firstNumber: item.findings.count + 1))
    }
  }

  /// Reproduces a failure.
  func replaySync(
    _ recipe: ScenarioRecipe, _ scenario: Scenario, _ declared: SyncDeclaration,
    keepingImageIn directory: String?
  ) throws(LabError) -> Finding? {
    let run = SyncRun(self, scenario, declared, seed: Seed(rawValue: recipe.seed))
    switch recipe.place {
    case .run: return run.report(try run.record(), firstNumber: 1).findings.first
    case .node(let node, let life, let model, let state, let shape):
      return try run.replay(
        try self.life(life, of: node, recipe, shape, in: run),
        under: try PersistenceModel.chosen(model)[0], state, keepingImageIn: directory)
    case .accidents(let accidents): return try run.replay(accidents)
    case .nodeFault(let node, let operation):
      guard let sweep = scenario.sweep else {
        throw .usage("\(scenario.file) no longer has 'sweep'")
      }
      return try run.replay(sweep, node, operation)
    default: throw .usage("the token's place is none of a scenario on synchronization")
    }
  }

  /// The recording of the life that ends with a failure's last power failure.
  func walkSync(
    _ recipe: ScenarioRecipe, _ scenario: Scenario, _ declared: SyncDeclaration
  ) throws(LabError) -> FailureWalk {
    let run = SyncRun(self, scenario, declared, seed: Seed(rawValue: recipe.seed))
    let nothing = "\(scenario.file): the token's failure needs no power failure to walk up to"
    switch recipe.place {
    case .node(let node, let life, let model, let state, let shape):
      return try run.walk(try self.life(life, of: node, recipe, shape, in: run), model, state)
    case .accidents(let accidents):
      let again = try run.run(with: accidents, isExact: true)
      let last = again.accidents.last { $0.isPowerFailure }
      guard let life = again.lives.last, case .power(_, let model, let state?)? = last?.kind else {
        throw .usage(nothing)
      }
      return try run.walk(life, model, state)
    default: throw .usage(nothing)
    }
  }

  private func life(
    _ number: Int, of node: String, _ recipe: ScenarioRecipe, _ shape: String, in run: SyncRun
  ) throws(LabError) -> SyncRun.Life {
    let lives = try run.record().lives
    guard var found = lives.first(where: { $0.node == node && $0.number == number }) else {
      throw .usage("the token names life \(number) of node '\(node)', and there is none")
    }
    found.ignoredSyncs = recipe.ignoredSyncs ?? []
    try refuse(found.trace.shape, unless: shape)
    return found
  }
}

/// One scenario on a synchronized realm.
struct SyncRun {
  /// The recording of one life of a node.
  struct Life {
    let node: String
    let number: Int
    let trace: Trace
    /// Events of syncs that its disk acknowledges and ignores.
    var ignoredSyncs: [Int] = []

    /// In words.
    var name: String { node + (number > 0 ? ", life \(number)" : "") }
  }

  /// A run that nothing disturbed.
  struct Recorded {
    let lives: [Life]
    let breaches: [LabBreach]
    let messages: [LabMessage]
  }

  private let runner: ScenarioRunner
  private let scenario: Scenario
  private let declared: SyncDeclaration
  let seed: Seed
  private let verdicts = SharedVerdicts()

  init(
    _ runner: ScenarioRunner, _ scenario: Scenario, _ declared: SyncDeclaration, seed: Seed? = nil
  ) {
    self.runner = runner
    self.scenario = scenario
    self.declared = declared
    self.seed = seed ?? runner.seed(of: scenario)
  }

  /// Runs the steps.
  func record() throws(LabError) -> Recorded {
    let world = try makeWorld(nil)
    do { try world.run() } catch {
      guard error.code == .usage else { throw error }
      throw .usage("\(scenario.file):\(error.message)")
    }
    let messages = world.messages
    var lives: [Life] = []
    for (node, traces) in world.recordings {
      for (number, trace) in traces.enumerated() {
        lives.append(Life(node: node, number: number, trace: trace))
      }
    }
    return Recorded(lives: lives, breaches: world.breaches, messages: messages)
  }

  func makeWorld(_ disturbance: LabDisturbance?) throws(LabError) -> LabWorld {
    do { return try LabWorld(declared, disturbance) } catch {
      throw .lab("\(scenario.file): the files cannot be made: \(error)")
    }
  }

  /// Runs the steps with a disturbance.
  /// - Returns: What was broken; nil when the disturbance's place was not reached.
  private func disturbed(_ disturbance: LabDisturbance) throws(LabError) -> [LabBreach]? {
    let world = try makeWorld(disturbance)
    try world.run()
    return world.wasDisturbed || !world.breaches.isEmpty ? world.breaches : nil
  }

  static func result(_ breaches: [LabBreach]) -> CheckResult {
    CheckResult(
      ending: .exited(breaches.isEmpty ? 0 : 1),
      output: breaches.map(\.description).joined(separator: "\n"),
      promised: breaches.first?.promise.sentence, oracles: breaches.isEmpty ? [] : [.sync])
  }

  // MARK: power

  private func judge(
    _ life: Life, at event: Int, _ image: TreeImage
  ) throws(LabError) -> CheckResult {
    let place = LabPlace(node: life.node, life: life.number, event: event)
    guard let breaches = try disturbed(.cut(place, image)) else {
      throw LabError(
        .nondeterminism,
        "\(scenario.file): event \(event) of \(life.node) did not come when the run was repeated")
    }
    return Self.result(breaches)
  }

  /// The verdict on a state, or on one that leaves the same.
  ///
  /// A planted bug changes files behind the back of what owns them, between calls; so its states
  /// share nothing.
  private func sharedVerdict(
    _ life: Life, at event: Int, _ image: TreeImage
  ) throws(LabError) -> CheckResult {
    guard declared.plant == nil else { return try judge(life, at: event, image) }
    let key = SharedVerdicts.Key(
      node: life.node, life: life.number,
      remains: LabRemains(of: image, at: event, in: life.trace))
    return try verdicts.verdict(key) { () throws(LabError) in try judge(life, at: event, image) }
  }

  func enumerator(
    _ life: Life, _ model: PersistenceModel
  ) throws(LabError) -> CrashStateEnumerator {
    try CrashStateEnumerator(
      trace: life.trace, model: model, seed: seed.derived("\(life.node) \(life.number)"),
      ignoring: life.ignoredSyncs)
  }

  private func check(
    _ life: Life, _ enumerator: CrashStateEnumerator
  ) -> FindingMaker.Check {
    { (state) throws(LabError) in
      let image = try enumerator.withImage(of: state) { (image) throws(LabError) in
        image.treeImage()
      }
      return try judge(life, at: state.crashPoint, image).ending.isSuccess
    }
  }

  func token(_ place: ScenarioRecipe.Place, ignoring ignoredSyncs: [Int] = []) -> String {
    var recipe = ScenarioRecipe(of: scenario, seed: seed.rawValue, place: place)
    recipe.ignoredSyncs = ignoredSyncs.isEmpty ? nil : ignoredSyncs
    return ReplayRecipe.scenario(recipe).token
  }

  /// Explores the crash states of one life of a node; with ignored syncs up to the first that
  /// breaks a promise.
  /// - Parameters:
  ///   - life: The life.
  ///   - lifeCount: Lives that share the scenario's budget.
  ///   - model: The persistence model.
  ///   - firstNumber: Number of the first finding.
  ///   - console: The output for progress.
  /// - Returns: The report.
  /// - Throws: `LabError` when an image or a repeated run cannot be made.
  func explore(
    _ life: Life, of lifeCount: Int, under model: PersistenceModel, firstNumber: Int,
    _ console: Console
  ) throws(LabError) -> ExplorationReport {
    let clock = ContinuousClock()
    let start = clock.now
    let settings = runner.settings
    let enumerator = try enumerator(life, model)
    let declared = scenario.crash?.budgetStates ?? ScenarioRunner.defaultBudgetOfSync
    let budget = max(1, min(declared, settings.budget ?? declared) / max(1, lifeCount))
    let plan = try enumerator.plan(budget: budget)
    var failures: [Int: CheckResult] = [:]
    var states: [Int: CrashState] = [:]
    var count = 0
    try enumerator.visit(plan, shard: settings.shard) { (explored, image) throws(LabError) in
      try Interruption.check()
      let state = explored.state
      if count % 64 == 0, console.replacesLines {
        console.progress(
          ProgressLine(
            subject: model.name, done: count, total: min(budget, plan.distinct),
            failures: failures.count, seconds: start.duration(to: clock.now).inSeconds
          ).text)
      }
      count += 1
      let result = try sharedVerdict(life, at: state.crashPoint, image.treeImage())
      if !result.ending.isSuccess {
        failures[explored.ordinal] = result
        states[explored.ordinal] = state
      }
      return failures.isEmpty || life.ignoredSyncs.isEmpty ? .goOn : .stop
    }
    var report = ExplorationReport(
      title: scenario.title, model: "\(model.name) at \(life.node)", seed: seed.rawValue,
      operationCount: life.trace.events.count - life.trace.markCount,
      markCount: life.trace.markCount, crashPointCount: life.trace.events.count + 1,
      candidateCount: plan.candidates, distinctCount: plan.distinct, exploredCount: count,
      bound: "\(plan.bound)", seconds: 0, findings: [])
    report.shape = life.trace.shape
    report.line = scenario.lines.crash
    for failure in FailureClass.classify(failures) {
      guard let state = states[failure.firstOrdinal] else { continue }
      report.findings.append(
        try finding(
          failure.first, state, count: failure.count, life, enumerator, model,
          number: firstNumber + report.findings.count))
    }
    report.seconds = start.duration(to: clock.now).inSeconds
    return report
  }

  private func finding(
    _ result: CheckResult, _ first: CrashState, count: Int, _ life: Life,
    _ enumerator: CrashStateEnumerator, _ model: PersistenceModel, number: Int
  ) throws(LabError) -> Finding {
    let maker = try FindingMaker(enumerator: enumerator, model: model)
    let accepts = check(life, enumerator)
    let state = try maker.shrink(first) { (state) throws(LabError) in try !accepts(state) }
    let key = enumerator.key(of: state).description
    var finding = try maker.finding(
      number: number, state: state, result: result, stateCount: count,
      token: token(
        .node(
          name: life.node, life: life.number, model: model.specification, state: key,
          shape: life.trace.shape), ignoring: life.ignoredSyncs),
      accepts: accepts)
    finding.crash = "power of \(life.node) fails \(finding.crash)"
    return finding
  }

  /// The recording of a life that ends in a state.
  func walk(_ life: Life, _ model: String, _ text: String) throws(LabError) -> FailureWalk {
    guard let key = StateKey(parsing: text) else {
      throw .usage("the token's state '\(text)' cannot be read")
    }
    let table = try enumerator(life, try PersistenceModel.chosen(model)[0]).table
    return try FailureWalk([CutRecording(table: table, state: try table.state(for: key))])
  }

  /// Reproduces a crash state.
  func replay(
    _ life: Life, under model: PersistenceModel, _ key: String, keepingImageIn directory: String?
  ) throws(LabError) -> Finding? {
    guard let key = StateKey(parsing: key) else {
      throw .usage("the token's state '\(key)' cannot be read")
    }
    let enumerator = try enumerator(life, model)
    let state = try enumerator.state(for: key)
    let image = try enumerator.withImage(of: state) { (image) throws(LabError) in
      image.treeImage()
    }
    if let directory { try CrashDirectory.keep(image, in: directory) }
    let result = try judge(life, at: state.crashPoint, image)
    guard !result.ending.isSuccess else { return nil }
    return try finding(result, state, count: 1, life, enumerator, model, number: 1)
  }

  // MARK: failing operations

  private func rule(_ fault: FaultDeclaration, _ number: Int) throws(LabError) -> FaultRule {
    try fault.moved(to: number).rule()
  }

  /// Runs the steps once for each operation of each node that can fail.
  func sweep(
    _ fault: FaultDeclaration, firstNumber: Int
  ) throws(LabError) -> ExplorationReport {
    let clock = ContinuousClock()
    let start = clock.now
    let shard = runner.settings.shard
    let placesMax = min(runner.settings.budget ?? .max, scenario.crash?.budgetStates ?? .max)
    var places: [(node: String, number: Int)] = []
    var failures: [Int: CheckResult] = [:]
    for node in declared.nodes {
      var isReached = true
      for number in 1...DisturbanceRunner.placesMax where isReached {
        guard number % shard.count == shard.index, places.count < placesMax else { continue }
        try Interruption.check()
        guard let breaches = try disturbed(.fault(node: node, try rule(fault, number))) else {
          isReached = false
          continue
        }
        if !breaches.isEmpty { failures[places.count] = Self.result(breaches) }
        places.append((node, number))
      }
    }
    guard !places.isEmpty || shard.count > 1 else {
      throw .usage("\(scenario.file): no node does anything at which this could fail")
    }
    let name = "sweep of \(fault.on.rawValue)"
    var report = ExplorationReport(
      title: scenario.title, model: name, seed: seed.rawValue, operationCount: places.count,
      markCount: 0, crashPointCount: places.count, candidateCount: places.count,
      distinctCount: places.count, exploredCount: places.count, bound: "\(places.count)",
      seconds: 0, findings: [])
    report.line = scenario.lines.sweep
    for failure in FailureClass.classify(failures) {
      let (node, number) = places[failure.firstOrdinal]
      report.findings.append(
        plainFinding(
          failure.first, count: failure.count, number: firstNumber + report.findings.count,
          crash: "\(fault.on.rawValue) number \(number) of \(node) failed; there was no crash",
          model: name, .nodeFault(name: node, operation: number)))
    }
    report.seconds = start.duration(to: clock.now).inSeconds
    return report
  }

  /// Reproduces a failing operation.
  func replay(
    _ fault: FaultDeclaration, _ node: String, _ number: Int
  ) throws(LabError) -> Finding? {
    let breaches = try disturbed(.fault(node: node, try rule(fault, number))) ?? []
    guard !breaches.isEmpty else { return nil }
    return plainFinding(
      Self.result(breaches), count: 1, number: 1,
      crash: "\(fault.on.rawValue) number \(number) of \(node) failed; there was no crash",
      model: "sweep of \(fault.on.rawValue)", .nodeFault(name: node, operation: number))
  }

  // MARK: without a crash

  /// The report of a run that nothing disturbed.
  func report(_ recorded: Recorded, firstNumber: Int) -> ExplorationReport {
    let events = recorded.lives.reduce(0) { $0 + $1.trace.events.count }
    let marks = recorded.lives.reduce(0) { $0 + $1.trace.markCount }
    var report = ExplorationReport(
      title: scenario.title, model: "run", seed: seed.rawValue, operationCount: events - marks,
      markCount: marks, crashPointCount: 1, candidateCount: 1, distinctCount: 1, exploredCount: 1,
      bound: "1", seconds: 0, findings: [])
    for breach in recorded.breaches {
      report.findings.append(
        plainFinding(
          Self.result([breach]), count: 1, number: firstNumber + report.findings.count,
          crash: "there was no crash", model: "run", .run))
    }
    return report
  }

  func plainFinding(
    _ result: CheckResult, count: Int, number: Int, crash: String, model: String,
    _ place: ScenarioRecipe.Place
  ) -> Finding {
    var finding = Finding(
      number: number, promised: result.promised ?? "the world keeps its promises",
      headline: result.headline, got: result.output.split(separator: "\n").map(String.init),
      ending: "the world came to this end", crash: crash, acknowledgedCount: 0,
      lost: ["nothing: all disks kept their power"], missingSync: [], models: [model],
      stateCount: count, token: token(place))
    finding.classKey = FailureClass.key(of: result)
    return finding
  }
}
