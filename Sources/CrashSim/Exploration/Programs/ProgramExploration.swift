// ProgramExploration.swift: one program's crash states under one model, or on one real file system:
// judged, grouped, shrunk and described.
// Invariant: the judged states and the order of findings depend only on the trace, the seed, the
// model and the budget.
// the seed, the model and the budget only.

import CrashStates
import Findings
import Foundation
import LabCore
import Recording

/// The target of one exploration.
package struct ExplorationTarget: Sendable {
  /// The recording: of files, or of the single file that is a real file system's device.
  let trace: Trace
  /// The model of possible states.
  var model: PersistenceModel
  /// The real file system of the recording, if any.
  let system: KernelFileSystem?
  /// What judges, side by side.
  let checkers: [any StateChecker]
  /// Syncs that the disk is to ignore; with some, only what they prevent is judged, up to the first
  /// state that fails.
  var ignoredSyncs: [Int] = []
  /// Why syncs of everything are missing in the recording; 0 if they are not.
  var syncsError: Int32 = 0

  /// The target's name in reports.
  var name: String { system.map { "on \($0)" } ?? model.name }

  /// Number of states that are checked unless the user sets it.
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
  /// The crashes before the recorded recovery; nil for the workload's own recording.
  var context: RecoveryContext?

  private var endsAtFirst: Bool { !target.ignoredSyncs.isEmpty }

  /// Everything acknowledged by this many marks of the recording.
  private func acknowledged(_ marks: Int) -> [UInt8] {
    Acknowledgements(target.trace, after: context?.acknowledged ?? [])[marks]
  }

  /// What those who judge without a checker need to know of crashes in a recovery.
  private var variables: [String: String] {
    guard let context, program.judging != nil else { return [:] }
    return [TraceChecker.workloadBytes: "\(context.workloadBytes)"]
  }

  private func makeEnumerator() throws(LabError) -> CrashStateEnumerator {
    try CrashStateEnumerator(
      trace: target.trace, model: target.model, seed: settings.seed, ignoring: target.ignoredSyncs)
  }

  private func makeMaker(_ enumerator: CrashStateEnumerator) throws(LabError) -> FindingMaker {
    try FindingMaker(enumerator: enumerator, model: target.model, on: target.system?.description)
  }

  /// Judges the state that a token names.
  /// - Throws: `LabError` with code `.usage` when the trace has no such state.
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
    let judge = judge(of: enumerator)
    let result = try judge.verdict(of: state)
    if !result.ending.isSuccess { try UnseenSyncs.refuse(target.syncsError, result.headline) }
    let maker = try makeMaker(enumerator)
    var finding = try maker.finding(
      number: 1, state: state, result: result, stateCount: 1,
      token: recipe.token, context: context?.text
    ) { (other) throws(LabError) in try judge.answer(of: other)?.ending.isSuccess ?? false }
    if let context { finding = context.completed(finding) }
    return (result, finding)
  }

  /// Judges the states selected by the budget.
  /// - Parameter firstNumber: Number of the first finding.
  /// - Returns: The extent of the exploration, and its findings.
  /// - Throws: `LabError` of the trace or of a checker.
  func explore(firstNumber: Int) throws(LabError) -> ExplorationReport {
    try explore(firstNumber: firstNumber, known: []).report
  }

  /// The same; for known classes of failures only the states are counted.
  func explore(
    firstNumber: Int, known: Set<String>
  ) throws(LabError) -> (report: ExplorationReport, known: [String: Int]) {
    let trace = target.trace
    let enumerator = try makeEnumerator()
    let plan = try enumerator.plan(
      budget: settings.budget ?? target.defaultBudget, inWaves: true)
    let clock = ContinuousClock()
    let start = clock.now
    var visit = Visit()
    var checkedCount = try check(plan, of: enumerator, known: known, into: &visit)
    var isCutShort = checkedCount < plan.selectedCount(in: settings.shard)
    if endsAtFirst, let first = visit.failures.keys.min(by: { plan.visits($0, before: $1) }) {
      // Concurrent checkers have continued a little further, by chance.
      visit.drop { plan.visits(first, before: $0) }
      checkedCount = visit.states.count
      isCutShort = false
    }
    let checking = start.duration(to: clock.now)
    var report = ExplorationReport(
      title: program.workload, model: target.name, seed: settings.seed.rawValue,
      operationCount: trace.events.count - trace.markCount, markCount: trace.markCount,
      crashPointCount: enumerator.table.crashPointCount, candidateCount: plan.candidates,
      distinctCount: plan.distinct, exploredCount: checkedCount,
      bound: plan.bound.description, isInterrupted: isCutShort && Interruption.isRequested,
      seconds: checking.inSeconds, findings: [])
    report.isOutOfTime = isCutShort && !Interruption.isRequested ? true : nil
    report.shape = trace.shape
    report.crashPoints = plan.counts(
      in: settings.shard, of: trace,
      checked: report.isInterrupted || endsAtFirst ? nil : { visit.states[$0] != nil },
      failures: visit.failures.keys.sorted())
    report.budgetOfEachCrashPoint = plan.budgetOfEachCrashPoint
    report.findingBudget = plan.budget(findingAnyOf: Set(visit.failures.keys))
    let classes = FailureClass.classify(visit.failures)
    report.findings = try explain(
      classes.filter { !known.contains($0.key) }, in: visit, after: checking,
      maker: try makeMaker(enumerator), firstNumber: firstNumber)
    report.findings = RootCause.joined(report.findings, firstNumber: firstNumber)
    let remarks = visit.remarks.all.compactMap { kind -> JudgingRemark? in
      guard let key = visit.states[kind.firstOrdinal]?.key else { return nil }
      return JudgingRemark(
        level: kind.level, text: kind.text, stateCount: kind.count,
        token: recipe(key, enumerator).token)
    }
    report.remarks = remarks.isEmpty ? nil : remarks
    let counts = classes.filter { known.contains($0.key) }.map { ($0.key, $0.count) }
    return (report, Dictionary(uniqueKeysWithValues: counts))
  }

  /// Has the checkers judge the states selected by the plan.
  /// - Returns: The number of states judged.
  private func check(
    _ plan: ExplorationPlan, of enumerator: CrashStateEnumerator, known knownClasses: Set<String>,
    into visit: inout Visit
  ) throws(LabError) -> Int {
    let known = settings.progress?.verdicts(of: target.name) ?? [:]
    let met = MetFindings(known: knownClasses)
    let remarks = visit.remarks
    let pool = CheckerPool(target.checkers, known: known) {
      [settings, target] ordinal, result in
      settings.progress?.note(result, ordinal: ordinal, of: target.name)
      remarks.note(result, of: ordinal)
      met.note(result, of: ordinal)
    }
    let acknowledgements = Acknowledgements(
      enumerator.table.trace, after: context?.acknowledged ?? [])
    let clock = ContinuousClock()
    let start = clock.now
    let total = plan.selectedCount(in: settings.shard)
    let limit = settings.timeBudgetSeconds.map { Duration.seconds($0) }
    var states: [Int: VisitedState] = [:]
    var lastShown = start
    func show() {
      let elapsed = start.duration(to: clock.now)
      if elapsed >= Self.longWork, !endsAtFirst, target.syncsError == 0 {
        while let (ordinal, result) = met.next() {
          guard let state = states[ordinal] else { continue }
          announce(result, in: state.key, enumerator)
        }
      }
      console.progress(
        ProgressLine(
          subject: target.name, done: pool.finishedCount, total: total,
          failures: pool.failureCount, seconds: elapsed.inSeconds
        ).text)
      lastShown = clock.now
    }
    show()
    var failures: [Int: CheckResult]
    do throws(LabError) {
      try enumerator.visit(plan, shard: settings.shard) { (explored, image) throws(LabError) in
        if let limit, start.duration(to: clock.now) >= limit { return .stop }
        if endsAtFirst && pool.failureCount > 0 { return .stop }
        let ordinal = explored.ordinal
        states[ordinal] = VisitedState(explored, key: enumerator.key(of: explored.state))
        met.expect(ordinal)
        if let verdict = known[ordinal] {
          if let verdict { remarks.note(verdict, of: ordinal) }
          met.note(verdict ?? .accepted, of: ordinal)
          return .goOn
        }
        let isTaken = try pool.submit(
          StateJob(
            ordinal: ordinal, tree: image.treeImage(),
            acknowledged: acknowledgements[explored.state.acknowledgedMarks],
            variables: variables))
        guard isTaken else { return .stop }
        if lastShown.duration(to: clock.now) > .milliseconds(100) { show() }
        return .goOn
      }
      failures = try pool.finish(progress: show)
    } catch {
      guard error.code == .interrupted, let judged = try? pool.finish() else { throw error }
      failures = judged
    }
    visit = Visit(states: states, failures: failures, remarks: remarks)
    return pool.finishedCount
  }

  /// Longer work is reported while it continues, also on the console of a CI job.
  private static let longWork = Duration.seconds(5)

  /// Prints a failure that has not been explained yet.
  private func announce(
    _ result: CheckResult, in key: StateKey, _ enumerator: CrashStateEnumerator
  ) {
    console.say(
      "  \(target.name): met '\(result.headline)' in a state of crash point \(key.crashPoint) of "
        + "\(enumerator.table.crashPointCount - 1)")
    console.say("    replay: faultline replay \(recipe(key, enumerator).token)")
  }

  /// Makes findings of failure classes, within a share of the time that finding them took.
  private func explain(
    _ classes: [FailureClass], in visit: Visit, after checking: Duration, maker: FindingMaker,
    firstNumber: Int
  ) throws(LabError) -> [Finding] {
    if classes.isEmpty { return [] }
    let clock = ContinuousClock()
    let start = clock.now
    let limit =
      settings.explainSeconds.map { Duration.seconds($0) } ?? max(Self.explainLeast, checking / 2)
    let isLong = checking >= Self.longWork && !endsAtFirst
    if isLong {
      console.say(
        "  \(target.name): explaining \(Formatting.counted(classes.count, "finding")), at most "
          + "\(Formatting.fixed(limit.inSeconds, 0)) s (--explain-time)")
    }
    let judge = judge(of: maker.enumerator, known: visit.verdicts)
    var findings: [Finding] = []
    for (place, failure) in classes.enumerated() {
      var lastShown: ContinuousClock.Instant?
      judge.onCall = {
        if let lastShown, lastShown.duration(to: clock.now) < .milliseconds(100) { return }
        lastShown = clock.now
        console.progress(
          "\(target.name): explaining finding \(place + 1) of \(classes.count), "
            + Formatting.counted(judge.callCount, "check"))
      }
      // Time that one class does not use is available to the next ones.
      judge.limit(to: (limit - start.duration(to: clock.now)) / (classes.count - place))
      guard let key = visit.states[failure.firstOrdinal]?.key else {
        throw .internalError("state \(failure.firstOrdinal) failed but was never visited")
      }
      findings.append(
        try explain(failure, first: key, number: firstNumber + place, maker: maker, judge))
      if isLong {
        console.say(
          "  \(target.name): explained \(place + 1) of \(classes.count)"
            + (judge.isCutShort ? ", in part" : "") + ": \(failure.first.headline)")
      }
    }
    return findings
  }

  /// The minimum time for explaining.
  private static let explainLeast = Duration.seconds(20)

  /// Makes a finding of a failure class: confirms it, shrinks it, describes it.
  ///
  /// When Faultline is asked to stop, the original state is described.
  private func explain(
    _ failure: FailureClass, first key: StateKey, number: Int, maker: FindingMaker,
    _ judge: StateJudge
  ) throws(LabError) -> Finding {
    try UnseenSyncs.refuse(target.syncsError, failure.first.headline)
    var state = try maker.enumerator.state(for: key)
    var result = failure.first
    do throws(LabError) {
      try Interruption.check()
      (state, result) = try shrink(state, of: failure, maker: maker, judge)
    } catch {
      guard error.code == .interrupted else { throw error }
    }
    var finding = try maker.finding(
      number: number, state: state, result: result, stateCount: failure.count,
      token: recipe(maker.enumerator.key(of: state), maker.enumerator).token,
      context: context?.text
    ) { (other) throws(LabError) in try judge.answer(of: other)?.ending.isSuccess ?? false }
    finding.classKey = failure.key
    finding.firstOrdinal = failure.firstOrdinal
    if judge.isCutShort { finding.isExplainedInPart = true }
    if let context { finding = context.completed(finding) }
    return finding
  }

  /// The recipe that replays a state of this exploration.
  private func recipe(_ key: StateKey, _ enumerator: CrashStateEnumerator) -> ExploreRecipe {
    var recipe = ExploreRecipe(
      workload: program.workload, check: program.check, setup: program.setup,
      model: target.model.specification, seed: settings.seed.rawValue, state: key.description,
      shape: context?.workloadShape ?? target.trace.shape(ofFirst: key.crashPoint),
      timeoutSeconds: settings.timeoutSeconds)
    recipe.judging = program.judging
    recipe.fileSystem = target.system?.description
    recipe.writeBack = settings.writeBack
    recipe.directAlignment = settings.directAlignment
    recipe.marks = settings.marks
    if program.checkStays { recipe.checkStays = true }
    recipe.faults = settings.faults.isEmpty ? nil : settings.faults
    // Without a checker, the recovery comes before every judgement.
    let recovers = context != nil || program.judging != nil
    recipe.recover = recovers ? program.recovery?.command : nil
    recipe.recovered = context?.crashes
    if !target.ignoredSyncs.isEmpty { recipe.ignoredSyncs = target.ignoredSyncs }
    recipe.runsFsck = target.system != nil && settings.runsFsck ? true : nil
    return recipe
  }

  /// The first checker, for queries about states of an enumerator.
  private func judge(
    of enumerator: CrashStateEnumerator, known: [StateIdentity: CheckResult] = [:]
  ) -> StateJudge {
    StateJudge(enumerator, known: known) { (image, marks) throws(LabError) in
      try target.checkers[0].check(
        image.treeImage(), acknowledged: acknowledged(marks), variables: variables)
    }
  }

  /// Confirms a failing state and restores what need not be lost.
  private func shrink(
    _ state: CrashState, of failure: FailureClass, maker: FindingMaker, _ judge: StateJudge
  ) throws(LabError) -> (CrashState, CheckResult) {
    if judge.isTimeUp { return (state, failure.first) }
    let again = try judge.verdict(of: state)
    guard !again.ending.isSuccess else {
      throw LabError(
        .nondeterminism,
        "the checker said '\(failure.first.headline)' about a state, and accepted it when asked "
          + "again: it depends on something outside the directory "
          + "(state \(maker.enumerator.key(of: state)))")
    }
    // On damaged data a library may fail differently each time: the state still fails.
    guard FailureClass.key(of: again) == failure.key else {
      return (state, failure.first.noting("asked again, the checker said: \(again.headline)"))
    }
    let smallest = try maker.shrink(state) { (candidate) throws(LabError) in
      try judge.answer(of: candidate).map(FailureClass.key) == failure.key
    }
    let last = try judge.answer(of: smallest) ?? again
    guard FailureClass.key(of: last) == failure.key else { return (state, again) }
    return (smallest, last)
  }
}

/// A state that was passed to a checker.
private struct VisitedState {
  let key: StateKey
  let identity: StateIdentity

  init(_ explored: ExploredState, key: StateKey) {
    self.key = key
    identity = StateIdentity(
      content: explored.contentHash, marks: explored.state.acknowledgedMarks)
  }
}

/// The results for a plan's states, by ordinal.
private struct Visit {
  private(set) var states: [Int: VisitedState] = [:]
  private(set) var failures: [Int: CheckResult] = [:]
  /// What was said of states that break nothing.
  let remarks: MetRemarks

  init(
    states: [Int: VisitedState] = [:], failures: [Int: CheckResult] = [:],
    remarks: MetRemarks = MetRemarks()
  ) {
    self.states = states
    self.failures = failures
    self.remarks = remarks
  }

  /// Drops some states.
  mutating func drop(where isUnwanted: (Int) -> Bool) {
    states = states.filter { !isUnwanted($0.key) }
    failures = failures.filter { !isUnwanted($0.key) }
  }

  /// All verdicts, for later queries about the same states.
  var verdicts: [StateIdentity: CheckResult] {
    Dictionary(
      states.map { ($0.value.identity, failures[$0.key] ?? .accepted) },
      uniquingKeysWith: { first, _ in first })
  }
}

extension CheckResult {
  /// The result of a checker that accepts a state.
  fileprivate static let accepted = CheckResult(ending: .exited(0), output: "")
}
