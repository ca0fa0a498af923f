// ProgramExploration.swift: one program's crash states under one model, or on one real file system:
// judged, grouped, shrunk and put in words.
// Invariant: which states are judged, and in which order findings are listed, depends on the trace,
// the seed, the model and the budget only.

import CrashStates
import Findings
import Foundation
import LabCore
import Recording

/// What one exploration goes through.
package struct ExplorationTarget: Sendable {
  /// The recording: of files, or of the one file that a real file system's device is.
  let trace: Trace
  /// Which states there are.
  var model: PersistenceModel
  /// The real file system of the recording, if it was one.
  let system: KernelFileSystem?
  /// What judges, side by side.
  let checkers: [CommandChecker]
  /// Syncs that the disk is to ignore; with some, only what they prevent is judged, up to the first
  /// state that fails.
  var ignoredSyncs: [Int] = []

  /// What reports call it.
  var name: String { system.map { "on \($0)" } ?? model.name }

  /// States that are checked unless the user says otherwise.
  var defaultBudget: Int {
    system == nil
      ? ProgramExplorer.defaultBudget : ProgramExplorer.defaultBudgetOfFileSystem
  }
}

/// The exploration of one target.
struct ProgramExploration {
  let program: ProgramUnderTest
  var settings: ExplorationSettings
  let target: ExplorationTarget
  let console: Console
  /// The crashes before the recovery that the recording is of; nil of the workload's own.
  var context: RecoveryContext?

  private var endsAtFirst: Bool { !target.ignoredSyncs.isEmpty }

  /// What was acknowledged after so many marks of the recording.
  private func acknowledged(_ marks: Int) -> [UInt8] {
    Acknowledgements(target.trace, after: context?.acknowledged ?? [])[marks]
  }

  private func makeEnumerator() throws(LabError) -> CrashStateEnumerator {
    try CrashStateEnumerator(
      trace: target.trace, model: target.model, seed: settings.seed, ignoring: target.ignoredSyncs)
  }

  private func makeMaker(_ enumerator: CrashStateEnumerator) throws(LabError) -> FindingMaker {
    try FindingMaker(enumerator: enumerator, model: target.model, on: target.system?.description)
  }

  /// Judges the one state that a token names.
  /// - Throws: `LabError` with code `.usage` when the token names no state of the trace.
  func replay(
    _ recipe: ExploreRecipe, keepingImageIn directory: String?
  ) throws(LabError) -> (result: CheckResult, finding: Finding) {
    let enumerator = try makeEnumerator()
    guard let key = StateKey(parsing: recipe.state) else {
      throw .usage("the token's state '\(recipe.state)' cannot be read")
    }
    let state = try enumerator.state(for: key)
    if let directory {
      try enumerator.withImage(of: state) { (image) throws(LabError) in
        try CrashDirectory.keep(image.treeImage(), in: directory)
      }
    }
    let judge = judgement(of: enumerator)
    let result = try judge(state)
    let maker = try makeMaker(enumerator)
    var finding = try maker.finding(
      number: 1, state: state, result: result, stateCount: 1,
      token: recipe.token, context: context?.text
    ) { (other) throws(LabError) in try judge(other).ending.isSuccess }
    if let context { finding = context.completed(finding) }
    return (result, finding)
  }

  /// Judges the states that the budget selects.
  /// - Parameter firstNumber: Number of the first finding.
  /// - Returns: How far it went, and what it found.
  /// - Throws: `LabError` of the trace or of a checker.
  func explore(firstNumber: Int) throws(LabError) -> ExplorationReport {
    try explore(firstNumber: firstNumber, known: []).report
  }

  /// The same; of classes of failures that are known already only the states are counted.
  func explore(
    firstNumber: Int, known: Set<String>
  ) throws(LabError) -> (report: ExplorationReport, known: [String: Int]) {
    let trace = target.trace
    let enumerator = try makeEnumerator()
    let plan = try enumerator.plan(
      budget: settings.budget ?? target.defaultBudget, inWaves: true)
    let clock = ContinuousClock()
    let start = clock.now
    var keys: [Int: StateKey] = [:]
    var (failures, checkedCount) = try check(plan, of: enumerator, keys: &keys)
    var isCutShort = checkedCount < plan.selectedCount(in: settings.shard)
    if endsAtFirst, let first = failures.keys.min(by: { plan.visits($0, before: $1) }) {
      // Checkers side by side have gone a little further, by chance.
      failures = failures.filter { $0.key == first }
      checkedCount = keys.keys.count { !plan.visits(first, before: $0) }
      isCutShort = false
    }
    let seconds = start.duration(to: clock.now).inSeconds
    var report = ExplorationReport(
      title: program.workload, model: target.name, seed: settings.seed.rawValue,
      operationCount: trace.events.count - trace.markCount, markCount: trace.markCount,
      crashPointCount: enumerator.table.crashPointCount, candidateCount: plan.candidates,
      distinctCount: plan.distinct, exploredCount: checkedCount,
      bound: plan.bound.description, isInterrupted: isCutShort && Interruption.isRequested,
      seconds: seconds, findings: [])
    report.isOutOfTime = isCutShort && !Interruption.isRequested ? true : nil
    report.shape = trace.shape
    report.crashPoints = plan.counts(
      in: settings.shard, isCounted: !isCutShort && !endsAtFirst,
      failures: failures.keys.sorted())
    let maker = try makeMaker(enumerator)
    let classes = FailureClass.classify(failures)
    for failure in classes where !known.contains(failure.key) {
      let number = firstNumber + report.findings.count
      report.findings.append(try explain(failure, number: number, keys: keys, maker: maker))
    }
    report.findings = RootCause.joined(report.findings, firstNumber: firstNumber)
    let counts = classes.filter { known.contains($0.key) }.map { ($0.key, $0.count) }
    return (report, Dictionary(uniqueKeysWithValues: counts))
  }

  private func check(
    _ plan: ExplorationPlan, of enumerator: CrashStateEnumerator, keys: inout [Int: StateKey]
  ) throws(LabError) -> (failures: [Int: CheckResult], checkedCount: Int) {
    let known = settings.progress?.verdicts(of: target.name) ?? [:]
    let pool = CheckerPool(target.checkers, known: known) { [settings, target] ordinal, result in
      settings.progress?.note(result, ordinal: ordinal, of: target.name)
    }
    let acknowledgements = Acknowledgements(
      enumerator.table.trace, after: context?.acknowledged ?? [])
    let clock = ContinuousClock()
    let start = clock.now
    let total = plan.selectedCount(in: settings.shard)
    let limit = settings.timeBudgetSeconds.map { Duration.seconds($0) }
    var found: [Int: StateKey] = [:]
    var lastShown = start
    func show() {
      console.progress(
        ProgressLine(
          subject: target.name, done: pool.finishedCount, total: total,
          failures: pool.failureCount, seconds: start.duration(to: clock.now).inSeconds
        ).text)
      lastShown = clock.now
    }
    show()
    do throws(LabError) {
      try enumerator.visit(plan, shard: settings.shard) { (explored, image) throws(LabError) in
        if let limit, start.duration(to: clock.now) >= limit { return .stop }
        if endsAtFirst && pool.failureCount > 0 { return .stop }
        found[explored.ordinal] = enumerator.key(of: explored.state)
        if known[explored.ordinal] != nil { return .goOn }
        let isTaken = try pool.submit(
          StateJob(
            ordinal: explored.ordinal, tree: image.treeImage(),
            acknowledged: acknowledgements[explored.state.acknowledgedMarks]))
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

  /// Makes a finding of a class of failures: confirms it, shrinks it, puts it in words.
  ///
  /// When the lab is asked to stop, the state is put in words as it was found.
  private func explain(
    _ failure: FailureClass, number: Int, keys: [Int: StateKey], maker: FindingMaker
  ) throws(LabError) -> Finding {
    guard let key = keys[failure.firstOrdinal] else {
      throw .lab("state \(failure.firstOrdinal) failed but was never visited")
    }
    var state = try maker.enumerator.state(for: key)
    let judge = judgement(of: maker.enumerator)
    var result = failure.first
    do throws(LabError) {
      try Interruption.check()
      (state, result) = try shrink(state, of: failure, maker: maker, judge)
    } catch {
      guard error.code == .interrupted else { throw error }
    }
    var recipe = ExploreRecipe(
      workload: program.workload, check: program.check, setup: program.setup,
      model: maker.model.specification, seed: settings.seed.rawValue,
      state: maker.enumerator.key(of: state).description,
      shape: context?.workloadShape ?? target.trace.shape(ofFirst: state.crashPoint),
      timeoutSeconds: settings.timeoutSeconds)
    recipe.fileSystem = target.system?.description
    recipe.writeBack = settings.writeBack
    recipe.recover = context == nil ? nil : program.recovery?.command
    recipe.recovered = context?.crashes
    if !target.ignoredSyncs.isEmpty { recipe.ignoredSyncs = target.ignoredSyncs }
    recipe.runsFsck = target.system != nil && settings.runsFsck ? true : nil
    var finding = try maker.finding(
      number: number, state: state, result: result, stateCount: failure.count,
      token: recipe.token, context: context?.text
    ) { (other) throws(LabError) in try judge(other).ending.isSuccess }
    finding.classKey = failure.key
    finding.firstOrdinal = failure.firstOrdinal
    if let context { finding = context.completed(finding) }
    return finding
  }

  /// The checker, asked about states of an enumerator; cheap for one crash point after the other.
  private func judgement(
    of enumerator: CrashStateEnumerator
  ) -> (CrashState) throws(LabError) -> CheckResult {
    var images: CrashPointImages?
    return { (state) throws(LabError) in
      if images?.crashPoint != state.crashPoint {
        // A large file is in memory once.
        images = nil
        images = try CrashPointImages(table: enumerator.table, at: state.crashPoint)
      }
      guard let images else { preconditionFailure("just made") }
      let tree = try images.withImage(of: state) { (image) throws(LabError) in image.treeImage() }
      return try target.checkers[0].check(
        tree, acknowledged: acknowledged(state.acknowledgedMarks))
    }
  }

  /// Confirms a failing state and restores what need not be lost.
  private func shrink(
    _ state: CrashState, of failure: FailureClass, maker: FindingMaker,
    _ judge: (CrashState) throws(LabError) -> CheckResult
  ) throws(LabError) -> (CrashState, CheckResult) {
    let again = try judge(state)
    guard !again.ending.isSuccess else {
      throw LabError(
        .nondeterminism,
        "the checker said '\(failure.first.headline)' about a state, and accepted it when asked "
          + "again: it depends on something outside the directory "
          + "(state \(maker.enumerator.key(of: state)))")
    }
    // On damaged data a library may do anything, each time something else: it fails all the same.
    guard FailureClass.key(of: again) == failure.key else {
      return (state, failure.first.noting("asked again, the checker said: \(again.headline)"))
    }
    let smallest = try maker.shrink(state) { (candidate) throws(LabError) in
      FailureClass.key(of: try judge(candidate)) == failure.key
    }
    let last = try judge(smallest)
    guard FailureClass.key(of: last) == failure.key else { return (state, again) }
    return (smallest, last)
  }
}
