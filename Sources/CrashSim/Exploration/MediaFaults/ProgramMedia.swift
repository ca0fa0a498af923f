// ProgramMedia.swift: faults of the medium at rest in the files of any program: the checker decides
// whether the content is right, and may report that the program detected the damage.
// Invariant: the judged states depend only on the recording, the options and the seed.

import CrashStates
import Findings
import Foundation
import LabCore
import Recording

/// The possible faults of a medium in a program's files.
public struct ProgramMedia: Sendable, Hashable {
  /// The kinds of faults.
  public var kinds = MediumFault.Kind.allCases
  /// Glob over the files.
  public var fileGlob = "**"
  /// With at most this many faults the content must be right, not only the damage detected.
  public var survivedCount = 0

  /// The exit status by which a checker reports that the program detected the damage.
  public static let detectedStatus: Int32 = 77
  /// The environment variable that passes that status to the checker.
  package static let detectedVariable = "FAULTLINE_DETECTED"
  /// Most faults in a state.
  public static let faultsMax = 2

  /// Every kind in every file, with no promise to survive any.
  public init() {}

  /// The kinds named by a text: several separated by commas, or `all`.
  /// - Throws: `LabError` with code `.usage`.
  public static func kinds(parsing text: String) throws(LabError) -> [MediumFault.Kind] {
    if text == "all" { return MediumFault.Kind.allCases }
    var chosen: [MediumFault.Kind] = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let kind = MediumFault.Kind(rawValue: String(word)) else {
        let names = MediumFault.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        throw .usage("--media \(text.prefix(60)): write all, or some with commas of: \(names)")
      }
      chosen.append(kind)
    }
    return MediumFault.Kind.allCases.filter { chosen.contains($0) }
  }

  /// The same as a scenario's declaration.
  func declaration(budget: Int?) -> MediaDeclaration {
    var declaration = MediaDeclaration()
    declaration.kinds = kinds
    declaration.fileGlob = fileGlob
    declaration.each = min(survivedCount + 1, Self.faultsMax)
    declaration.budgetStates = budget ?? MediaDeclaration.defaultBudget
    return declaration
  }

  /// Whether a checker's answer for this many faults breaks the promise.
  func isBroken(by result: CheckResult, faultCount: Int) -> Bool {
    if result.ending.isSuccess { return false }
    return result.ending != .exited(Self.detectedStatus) || faultCount <= survivedCount
  }
}

/// The exploration of a medium's faults in one program's files.
struct ProgramMediaExploration {
  let program: ProgramUnderTest
  let settings: ExplorationSettings
  let media: ProgramMedia
  let trace: Trace
  let checkers: [any StateChecker]
  let console: Console

  private var declaration: MediaDeclaration { media.declaration(budget: settings.budget) }

  /// The files at the end of the program.
  private func history() -> MediumHistory {
    var history = MediumHistory(trace, sectorBytes: declaration.sectorBytes)
    history.advance(to: trace.events.count)
    return history
  }

  private static let variables = [
    ProgramMedia.detectedVariable: "\(ProgramMedia.detectedStatus)"
  ]

  /// Judges the states selected by the budget.
  func explore(firstNumber: Int) throws(LabError) -> ExplorationReport {
    let history = history()
    let plan = try MediaPlan(
      trace, declaration, paths: history.filePaths(),
      seed: settings.seed.derived("media"))
    let clock = ContinuousClock()
    let start = clock.now
    let (results, checkedCount, isCutShort) = try check(plan, history)
    let broken = results.filter { place, result in
      media.isBroken(by: result, faultCount: plan.states[place].faults.count)
    }
    var report = ExplorationReport(
      title: program.workload, model: MediaPlan.name, seed: settings.seed.rawValue,
      operationCount: trace.events.count - trace.markCount, markCount: trace.markCount,
      crashPointCount: plan.moments.count, candidateCount: plan.faultCount,
      distinctCount: plan.states.count, exploredCount: checkedCount,
      bound: Formatting.grouped(plan.faultCount),
      isInterrupted: isCutShort && Interruption.isRequested,
      seconds: start.duration(to: clock.now).inSeconds, findings: [])
    report.isOutOfTime = isCutShort && !Interruption.isRequested ? true : nil
    report.shape = trace.shape
    report.media = MediaOutcome(
      detectedCount: results.count - broken.count, unharmedCount: checkedCount - results.count,
      wentBackCount: 0)
    for failure in FailureClass.classify(broken) {
      let state = plan.states[failure.firstOrdinal]
      let smallest = try state.smallest(failure.first) { (single) throws(LabError) in
        let answer = try check(single, history)
        return media.isBroken(by: answer, faultCount: 1) ? answer : nil
      }
      var finding = self.finding(
        smallest, stateCount: failure.count, number: firstNumber + report.findings.count, history)
      finding.classKey = failure.key
      finding.firstOrdinal = failure.firstOrdinal
      report.findings.append(finding)
    }
    report.findings = RootCause.joined(report.findings, firstNumber: firstNumber)
    return report
  }

  /// All results other than exit status 0, by ordinal.
  private func check(
    _ plan: MediaPlan, _ history: MediumHistory
  ) throws(LabError) -> (results: [Int: CheckResult], checkedCount: Int, isCutShort: Bool) {
    let known = settings.progress?.verdicts(of: MediaPlan.name) ?? [:]
    let pool = CheckerPool(checkers, known: known) { [settings] ordinal, result in
      settings.progress?.note(result, ordinal: ordinal, of: MediaPlan.name)
    }
    let clock = ContinuousClock()
    let start = clock.now
    let acknowledged = trace.acknowledged(trace.markCount)
    // Time may run out at any point, which must not leave out the end of a file.
    let mine = VisitOrder.spread(plan.states.count, seed: settings.seed.derived("visits"))
      .filter { $0 % settings.shard.count == settings.shard.index }
    var total = 0
    for ordinal in mine {
      if known[ordinal] != nil {
        total += 1
        continue
      }
      if let limit = settings.timeBudgetSeconds,
        start.duration(to: clock.now).inSeconds > Double(limit)
      {
        break
      }
      let isTaken = try pool.submit(
        StateJob(
          ordinal: ordinal, tree: history.tree(with: plan.states[ordinal].faults),
          acknowledged: acknowledged, variables: Self.variables))
      guard isTaken else { break }
      total += 1
      console.progress(
        ProgressLine(
          subject: MediaPlan.name, done: pool.finishedCount, total: plan.states.count,
          failures: pool.failureCount, seconds: start.duration(to: clock.now).inSeconds
        ).text)
    }
    let results = try pool.finish()
    let wanted = plan.states.indices.count { $0 % settings.shard.count == settings.shard.index }
    return (results, pool.finishedCount, total < wanted || pool.finishedCount < wanted)
  }

  /// Judges one state again.
  func replay(
    _ recipe: ExploreRecipe, _ state: MediaState, keepingImageIn directory: String?
  ) throws(LabError) -> (result: CheckResult, finding: Finding) {
    let history = history()
    guard state.eventCount == trace.events.count,
      state.faults.allSatisfy({ history.bytes(at: $0.file) != nil })
    else { throw .usage("the token names files that the recording does not have") }
    if let directory { try CrashDirectory.keep(history.tree(with: state.faults), in: directory) }
    let result = try check(state, history)
    let finding = finding((state, result), stateCount: 1, number: 1, history)
    let isBroken = media.isBroken(by: result, faultCount: state.faults.count)
    return (isBroken ? result : CheckResult(ending: .exited(0), output: result.output), finding)
  }

  private func check(
    _ state: MediaState, _ history: MediumHistory
  ) throws(LabError) -> CheckResult {
    try checkers[0].check(
      history.tree(with: state.faults), acknowledged: trace.acknowledged(trace.markCount),
      variables: Self.variables)
  }

  private func finding(
    _ found: (state: MediaState, result: CheckResult), stateCount: Int, number: Int,
    _ history: MediumHistory
  ) -> Finding {
    var recipe = ExploreRecipe(
      workload: program.workload, check: program.check, setup: program.setup,
      model: PersistenceModel.strict.specification, seed: settings.seed.rawValue, state: "",
      shape: trace.shape, timeoutSeconds: settings.timeoutSeconds)
    recipe.writeBack = settings.writeBack
    recipe.directAlignment = settings.directAlignment
    recipe.marks = settings.marks
    if program.checkStays { recipe.checkStays = true }
    recipe.media = found.state
    recipe.survivedFaults = media.survivedCount
    let path = found.state.faults[0].file
    let damaged = DamagedBytes(
      path: path, before: history.bytes(at: path) ?? [],
      after: history.bytes(at: path, with: found.state.faults) ?? [], map: nil)
    return MediaFindingMaker(trace: trace).finding(
      number: number, found.state, damaged, found.result, stateCount: stateCount,
      token: recipe.token)
  }
}
