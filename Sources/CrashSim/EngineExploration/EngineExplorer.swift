// EngineExplorer.swift: judges the crash states of a recorded scenario in child processes, each of
// which judges many states (EngineShards), and makes findings of the failing ones.

import CrashStates
import Exploration
import Findings
import Foundation
import LabCore

/// A failing state, as reported by a shard.
struct EngineFailure: Sendable {
  var ordinal: Int
  /// Key of the state; nil when the child died and only the ordinal is known.
  var key: String?
  /// Key of the state of its recovery, for a crash during recovery.
  var second: String?
  var result: CheckResult
}

/// Explores one recorded scenario under one model.
package struct EngineExplorer {
  let job: EngineJob
  let directory: String
  let settings: ExplorationSettings
  let console: Console
  /// Makes the token of a failing state.
  let token: @Sendable (_ state: String, _ second: String?, _ shape: String) -> String

  package init(
    job: EngineJob,
    directory: String,
    settings: ExplorationSettings,
    console: Console,
    token: @escaping @Sendable (_ state: String, _ second: String?, _ shape: String) -> String
  ) {
    self.job = job
    self.directory = directory
    self.settings = settings
    self.console = console
    self.token = token
  }

  /// Judges all states and explains the classes of failures; when Faultline is asked to stop, only
  /// those judged so far.
  package func explore(title: String, firstNumber: Int) throws(LabError) -> ExplorationReport {
    let enumerator = try job.enumerator()
    let plan = try enumerator.plan(
      budget: job.budget, inWaves: settings.timeBudgetSeconds != nil)
    let jobPath = "\(directory)/job-\(job.modelName).json"
    var job = job
    try job.save(to: jobPath, selecting: plan)
    let clock = ContinuousClock()
    let start = clock.now
    let shards = EngineShards(
      job: job, name: job.modelName, directory: directory, settings: settings, console: console)
    var outcome = try shards.judge(
      jobPath: jobPath, total: plan.selectedCount(in: settings.shard), since: start)
    if !job.ignoredSyncs.isEmpty { outcome.endAtFirst(of: plan) }
    let seconds = start.duration(to: clock.now).inSeconds
    let trace = enumerator.table.trace
    var report = ExplorationReport(
      title: title, model: job.modelName, seed: job.seed,
      operationCount: trace.events.count - trace.markCount, markCount: trace.markCount,
      crashPointCount: enumerator.table.crashPointCount, candidateCount: plan.candidates,
      distinctCount: plan.distinct + outcome.recoveryStates,
      exploredCount: outcome.states + outcome.recoveryStates, bound: plan.bound.description,
      isInterrupted: Interruption.isRequested && outcome.isCutShort, seconds: seconds, findings: [])
    report.isOutOfTime = outcome.isOutOfTime ? true : nil
    report.shape = enumerator.shape
    report.recoveryCount = outcome.recoveryStates
    report.budgetOfEachCrashPoint = plan.budgetOfEachCrashPoint
    let isCounted =
      (!outcome.isCutShort || outcome.isOutOfTime) && !job.onlyPrefixes && job.ignoredSyncs.isEmpty
    report.crashPoints = plan.counts(
      in: settings.shard, of: trace,
      checked: isCounted ? { [outcome] in outcome.isJudged($0, in: plan) } : nil,
      failures: Set(outcome.failures.map(\.ordinal)).sorted())
    if isCounted && !outcome.isCutShort {
      var coverage = CommitCoverage()
      coverage.addCuts(of: trace) { plan.judgesAny(at: $0, settings.shard) }
      report.commitCoverage = coverage.isEmpty ? nil : coverage
    }
    report.findings = try findings(
      outcome.failures, enumerator, plan, jobPath: jobPath, firstNumber: firstNumber)
    return report
  }

  // MARK: Findings

  private func findings(
    _ failures: [EngineFailure], _ enumerator: CrashStateEnumerator, _ plan: ExplorationPlan,
    jobPath: String, firstNumber: Int
  ) throws(LabError) -> [Finding] {
    guard !failures.isEmpty else { return [] }
    let judge = EngineJudgeClient(jobPath: jobPath, timeoutSeconds: settings.timeoutSeconds)
    let maker = try FindingMaker(
      enumerator: enumerator, model: enumerator.table.model)
    var results: [Int: CheckResult] = [:]
    var firsts: [Int: EngineFailure] = [:]
    for failure in failures where firsts[failure.ordinal] == nil {
      results[failure.ordinal] = failure.result
      firsts[failure.ordinal] = failure
    }
    var findings: [Finding] = []
    for failure in FailureClass.classify(results) {
      guard var first = firsts[failure.firstOrdinal] else { continue }
      if first.key == nil { first.key = try key(of: first.ordinal, enumerator, plan) }
      var found = try finding(
        first, failure, maker, judge, number: firstNumber + findings.count)
      found.classKey = failure.key
      found.firstOrdinal = failure.firstOrdinal
      findings.append(found)
    }
    return RootCause.joined(findings, firstNumber: firstNumber)
  }

  private func key(
    of ordinal: Int, _ enumerator: CrashStateEnumerator, _ plan: ExplorationPlan
  ) throws(LabError) -> String? {
    var found: String?
    try enumerator.visit(plan) { (explored, _) throws(LabError) in
      guard explored.ordinal == ordinal else { return .goOn }
      found = enumerator.key(of: explored.state).description
      return .stop
    }
    return found
  }

  private func finding(
    _ first: EngineFailure, _ failure: FailureClass, _ maker: FindingMaker,
    _ judge: EngineJudgeClient, number: Int
  ) throws(LabError) -> Finding {
    guard let text = first.key, let key = StateKey(parsing: text) else {
      throw .internalError("state \(first.ordinal) failed but has no key")
    }
    let found = try maker.enumerator.state(for: key)
    let shape = maker.enumerator.shape
    // The original failing state, without a smaller one.
    func asFound() throws(LabError) -> Finding {
      try maker.finding(
        number: number, state: found, result: first.result, stateCount: failure.count,
        token: token(text, nil, shape))
    }
    if let second = first.second {
      return try maker.finding(
        number: number, state: found, result: first.result, stateCount: failure.count,
        token: token(text, second, shape),
        context: "power fails again during recovery, at \(second)")
    }
    let state: CrashState
    let smallest: String
    let result: CheckResult
    do throws(LabError) {
      try Interruption.check()
      state = try maker.shrink(found) { (candidate) throws(LabError) in
        let key = maker.enumerator.key(of: candidate).description
        return FailureClass.key(of: try judge.ask(.state(key: key, second: nil))) == failure.key
      }
      smallest = maker.enumerator.key(of: state).description
      result = try judge.ask(.state(key: smallest, second: nil))
    } catch {
      guard error.code == .interrupted else { throw error }
      return try asFound()
    }
    guard FailureClass.key(of: result) == failure.key else {
      throw LabError(
        .nondeterminism,
        "state \(smallest) failed with '\(failure.first.headline)' and, judged again, gave "
          + "'\(result.headline)'")
    }
    return try maker.finding(
      number: number, state: state, result: result, stateCount: failure.count,
      token: token(smallest, nil, shape), accepts: judge.accepts(maker.enumerator))
  }
}
