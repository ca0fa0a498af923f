// ProgramExplorer.swift: `faultline explore` as a library: record a program, refuse a checker that
// rejects undisturbed states, then judge the crash states under each model.
// Invariant: which states are judged, and in which order findings are listed, depends on program,
// seed, models and budget only.

import Foundation

/// Records a program and explores what crashes may leave of it.
public final class ProgramExplorer {
  let program: ProgramUnderTest
  let settings: ExplorationSettings
  private let keptTracePath: String?
  let console: Console
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

  deinit {
    run.killPrograms()
    run.remove()
  }

  /// Records, checks the checker, explores.
  /// - Returns: What was found, model by model; or so far, when the lab is asked to stop.
  public func explore() throws(LabError) -> CaseReport {
    var item = CaseReport(name: CaseReport.exploredName, title: program.workload)
    do throws(LabError) {
      let trace = try record()
      try makeCheckers()
      try refuseBadChecker(trace)
      for model in settings.models {
        try Interruption.check()
        item.explorations.append(
          try explore(
            trace, under: model, firstNumber: item.findings.count + 1, console: console))
      }
    } catch {
      guard error.code == .interrupted else { throw error }
      item.isInterrupted = true
    }
    if item.explorations.contains(where: \.isInterrupted) { item.isInterrupted = true }
    item.outcome =
      item.findings.isEmpty ? (item.isInterrupted ? .interrupted : .held) : .broken
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
    let enumerator = try CrashStateEnumerator(
      trace: trace, model: model, seed: settings.seed, ignoring: recipe.ignoredSyncs ?? [])
    guard let key = StateKey(parsing: recipe.state) else {
      throw .usage("the token's state '\(recipe.state)' cannot be read")
    }
    let state = try enumerator.state(for: key)
    let tree = try enumerator.withImage(of: state) { (image) throws(LabError) in image.treeImage() }
    if let directory { try CrashDirectory.keep(tree, in: directory) }
    let result = try checkers[0].check(
      tree, acknowledged: trace.acknowledged(state.acknowledgedMarks))
    let maker = try FindingMaker(enumerator: enumerator, model: model)
    let finding = try maker.finding(
      number: 1, state: state, result: result, stateCount: 1,
      token: ReplayToken.encode(.explore(recipe)))
    return (result, finding)
  }

  func record() throws(LabError) -> Trace {
    console.progress("recording …")
    let recorder = ProgramRecorder(
      run: run, timeoutSeconds: settings.recordingTimeoutSeconds, writeBack: settings.writeBack)
    let trace = try recorder.record(program)
    if let keptTracePath { try TraceFile.save(trace, to: keptTracePath) }
    return trace
  }

  func makeCheckers() throws(LabError) {
    for index in 0..<settings.jobs {
      checkers.append(
        try CommandChecker(
          command: program.check, slot: try run.subdirectory("checker-\(index)"),
          timeoutSeconds: settings.timeoutSeconds, environment: run.programEnvironment))
    }
  }

  /// A checker that rejects a state without any crash would make every state a finding.
  func refuseBadChecker(_ trace: Trace) throws(LabError) {
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

  /// Judges the crash states of a recording.
  /// - Parameters:
  ///   - trace: The recording.
  ///   - model: The model.
  ///   - ignoredSyncs: Syncs that the disk is to ignore; with some, only what they prevent is
  ///     judged, up to the first state that fails.
  ///   - firstNumber: Number of the first finding.
  ///   - console: Where progress goes.
  /// - Returns: How far it went, and what it found.
  /// - Throws: `LabError` when a state cannot be built or a checker not be run.
  func explore(
    _ trace: Trace, under model: PersistenceModel, ignoring ignoredSyncs: [Int] = [],
    firstNumber: Int, console: Console
  ) throws(LabError) -> ExplorationReport {
    let enumerator = try CrashStateEnumerator(
      trace: trace, model: model, seed: settings.seed, ignoring: ignoredSyncs)
    let plan = try enumerator.plan(budget: settings.budget ?? Self.defaultBudget)
    let clock = ContinuousClock()
    let start = clock.now
    var keys: [Int: StateKey] = [:]
    var (failures, checkedCount) = try check(
      plan, of: enumerator, untilFirst: !ignoredSyncs.isEmpty, console: console, keys: &keys)
    var isCutShort = checkedCount < plan.selectedCount(in: settings.shard)
    if !ignoredSyncs.isEmpty, let first = failures.keys.min() {
      // Checkers side by side have gone a little further, by chance.
      failures = failures.filter { $0.key == first }
      checkedCount = keys.keys.count { $0 <= first }
      isCutShort = false
    }
    let seconds = start.duration(to: clock.now).inSeconds
    var report = ExplorationReport(
      title: program.workload, model: model.name, seed: settings.seed.rawValue,
      operationCount: trace.events.count - trace.markCount, markCount: trace.markCount,
      crashPointCount: enumerator.table.crashPointCount, candidateCount: plan.candidates,
      distinctCount: plan.distinct, exploredCount: checkedCount,
      bound: plan.bound.description, isInterrupted: isCutShort && Interruption.isRequested,
      seconds: seconds, findings: [])
    report.isOutOfTime = isCutShort && !Interruption.isRequested ? true : nil
    report.shape = trace.shape
    let maker = try FindingMaker(enumerator: enumerator, model: model)
    for (offset, failure) in FailureClass.classify(failures).enumerated() {
      report.findings.append(
        try explain(
          failure, number: firstNumber + offset, keys: keys, maker: maker, trace: trace,
          ignoring: ignoredSyncs))
    }
    report.findings = RootCause.joined(report.findings, firstNumber: firstNumber)
    return report
  }

  private func check(
    _ plan: ExplorationPlan, of enumerator: CrashStateEnumerator, untilFirst: Bool,
    console: Console, keys: inout [Int: StateKey]
  ) throws(LabError) -> (failures: [Int: CheckResult], checkedCount: Int) {
    let pool = CheckerPool(checkers)
    let marks = enumerator.table.trace.acknowledgedPrefixes()
    let clock = ContinuousClock()
    let start = clock.now
    let total = plan.selectedCount(in: settings.shard)
    let limit = settings.timeBudgetSeconds.map { Duration.seconds($0) }
    var found: [Int: StateKey] = [:]
    var lastShown = start
    func show() {
      let seconds = max(0.001, start.duration(to: clock.now).inSeconds)
      console.progress(
        Self.progressLine(
          model: enumerator.table.model.name, done: pool.finishedCount, total: total,
          failures: pool.failureCount, rate: Double(pool.finishedCount) / seconds))
      lastShown = clock.now
    }
    show()
    do throws(LabError) {
      try enumerator.visit(plan, shard: settings.shard) { (explored, image) throws(LabError) in
        if let limit, start.duration(to: clock.now) >= limit { return .stop }
        if untilFirst && pool.failureCount > 0 { return .stop }
        found[explored.ordinal] = enumerator.key(of: explored.state)
        let isTaken = try pool.submit(
          StateJob(
            ordinal: explored.ordinal, tree: image.treeImage(),
            acknowledged: marks[explored.state.acknowledgedMarks]))
        guard isTaken else { return .stop }
        if lastShown.duration(to: clock.now) > .milliseconds(100) { show() }
        return .goOn
      }
    } catch {
      let failures = try? pool.finish()
      guard error.code == .interrupted, let failures else { throw error }
      keys = found
      return (failures, pool.finishedCount)
    }
    keys = found
    let failures = try pool.finish(progress: show)
    return (failures, pool.finishedCount)
  }

  private static func progressLine(
    model: String, done: Int, total: Int, failures: Int, rate: Double
  ) -> String {
    let line =
      "\(model): \(Formatting.grouped(done)) of \(Formatting.grouped(total)) states, "
      + "\(Formatting.grouped(failures)) failing"
    guard rate > 0 else { return line }
    return line + ", \(Int(rate)) states/s, \(Int(Double(total - done) / rate)) s left"
  }

  /// Makes a finding of a class of failures: confirms it, shrinks it, puts it in words.
  ///
  /// When the lab is asked to stop, the state is put in words as it was found.
  private func explain(
    _ failure: FailureClass, number: Int, keys: [Int: StateKey], maker: FindingMaker, trace: Trace,
    ignoring ignoredSyncs: [Int]
  ) throws(LabError) -> Finding {
    guard let key = keys[failure.firstOrdinal] else {
      throw .lab("state \(failure.firstOrdinal) failed but was never visited")
    }
    var state = try maker.enumerator.state(for: key)
    var result = failure.first
    do throws(LabError) {
      try Interruption.check()
      (state, result) = try shrink(state, of: failure, maker: maker, trace: trace)
    } catch {
      guard error.code == .interrupted else { throw error }
    }
    var recipe = ExploreRecipe(
      workload: program.workload, check: program.check, setup: program.setup,
      model: maker.model.specification, seed: settings.seed.rawValue,
      state: maker.enumerator.key(of: state).description, shape: trace.shape,
      timeoutSeconds: settings.timeoutSeconds)
    if !ignoredSyncs.isEmpty { recipe.ignoredSyncs = ignoredSyncs }
    recipe.writeBack = settings.writeBack
    var finding = try maker.finding(
      number: number, state: state, result: result, stateCount: failure.count,
      token: ReplayToken.encode(.explore(recipe)))
    finding.classKey = failure.key
    finding.firstOrdinal = failure.firstOrdinal
    return finding
  }

  /// Confirms a failing state and restores what need not be lost.
  private func shrink(
    _ state: CrashState, of failure: FailureClass, maker: FindingMaker, trace: Trace
  ) throws(LabError) -> (CrashState, CheckResult) {
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
          + "asked again: it depends on something outside the directory "
          + "(state \(maker.enumerator.key(of: state)))")
    }
    let smallest = try maker.shrink(state) { (candidate) throws(LabError) in
      FailureClass.key(of: try check(candidate)) == failure.key
    }
    return (smallest, try check(smallest))
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
