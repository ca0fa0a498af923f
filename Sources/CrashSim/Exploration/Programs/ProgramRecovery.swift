// ProgramRecovery.swift: power failures while a program recovers from a crash.
// A crash state of the workload is put on a mount, the program's recovery is recorded there, and
// the crash states of that recording are judged like those of the workload; with more depth the
// recovery in turn runs on some of them.
// Invariants: the states that recover and the order of findings depend only on the trace, the seed,
// the model and the bounds; a finding names every crash on its path.

import CrashStates
import Findings
import Foundation
import LabCore
import Recording

/// A program's recovery, and how far it is explored.
public struct ProgramRecovery: Sendable, Hashable {
  /// Shell command for the recovery, run in the crashed directory.
  public var command: String
  /// Number of consecutive recoveries in which power fails again.
  public var depth = 1
  /// Most crash states of the workload on which the recovery is recorded.
  public var statesMax = Self.defaultStatesMax

  /// More is rejected: each level multiplies the states.
  public static let depthMax = 3
  /// Most crash states of the workload that recover, unless the user sets it.
  public static let defaultStatesMax = 200

  /// Number of crash states of one recovery that are judged, level by level.
  var budgets: [Int] { depth == 1 ? [64] : Array([24, 8, 4].prefix(depth)) }
  /// Number of crash states of one recovery from which the next recovery starts.
  var nextMax: Int { 4 }

  /// A recovery with depth 1.
  public init(command: String) { self.command = command }
}

/// The history before a recovery: its crash, and the crashes before it.
struct RecoveryContext: Sendable {
  /// Shape of the recording of the workload.
  let workloadShape: String
  private(set) var crashes: [RecoveredCrash] = []
  /// What was acknowledged before the last of them, and by which marks.
  private(set) var acknowledged: [UInt8] = []
  private var marks: [Mark] = []
  /// Bytes that the workload itself had printed.
  private(set) var workloadBytes = 0

  init(workloadShape: String) { self.workloadShape = workloadShape }

  func acknowledged(and later: ArraySlice<Mark>) -> [UInt8] {
    acknowledged + later.flatMap(\.bytes)
  }

  /// The description in words.
  var text: String {
    let which = crashes.count == 1 ? "in the recovery" : "in recovery \(crashes.count)"
    return "\(which) from the crash state \(crashes.last?.state ?? "")"
  }

  /// The context after another crash and the recovery from it.
  /// - Parameters:
  ///   - key: The crash state.
  ///   - marks: The acknowledgements since the previous crash.
  ///   - recovery: The recording of the recovery.
  /// - Returns: The context of the next recovery.
  func following(_ key: StateKey, _ marks: ArraySlice<Mark>, _ recovery: Trace) -> RecoveryContext {
    var next = self
    if crashes.isEmpty { next.workloadBytes = marks.reduce(0) { $0 + $1.bytes.count } }
    next.crashes.append(RecoveredCrash(state: key.description, shape: recovery.shape))
    next.marks += marks
    next.acknowledged = next.marks.flatMap(\.bytes)
    return next
  }

  /// The finding of a crash in the recovery, with everything acknowledged before it.
  ///
  /// Its numbers are those of the recovery's recording, for which reports have no timeline.
  func completed(_ finding: Finding) -> Finding {
    var finding = finding
    finding.evidence = nil
    finding.acknowledgedCount += marks.count
    finding.lastAcknowledged =
      finding.lastAcknowledged
      ?? marks.last.map { $0.text.trimmingCharacters(in: .whitespacesAndNewlines) }
    return finding
  }
}

/// The exploration of a program's recoveries under one model.
package struct ProgramRecoveryExploration {
  let program: ProgramUnderTest
  let recovery: ProgramRecovery
  let settings: ExplorationSettings
  /// The exploration of the workload.
  let target: ExplorationTarget
  let recorder: ProgramRecorder
  let console: Console

  /// The name in reports.
  private var name: String { "\(target.name), then its recovery" }

  /// A crash state from which a recovery starts.
  private struct Beginning {
    let key: StateKey
    let tree: TreeImage
    /// The marks since the previous crash.
    let marks: ArraySlice<Mark>
  }

  /// Records the recovery on crash states of the workload, and judges the crash states in it.
  func explore(firstNumber: Int) throws(LabError) -> ExplorationReport {
    let clock = ContinuousClock()
    let start = clock.now
    var report = emptyReport()
    let beginnings = try self.beginnings(
      of: target.trace, budget: recovery.statesMax, shard: settings.shard)
    try refuseBadRecovery()
    do throws(LabError) {
      for (number, beginning) in beginnings.enumerated() {
        let elapsed = start.duration(to: clock.now).inSeconds
        if let limit = settings.timeBudgetSeconds, elapsed >= Double(limit) {
          report.isOutOfTime = true
          break
        }
        console.progress("\(name): \(number) of \(beginnings.count) crash states recovered")
        try recover(
          from: beginning, of: target.trace, after: undisturbed, firstNumber, &report)
      }
    } catch {
      guard error.code == .interrupted else { throw error }
      report.isInterrupted = true
    }
    report.candidateCount = report.exploredCount
    report.distinctCount = report.exploredCount
    report.bound = "\(report.exploredCount)"
    report.seconds = start.duration(to: clock.now).inSeconds
    return report
  }

  private var undisturbed: RecoveryContext {
    RecoveryContext(workloadShape: target.trace.shape)
  }

  /// A recovery that fails without any crash would make every state a finding.
  private func refuseBadRecovery() throws(LabError) {
    let trace = target.trace
    let recorded = try recorder.recordRecovery(
      recovery.command, from: trace.final, acknowledged: trace.acknowledged(trace.markCount))
    guard let refusal = recorded.refusal else { return }
    throw .usage(
      "your recovery fails without any crash (on the directory after the workload): "
        + "\(recorded.ending)\n\(refusal.output.quotedLines)")
  }

  private func emptyReport() -> ExplorationReport {
    ExplorationReport(
      title: recovery.command, model: name, seed: settings.seed.rawValue, operationCount: 0,
      markCount: 0, crashPointCount: 0, candidateCount: 0, distinctCount: 0, exploredCount: 0,
      bound: "", seconds: 0, findings: [])
  }

  /// The crash states of a recording from which recovery is tried.
  private func beginnings(
    of trace: Trace, budget: Int, shard: Shard
  ) throws(LabError) -> [Beginning] {
    let enumerator = try CrashStateEnumerator(
      trace: trace, model: target.model, seed: settings.seed)
    let marks = trace.marks
    var beginnings: [Beginning] = []
    try enumerator.visit(try enumerator.plan(budget: budget, inWaves: true), shard: shard) {
      (explored, image) throws(LabError) in
      beginnings.append(
        Beginning(
          key: enumerator.key(of: explored.state), tree: image.treeImage(),
          marks: marks.prefix(explored.state.acknowledgedMarks)))
      return .goOn
    }
    return beginnings
  }

  /// Recovers once, judges the crashes during recovery, and continues with the next level.
  private func recover(
    from beginning: Beginning, of trace: Trace, after context: RecoveryContext, _ firstNumber: Int,
    _ report: inout ExplorationReport
  ) throws(LabError) {
    try Interruption.check()
    let recorded = try recorder.recordRecovery(
      recovery.command, from: beginning.tree,
      acknowledged: context.acknowledged(and: beginning.marks))
    let next = context.following(beginning.key, beginning.marks, recorded.trace)
    if let refusal = recorded.refusal {
      return try refuse(refusal, beginning, trace, next, after: context, firstNumber, &report)
    }
    let level = context.crashes.count
    var exploration = self.exploration(of: recorded.trace, next)
    exploration.settings.budget = recovery.budgets[level]
    let known = Set(report.findings.compactMap(\.classKey))
    report.add(
      try exploration.explore(firstNumber: firstNumber + report.findings.count, known: known))
    guard level + 1 < recovery.depth else { return }
    for deeper in try beginnings(
      of: recorded.trace, budget: recovery.nextMax, shard: .whole)
    {
      try recover(from: deeper, of: recorded.trace, after: next, firstNumber, &report)
    }
  }

  private func exploration(of trace: Trace, _ context: RecoveryContext) -> ProgramExploration {
    var settings = self.settings
    settings.shard = .whole
    settings.progress = nil
    settings.timeBudgetSeconds = nil
    let target = ExplorationTarget(
      trace: trace, model: target.model, system: nil, checkers: target.checkers)
    var exploration = ProgramExploration(
      program: program, settings: settings, target: target, console: console)
    exploration.context = context
    return exploration
  }

  /// A crash state on which the recovery itself fails.
  private func refuse(
    _ refusal: CheckResult, _ beginning: Beginning, _ trace: Trace, _ next: RecoveryContext,
    after context: RecoveryContext, _ firstNumber: Int, _ report: inout ExplorationReport
  ) throws(LabError) {
    report.exploredCount += 1
    let key = FailureClass.key(of: refusal)
    if let index = report.findings.firstIndex(where: { $0.classKey == key }) {
      report.findings[index].stateCount += 1
      return
    }
    report.findings.append(
      try finding(
        refusal, beginning.key, trace, next, after: context,
        number: firstNumber + report.findings.count))
  }

  private func finding(
    _ refusal: CheckResult, _ key: StateKey, _ trace: Trace, _ next: RecoveryContext,
    after context: RecoveryContext, number: Int
  ) throws(LabError) -> Finding {
    let enumerator = try CrashStateEnumerator(
      trace: trace, model: target.model, seed: settings.seed)
    var recipe = ExploreRecipe(
      workload: program.workload, check: program.check, setup: program.setup,
      model: target.model.specification, seed: settings.seed.rawValue,
      state: RecoveredCrash.refusal, shape: target.trace.shape,
      timeoutSeconds: settings.timeoutSeconds)
    recipe.writeBack = settings.writeBack
    recipe.directAlignment = settings.directAlignment
    recipe.marks = settings.marks
    if program.checkStays { recipe.checkStays = true }
    recipe.judging = program.judging
    recipe.recover = recovery.command
    recipe.recovered = next.crashes
    var finding = try FindingMaker(enumerator: enumerator, model: target.model).finding(
      number: number, state: try enumerator.state(for: key), result: refusal, stateCount: 1,
      token: recipe.token,
      context: context.crashes.isEmpty ? nil : context.text)
    finding.classKey = FailureClass.key(of: refusal)
    return context.completed(finding)
  }

  // MARK: - Replay

  /// A crash on the path to a token's state, and the recovery from it.
  private struct Passage {
    let cut: CutRecording
    let tree: TreeImage
    let recorded: RecordedRecovery
    /// The contexts before the crash and before the next one.
    let before: RecoveryContext
    let after: RecoveryContext
  }

  /// Repeats the crashes of a token, and records the recovery from each again.
  /// - Throws: `LabError` with code `.nondeterminism` when a recovery's behavior has changed.
  private func passages(_ crashes: [RecoveredCrash]) throws(LabError) -> [Passage] {
    guard (1...ProgramRecovery.depthMax).contains(crashes.count) else {
      throw .usage("the token names \(crashes.count) recoveries")
    }
    var passages: [Passage] = []
    for crash in crashes {
      let trace = passages.last?.recorded.trace ?? target.trace
      let before = passages.last?.after ?? undisturbed
      let enumerator = try CrashStateEnumerator(
        trace: trace, model: target.model, seed: settings.seed)
      let (key, state) = try Self.state(crash.state, of: enumerator.table)
      let tree = try enumerator.withImage(of: state) { (image) throws(LabError) in
        image.treeImage()
      }
      let marks = trace.marks.prefix(state.acknowledgedMarks)
      let recorded = try recorder.recordRecovery(
        recovery.command, from: tree, acknowledged: before.acknowledged(and: marks))
      guard recorded.trace.shape == crash.shape else {
        throw LabError(
          .nondeterminism,
          "the recovery did something else this time (trace shape \(recorded.trace.shape), the "
            + "token names \(crash.shape)): the token belongs to another version of the program")
      }
      passages.append(
        Passage(
          cut: CutRecording(table: enumerator.table, state: state), tree: tree, recorded: recorded,
          before: before, after: before.following(key, marks, recorded.trace)))
    }
    return passages
  }

  private static func state(
    _ text: String, of table: UnitTable
  ) throws(LabError) -> (key: StateKey, state: CrashState) {
    guard let key = StateKey(parsing: text) else {
      throw .usage("the token's state '\(text)' cannot be read")
    }
    return (key, try table.state(for: key))
  }

  /// Repeats the crashes of a token, and judges its state.
  /// - Throws: `LabError` with code `.nondeterminism` when a recovery's behavior has changed.
  func replay(
    _ recipe: ExploreRecipe, through crashes: [RecoveredCrash], keepingImageIn directory: String?
  ) throws(LabError) -> (result: CheckResult, finding: Finding) {
    let passages = try passages(crashes)
    guard let last = passages.last else { throw .usage("the token names no recovery") }
    guard recipe.state == RecoveredCrash.refusal else {
      return try exploration(of: last.recorded.trace, last.after)
        .replay(recipe, keepingImageIn: directory)
    }
    if let directory { try CrashDirectory.keep(last.tree, in: directory) }
    let held = CheckResult(ending: last.recorded.ending, output: last.recorded.output)
    let result = last.recorded.refusal ?? held
    let table = last.cut.table
    return (
      result,
      try finding(
        result, StateKey(last.cut.state, of: table), table.trace, last.after, after: last.before,
        number: 1)
    )
  }

  /// Repeats the crashes of a token, starting before the first event of the workload.
  /// - Throws: `LabError` with code `.nondeterminism` when a recovery's behavior has changed.
  package func walk(
    _ recipe: ExploreRecipe, through crashes: [RecoveredCrash]
  ) throws(LabError) -> FailureWalk {
    let passages = try passages(crashes)
    guard let recorded = passages.last?.recorded else {
      throw .usage("the token names no recovery")
    }
    let table = try UnitTable(trace: recorded.trace, model: target.model)
    let cuts = passages.map(\.cut)
    if recipe.state == RecoveredCrash.refusal {
      let text = "the recovery ends with \(recorded.ending)"
      return try FailureWalk(cuts, refusal: (table, text))
    }
    let (_, state) = try Self.state(recipe.state, of: table)
    return try FailureWalk(cuts + [CutRecording(table: table, state: state)])
  }
}

extension ExplorationReport {
  /// Adds the states and findings of one recovery; known classes are only counted.
  fileprivate mutating func add(_ inner: (report: ExplorationReport, known: [String: Int])) {
    operationCount += inner.report.operationCount
    markCount += inner.report.markCount
    crashPointCount += inner.report.crashPointCount
    exploredCount += inner.report.exploredCount
    for index in findings.indices {
      guard let key = findings[index].classKey, let count = inner.known[key] else { continue }
      findings[index].stateCount += count
    }
    findings += inner.report.findings
    if inner.report.isInterrupted { isInterrupted = true }
  }
}
