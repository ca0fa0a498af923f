// ProgramExplorer.swift: `faultline explore` as a library: record a program, refuse a checker that
// rejects undisturbed states, then judge the crash states under each model.
// Invariant: which states are judged, and in which order findings are listed, depends on program,
// seed, models and budget only.

import Foundation

/// Records a program and explores what crashes may leave of it.
public final class ProgramExplorer {
  private let program: ProgramUnderTest
  private let settings: ExplorationSettings
  private let keptTracePath: String?
  private let console: Console
  private let run: RunDirectory
  private var checkers: [CommandChecker] = []

  /// States that are checked for each model unless the user says otherwise.
  public static let defaultBudget = 20_000

  /// Prepares an exploration in a run directory of its own.
  /// - Parameters:
  ///   - program: What is explored.
  ///   - settings: How.
  ///   - keptTracePath: Where the trace file stays afterwards, if anywhere.
  ///   - console: Where progress and findings go.
  /// - Throws: `LabError` when no run directory can be made.
  public init(
    program: ProgramUnderTest, settings: ExplorationSettings, keepingTrace keptTracePath: String?,
    console: Console
  ) throws(LabError) {
    self.program = program
    self.settings = settings
    self.keptTracePath = keptTracePath
    self.console = console
    run = try RunDirectory()
  }

  deinit { run.remove() }

  /// Records, checks the checker, explores.
  /// - Returns: What was found, model by model.
  public func explore() throws(LabError) -> CaseReport {
    let trace = try record()
    try makeCheckers()
    try refuseBadChecker(trace)
    var item = CaseReport(name: "explore", title: program.workload)
    for model in settings.models {
      item.explorations.append(
        try explore(trace, under: model, firstNumber: item.findings.count + 1))
    }
    item.outcome = item.findings.isEmpty ? .held : .broken
    console.show(item)
    return item
  }

  /// Records again and judges one state.
  /// - Parameters:
  ///   - recipe: What to record and which state to judge.
  ///   - directory: Where the crashed directory stays, if anywhere.
  /// - Returns: The checker's answer and the state in words.
  /// - Throws: `LabError` with code `.nondeterminism` when the program no longer does the same.
  public func replay(
    _ recipe: ExploreRecipe, keepingImageIn directory: String?
  ) throws(LabError) -> (result: CheckResult, finding: Finding) {
    let trace = try record()
    guard trace.shape == recipe.shape else {
      throw LabError(
        .nondeterminism,
        "the workload did something else this time (trace shape \(trace.shape), the token names "
          + "\(recipe.shape)): the token belongs to another version or input of the program")
    }
    try makeCheckers()
    let model = settings.models[0]
    let enumerator = try CrashStateEnumerator(trace: trace, model: model, seed: settings.seed)
    guard let key = StateKey(parsing: recipe.state) else {
      throw .usage("the token's state '\(recipe.state)' cannot be read")
    }
    let state = try enumerator.state(for: key)
    let tree = try enumerator.withImage(of: state) { (image) throws(LabError) in image.treeImage() }
    if let directory { try CrashDirectory.keep(tree, in: directory) }
    let result = try checkers[0].check(
      tree, acknowledged: trace.acknowledged(state.acknowledgedMarks))
    let maker = try FindingMaker(enumerator: enumerator, model: model)
    let finding = maker.finding(
      number: 1, state: state, result: result, stateCount: 1,
      token: ReplayToken.encode(.explore(recipe)))
    return (result, finding)
  }

  private func record() throws(LabError) -> Trace {
    console.progress("recording …")
    let recorder = ProgramRecorder(run: run, timeoutSeconds: settings.recordingTimeoutSeconds)
    let trace = try recorder.record(program)
    if let keptTracePath { try TraceFile.save(trace, to: keptTracePath) }
    return trace
  }

  private func makeCheckers() throws(LabError) {
    for index in 0..<settings.jobs {
      checkers.append(
        try CommandChecker(
          command: program.check, slot: try run.subdirectory("checker-\(index)"),
          timeoutSeconds: settings.timeoutSeconds))
    }
  }

  /// A checker that rejects a state without any crash would make every state a finding.
  private func refuseBadChecker(_ trace: Trace) throws(LabError) {
    var final = trace.initial
    for case .operation(let operation) in trace.events.map(\.body) { final.apply(operation) }
    for (name, tree, marks) in [
      ("before the workload", trace.initial, 0), ("after the workload", final, trace.markCount),
    ] {
      let result = try checkers[0].check(tree, acknowledged: trace.acknowledged(marks))
      guard result.ending.isSuccess else {
        throw .usage(
          "your checker rejects the state without any crash (the directory \(name)): "
            + "\(result.ending)\n\(result.output)")
      }
    }
  }

  private func explore(
    _ trace: Trace, under model: PersistenceModel, firstNumber: Int
  ) throws(LabError) -> ExplorationReport {
    let enumerator = try CrashStateEnumerator(trace: trace, model: model, seed: settings.seed)
    let plan = try enumerator.plan(budget: settings.budget ?? Self.defaultBudget)
    let clock = ContinuousClock()
    let start = clock.now
    var keys: [Int: StateKey] = [:]
    let failures = try check(plan, of: enumerator, keys: &keys)
    let seconds = start.duration(to: clock.now).inSeconds
    var report = ExplorationReport(
      title: program.workload, model: model.name, seed: settings.seed.rawValue,
      operationCount: trace.events.count - trace.markCount, markCount: trace.markCount,
      crashPointCount: enumerator.table.crashPointCount, candidateCount: plan.candidates,
      distinctCount: plan.distinct, exploredCount: plan.selected,
      bound: plan.bound.description, seconds: seconds, findings: [])
    let maker = try FindingMaker(enumerator: enumerator, model: model)
    for (offset, failure) in FailureClass.classify(failures).enumerated() {
      report.findings.append(
        try explain(failure, number: firstNumber + offset, keys: keys, maker: maker, trace: trace))
    }
    return report
  }

  private func check(
    _ plan: ExplorationPlan, of enumerator: CrashStateEnumerator, keys: inout [Int: StateKey]
  ) throws(LabError) -> [Int: CheckResult] {
    let pool = CheckerPool(checkers)
    let marks = enumerator.table.trace.acknowledgedPrefixes()
    let clock = ContinuousClock()
    let start = clock.now
    var submitted = 0
    var found: [Int: StateKey] = [:]
    do throws(LabError) {
      try enumerator.visit(plan) { (explored, image) throws(LabError) in
        found[explored.ordinal] = enumerator.key(of: explored.state)
        try pool.submit(
          StateJob(
            ordinal: explored.ordinal, tree: image.treeImage(),
            acknowledged: marks[explored.state.acknowledgedMarks]))
        submitted += 1
        if submitted % 16 == 0 {
          let rate =
            Double(pool.finishedCount) / max(0.001, start.duration(to: clock.now).inSeconds)
          console.progress(
            Self.progressLine(
              model: enumerator.table.model.name, done: pool.finishedCount,
              total: plan.selected, failures: pool.failureCount, rate: rate))
        }
        return .goOn
      }
    } catch {
      _ = try? pool.finish()
      throw error
    }
    keys = found
    let failures = try pool.finish()
    try Interruption.check()
    return failures
  }

  private static func progressLine(
    model: String, done: Int, total: Int, failures: Int, rate: Double
  ) -> String {
    let left = rate > 0 ? Int(Double(total - done) / rate) : 0
    return "\(model): \(Formatting.grouped(done)) of \(Formatting.grouped(total)) states, "
      + "\(Formatting.grouped(failures)) failing, \(Int(rate)) states/s, \(left) s left"
  }

  /// Makes a finding of a class of failures: confirms it, shrinks it, puts it in words.
  private func explain(
    _ failure: FailureClass, number: Int, keys: [Int: StateKey], maker: FindingMaker, trace: Trace
  ) throws(LabError) -> Finding {
    guard let key = keys[failure.firstOrdinal] else {
      throw .lab("state \(failure.firstOrdinal) failed but was never visited")
    }
    let state = try maker.enumerator.state(for: key)
    let acknowledged = trace.acknowledged(state.acknowledgedMarks)
    let images = try CrashPointImages(table: maker.enumerator.table, at: state.crashPoint)
    func check(_ state: CrashState) throws(LabError) -> CheckResult {
      let tree = try images.withImage(of: state) { (image) throws(LabError) in image.treeImage() }
      return try checkers[0].check(tree, acknowledged: acknowledged)
    }
    let again = try check(state)
    guard FailureClass.key(of: again) == failure.key else {
      throw LabError(
        .nondeterminism,
        "the checker said '\(failure.first.headline)' about a state, and '\(again.headline)' when "
          + "asked again: it depends on something outside the directory (state \(key))")
    }
    let smallest = try maker.shrink(state) { (candidate) throws(LabError) in
      FailureClass.key(of: try check(candidate)) == failure.key
    }
    let recipe = ExploreRecipe(
      workload: program.workload, check: program.check, setup: program.setup,
      model: maker.model.name, seed: settings.seed.rawValue,
      state: maker.enumerator.key(of: smallest).description, shape: trace.shape,
      timeoutSeconds: settings.timeoutSeconds)
    return maker.finding(
      number: number, state: smallest, result: try check(smallest), stateCount: failure.count,
      token: ReplayToken.encode(.explore(recipe)))
  }
}

extension Duration {
  /// The duration in seconds.
  var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}

extension Trace {
  /// Number of marks.
  public var markCount: Int {
    events.count { if case .mark = $0.body { true } else { false } }
  }

  /// The bytes of the first `count` marks, one after another.
  public func acknowledged(_ count: Int) -> [UInt8] { acknowledgedPrefixes()[count] }

  /// What was acknowledged after 0, 1, 2 … marks.
  public func acknowledgedPrefixes() -> [[UInt8]] {
    var prefixes: [[UInt8]] = [[]]
    for case .mark(let mark) in events.map(\.body) {
      prefixes.append((prefixes.last ?? []) + mark.bytes)
    }
    return prefixes
  }
}
