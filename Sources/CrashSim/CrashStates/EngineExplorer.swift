// EngineExplorer.swift: judges the crash states of a recorded scenario in child processes, many
// states each, and makes findings of the failing ones.
// Invariant: the result does not depend on the number of children; a child that dies or hangs costs
// the state it was at, and another child goes on behind it.

import Foundation
import Synchronization

/// A failing state, as a shard reports it.
struct EngineFailure: Sendable {
  var ordinal: Int
  /// Key of the state; nil when the child died and only the ordinal is known.
  var key: String?
  /// Key of the state of its recovery, for a crash during recovery.
  var second: String?
  var result: CheckResult
}

/// Explores one recorded scenario under one model.
struct EngineExplorer {
  let job: EngineJob
  let directory: String
  let jobs: Int
  let timeoutSeconds: Int
  let console: Console
  /// The part of the states to judge.
  var shard = Shard.whole
  /// Most seconds of judging; nil for no limit.
  var timeBudgetSeconds: Int?
  /// Makes the token of a failing state.
  let token: @Sendable (_ state: String, _ second: String?, _ shape: String) -> String

  /// A child may take this many times a state's time limit to count the states.
  private static let preparationFactor = 30

  private struct Shared: Sendable {
    /// Counts what an interrupted child had judged; the state it was at has no verdict.
    mutating func stop(_ progress: ShardProgress?) {
      running = [:]
      states += progress?.states ?? 0
      recoveryStates += progress?.recoveryStates ?? 0
      isCutShort = true
    }

    /// Forgets what children side by side judged beyond the first state that failed.
    mutating func endAtFirst(of plan: ExplorationPlan) {
      guard let first = failures.first else { return }
      failures = [first]
      states = (0...first.ordinal).count { plan.selects($0) }
      recoveryStates = 0
      isCutShort = false
      isOutOfTime = false
    }

    /// How far all children have come.
    func progress(_ model: String, total: Int, since start: ContinuousClock.Instant) -> String {
      ProgressLine(
        subject: model, done: states + running.values.reduce(0, +), total: total,
        failures: failures.count, seconds: start.duration(to: .now).inSeconds
      ).text
    }

    var failures: [EngineFailure] = []
    /// States that the present child of each shard has judged.
    var running: [Int: Int] = [:]
    var states = 0
    var recoveryStates = 0
    var isCutShort = false
    var isOutOfTime = false
    var error: LabError?
  }

  /// A shard on which so many processes have died is given up: the findings are there.
  static let deathsMax = 50

  /// Judges all states and explains the classes of failures; when the lab is asked to stop, those
  /// judged so far.
  func explore(title: String, firstNumber: Int) throws(LabError) -> ExplorationReport {
    let enumerator = try job.enumerator()
    let plan = try enumerator.plan(budget: job.budget)
    let jobPath = "\(directory)/job-\(job.modelName).json"
    var job = job
    try job.save(to: jobPath, selecting: plan)
    let clock = ContinuousClock()
    let start = clock.now
    var outcome = try judge(jobPath: jobPath, total: plan.selectedCount(in: shard), since: start)
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
    let isCounted =
      !outcome.isCutShort && !outcome.isOutOfTime && !job.onlyPrefixes && job.ignoredSyncs.isEmpty
    report.crashPoints = plan.counts(
      in: shard, isCounted: isCounted, failures: Set(outcome.failures.map(\.ordinal)).sorted())
    report.findings = try findings(
      outcome.failures, enumerator, plan, jobPath: jobPath, firstNumber: firstNumber)
    return report
  }

  // MARK: Judging

  private func judge(
    jobPath: String, total: Int, since start: ContinuousClock.Instant
  ) throws(LabError) -> Shared {
    let deadline = timeBudgetSeconds.map { start.advanced(by: .seconds($0)) }
    // Few states are not worth a second process.
    let count = total < 200 ? 1 : jobs
    let shared = Mutex(Shared())
    let done = DispatchGroup()
    let queue = DispatchQueue(label: "shards", attributes: .concurrent)
    withExtendedLifetime(queue) {
      for index in 0..<count {
        queue.async(group: done) {
          do throws(LabError) {
            // Every `count`-th of the states that are this run's.
            let part = Shard(
              index: shard.index + shard.count * index, of: shard.count * count)
            try follow(part, jobPath, until: deadline) { change in
              shared.withLock {
                change(&$0)
                console.progress($0.progress(job.modelName, total: total, since: start))
              }
            }
          } catch {
            shared.withLock { $0.error = $0.error ?? error }
          }
        }
      }
      done.wait()
    }
    var outcome = shared.withLock { $0 }
    if let error = outcome.error { throw error }
    outcome.failures.sort { ($0.ordinal, $0.second ?? "") < ($1.ordinal, $1.second ?? "") }
    return outcome
  }

  /// Runs one shard to its end, with as many children as it takes.
  private func follow(
    _ shard: Shard, _ jobPath: String, until deadline: ContinuousClock.Instant?,
    _ change: ((inout Shared) -> Void) -> Void
  ) throws(LabError) {
    let progressPath = "\(directory)/progress-\(job.modelName)-\(shard.index)"
    var first = 0
    for _ in 0..<Self.deathsMax {
      try? FileManager.default.removeItem(atPath: progressPath)
      let child = try LineProcess(
        ["check-shard", jobPath, "\(shard.index)", "\(shard.count)", "\(first)", progressPath],
        errorPath: "\(progressPath).errors")
      let ending: ProcessEnding?
      do throws(LabError) {
        ending = try read(child, shard, progressPath, until: deadline, change)
      } catch {
        guard error.code == .interrupted else { throw error }
        child.end()
        let progress = try ProgressFile(path: progressPath).read()
        change {
          $0.stop(progress)
          $0.isOutOfTime = !Interruption.isRequested
        }
        return
      }
      guard let ending else { return }
      guard let progress = try ProgressFile(path: progressPath).read(),
        ending != .exited(ExitCode.labFailed.rawValue)
      else { throw .lab("a checking process ended with \(ending): \(child.errorText)") }
      let result = CheckResult(engineEnded: ending)
      change {
        $0.running[shard.index] = nil
        $0.failures.append(EngineFailure(ordinal: progress.ordinal, result: result))
        $0.states += progress.states + 1
        $0.recoveryStates += progress.recoveryStates
      }
      if !job.ignoredSyncs.isEmpty { return }
      first = progress.ordinal + 1
    }
    change { $0.isCutShort = true }
  }

  /// Reads a child's lines.
  /// - Returns: Its ending when it died over a state, nil when it did all that it had to.
  private func read(
    _ child: LineProcess, _ shard: Shard, _ progressPath: String,
    until deadline: ContinuousClock.Instant?,
    _ change: ((inout Shared) -> Void) -> Void
  ) throws(LabError) -> ProcessEnding? {
    let progress = try ProgressFile(path: progressPath)
    var last: ShardProgress?
    var waitedSeconds = 0
    while true {
      if let deadline, ContinuousClock.now >= deadline {
        throw LabError(.interrupted, "the time budget ended")
      }
      switch try child.poll(seconds: 1) {
      case .none:
        let now = progress.read()
        waitedSeconds = now == last ? waitedSeconds + 1 : 0
        last = now
        if let now { change { $0.running[shard.index] = now.states } }
        // Before its first state a child goes through all of them once, which is no state's fault.
        let limit = now == nil ? timeoutSeconds * Self.preparationFactor : timeoutSeconds
        if waitedSeconds >= limit {
          child.end()
          return .timedOut(seconds: limit)
        }
      case .ended(let ending): return ending
      case .line(let line):
        waitedSeconds = 0
        guard let said = try? JSONDecoder().decode(ShardLine.self, from: Data(line)) else {
          throw .lab("a checking process wrote an unreadable line")
        }
        switch said {
        case .done(let states, let recoveryStates):
          change {
            $0.running[shard.index] = nil
            $0.states += states
            $0.recoveryStates += recoveryStates
          }
          child.end()
          return nil
        case .failure(let ordinal, let key, let second, let violations):
          change {
            $0.failures.append(
              EngineFailure(
                ordinal: ordinal, key: key, second: second, result: CheckResult(violations)))
          }
        }
      }
    }
  }

  // MARK: Findings

  private func findings(
    _ failures: [EngineFailure], _ enumerator: CrashStateEnumerator, _ plan: ExplorationPlan,
    jobPath: String, firstNumber: Int
  ) throws(LabError) -> [Finding] {
    guard !failures.isEmpty else { return [] }
    let judge = EngineJudgeClient(jobPath: jobPath, timeoutSeconds: timeoutSeconds)
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
      throw .lab("state \(first.ordinal) failed but has no key")
    }
    let found = try maker.enumerator.state(for: key)
    let shape = maker.enumerator.shape
    // The failing state as it was found, for want of a smaller one.
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
      token: token(smallest, nil, shape))
  }
}
