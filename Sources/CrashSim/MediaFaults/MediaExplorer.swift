// MediaExplorer.swift: damages the files of a recorded scenario as a medium could, has each state
// judged in child processes, and makes findings of the failing ones.
// Invariant: which states are judged, and the findings, depend on the recording, the declaration
// and the seed alone.

import Foundation

/// Explores the faults of the medium of one recorded scenario.
struct MediaExplorer {
  /// Stands for the model in reports.
  static let name = "media"

  let job: EngineJob
  let declaration: MediaDeclaration
  let directory: String
  let settings: ExplorationSettings
  let console: Console
  /// Makes the token of a failing state.
  let token: (_ state: MediaState, _ shape: String) -> String

  /// Judges all states and explains the classes of failures; when the lab is asked to stop, those
  /// judged so far.
  func explore(title: String, firstNumber: Int) throws(LabError) -> ExplorationReport {
    let trace = try job.trace()
    let plan = try job.mediaPlan(declaration)
    let jobPath = "\(directory)/job-\(Self.name).json"
    var job = job
    try job.save(to: jobPath, selecting: plan)
    let clock = ContinuousClock()
    let start = clock.now
    let shards = EngineShards(
      job: job, name: Self.name, directory: directory, settings: settings, console: console)
    let mine = stride(
      from: settings.shard.index, to: plan.states.count, by: settings.shard.count)
    let outcome = try shards.judge(
      jobPath: jobPath, total: mine.underestimatedCount, since: start)
    var report = ExplorationReport(
      title: title, model: Self.name, seed: job.seed,
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

extension MediaState {
  /// One of the faults that breaks a promise alone, or the state as it was found.
  /// - Parameters:
  ///   - result: What was said about the state.
  ///   - judge: Judges a state of one fault; nil when it breaks no promise.
  /// - Returns: The state, and what was said about it.
  /// - Throws: What `judge` throws.
  func smallest(
    _ result: CheckResult, _ judge: (MediaState) throws(LabError) -> CheckResult?
  ) throws(LabError) -> (MediaState, CheckResult) {
    guard faults.count > 1, !Interruption.isRequested else { return (self, result) }
    for fault in faults {
      let single = MediaState(eventCount: eventCount, faults: [fault])
      if let answer = try judge(single) { return (single, answer) }
    }
    return (self, result)
  }
}

/// A file before and after a damage.
struct DamagedBytes {
  let path: String
  let before: [UInt8]
  let after: [UInt8]
  /// Its parts, where they are known.
  let map: StructureMap?
}

/// Puts damaged states in words.
struct MediaFindingMaker {
  let trace: Trace

  /// What stands for the models that allow the state.
  static let models = ["any, when the medium changes after the last sync"]
  /// Most differences that are shown.
  private static let differencesMax = 3

  /// A finding about a state.
  /// - Parameters:
  ///   - number: Its number in the run.
  ///   - state: The state.
  ///   - damaged: The file of its faults.
  ///   - result: What the judge said about it.
  ///   - stateCount: Number of states that failed alike.
  ///   - token: What replays it.
  /// - Returns: The finding.
  func finding(
    number: Int, _ state: MediaState, _ damaged: DamagedBytes, _ result: CheckResult,
    stateCount: Int, token: String
  ) -> Finding {
    let marks = trace.events.prefix(state.eventCount).compactMap { event -> String? in
      guard case .mark(let mark) = event.body else { return nil }
      return mark.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
    var finding = Finding(
      number: number,
      promised: result.promised ?? "damage at rest does no harm, or is noticed",
      headline: result.headline,
      got: result.output.split(separator: "\n").map(String.init),
      ending: "the judge ended with \(result.ending)",
      crash: "none: at rest after \(moment(state)), all of it durable",
      acknowledgedCount: marks.count, lastAcknowledged: marks.last,
      lost: state.faults.map { fault in
        fault.sentence + (damaged.map.map { " (\($0.name(at: fault.offsetBytes)))" } ?? "")
      },
      missingSync: [], models: Self.models, stateCount: stateCount, token: token)
    finding.evidence = Self.evidence(state, damaged)
    return finding
  }

  private func moment(_ state: MediaState) -> String {
    let number = state.eventCount - 1
    guard trace.events.indices.contains(number) else { return "0 events" }
    switch trace.events[number].body {
    case .operation(let operation):
      let paths = PathIndex(trace)
      return "#\(number) \(operation.sentence(at: number, paths: paths))"
    case .mark(let mark):
      return "#\(number) mark '\(mark.text.trimmingCharacters(in: .whitespacesAndNewlines))'"
    }
  }

  private static func evidence(
    _ state: MediaState, _ damaged: DamagedBytes
  ) -> FindingEvidence {
    let (before, after) = (damaged.before, damaged.after)
    var ranges: [FileChange.Range] = []
    var differences: [FileChange.Difference] = []
    for fault in state.faults.sorted(by: { $0.offsetBytes < $1.offsetBytes })
    where fault.file == damaged.path {
      let start = Int(clamping: fault.offsetBytes)
      let count = fault.kind == .truncatedTail ? before.count - start : fault.countBytes
      ranges.append(
        FileChange.Range(offset: fault.offsetBytes, count: UInt64(count), fate: .lost))
      let first = start / 16 * 16
      let window = first..<max(first, min(start + min(count, 4096), before.count))
      let difference = EvidenceMaker.difference(
        at: UInt64(first), Array(before[window]), Array(after[window.clamped(to: after.indices)]))
      if let difference, differences.count < differencesMax { differences.append(difference) }
    }
    let change = FileChange(
      path: damaged.path, pathAfter: damaged.path, size: UInt64(before.count),
      sizeAfter: UInt64(after.count),
      ranges: ranges, omittedRangeCount: 0, differences: differences)
    return FindingEvidence(
      crashPoint: state.eventCount, lost: [], lostCount: 0, partlyLost: [], keptAfter: [],
      keptAfterCount: 0, missingAfter: nil, missingBefore: nil, missingPath: nil,
      files: [change], omittedFileCount: 0)
  }
}
