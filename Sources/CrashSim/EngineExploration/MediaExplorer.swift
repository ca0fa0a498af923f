// MediaExplorer.swift: damages the files of a recorded scenario as a medium could, has each state
// judged in child processes, and makes findings of the failing ones.
// Invariant: the judged states and the findings depend only on the recording, the declaration and
// the seed.

import CrashStates
import Exploration
import Findings
import Foundation
import LabCore
import Recording

/// Explores the faults of the medium of one recorded scenario.
package struct MediaExplorer {
  let job: EngineJob
  let declaration: MediaDeclaration
  let directory: String
  let settings: ExplorationSettings
  let console: Console
  /// Makes the token of a failing state.
  let token: (_ state: MediaState, _ shape: String) -> String

  package init(
    job: EngineJob,
    declaration: MediaDeclaration,
    directory: String,
    settings: ExplorationSettings,
    console: Console,
    token: @escaping (_ state: MediaState, _ shape: String) -> String
  ) {
    self.job = job
    self.declaration = declaration
    self.directory = directory
    self.settings = settings
    self.console = console
    self.token = token
  }

  /// Judges all states and explains the classes of failures; when Faultline is asked to stop, only
  /// those judged so far.
  package func explore(title: String, firstNumber: Int) throws(LabError) -> ExplorationReport {
    let trace = try job.trace()
    var plan = try job.mediaPlan(declaration)
    if settings.timeBudgetSeconds != nil { plan.visitInWaves(seed: Seed(rawValue: job.seed)) }
    let jobPath = "\(directory)/job-\(MediaPlan.name).json"
    var job = job
    try job.save(to: jobPath, selecting: plan)
    let clock = ContinuousClock()
    let start = clock.now
    let shards = EngineShards(
      job: job, name: MediaPlan.name, directory: directory, settings: settings, console: console)
    let mine = stride(
      from: settings.shard.index, to: plan.states.count, by: settings.shard.count)
    let outcome = try shards.judge(
      jobPath: jobPath, total: mine.underestimatedCount, since: start)
    var report = ExplorationReport(
      title: title, model: MediaPlan.name, seed: job.seed,
      operationCount: trace.events.count - trace.markCount, markCount: trace.markCount,
      crashPointCount: plan.moments.count, candidateCount: plan.faultCount,
      distinctCount: plan.states.count, exploredCount: outcome.states,
      bound: Formatting.grouped(plan.faultCount),
      isInterrupted: Interruption.isRequested && outcome.isCutShort,
      seconds: start.duration(to: clock.now).inSeconds, findings: [])
    report.isOutOfTime = outcome.isOutOfTime ? true : nil
    report.shape = trace.shape
    report.media = outcome.media
    report.findings = try findings(
      outcome.failures, plan, trace, jobPath: jobPath, firstNumber: firstNumber)
    return report
  }

  // MARK: - Findings

  private func findings(
    _ failures: [EngineFailure], _ plan: MediaPlan, _ trace: Trace, jobPath: String,
    firstNumber: Int
  ) throws(LabError) -> [Finding] {
    guard !failures.isEmpty else { return [] }
    let client = EngineJudgeClient(jobPath: jobPath, timeoutSeconds: settings.timeoutSeconds)
    let judge = try MediaJudge(job, declaration)
    var results: [Int: CheckResult] = [:]
    for failure in failures where results[failure.ordinal] == nil {
      results[failure.ordinal] = failure.result
    }
    var findings: [Finding] = []
    for failure in FailureClass.classify(results) {
      let found = plan.states[failure.firstOrdinal]
      let (state, result) = try found.smallest(failure.first) { (single) throws(LabError) in
        let answer = try client.ask(.media(single))
        return answer.ending.isSuccess ? nil : answer
      }
      let damaged = try judge.damagedBytes(of: state)
      var finding = MediaFindingMaker(trace: trace).finding(
        number: firstNumber + findings.count, state, damaged, result,
        stateCount: failure.count,
        token: token(state, trace.shape))
      finding.classKey = failure.key
      finding.firstOrdinal = failure.firstOrdinal
      findings.append(finding)
    }
    return findings
  }
}
