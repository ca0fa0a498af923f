// EngineShards.swift: runs the children that judge the states of a job, starts another one after
// the state at which one died, and collects their results.
// Invariant: the result does not depend on the number of children; a child that dies or hangs costs
// only the current state, and another child continues after it.

import CrashStates
import Exploration
import Findings
import Foundation
import LabCore
import Synchronization

/// Judges the states of a job in child processes, many states each.
struct EngineShards {
  let job: EngineJob
  /// The subject of progress lines.
  let name: String
  let directory: String
  let settings: ExplorationSettings
  let console: Console

  /// A child may take this many times a state's time limit to count the states.
  private static let preparationFactor = 30

  /// The combined results of all children.
  struct Outcome: Sendable {
    /// Adds the states that an interrupted child had judged; its current state has no verdict.
    fileprivate mutating func stop(_ progress: ShardProgress?) {
      running = [:]
      states += progress?.states ?? 0
      recoveryStates += progress?.recoveryStates ?? 0
      media.add(progress?.media ?? MediaOutcome())
      isCutShort = true
    }

    /// True when a state that the plan selects was judged before the time ran out.
    func isJudged(_ ordinal: Int, in plan: ExplorationPlan) -> Bool {
      guard let cut = cuts.first(where: { ordinal % $0.part.count == $0.part.index }) else {
        return true
      }
      guard let last = cut.ordinal else { return false }
      return plan.visits(ordinal, before: last) || ordinal == last && cut.isJudged
    }

    /// Forgets what children side by side judged beyond the first state that failed.
    mutating func endAtFirst(of plan: ExplorationPlan) {
      guard let first = failures.min(by: { plan.visits($0.ordinal, before: $1.ordinal) })
      else { return }
      failures = [first]
      states = (0..<plan.distinct).count {
        plan.selects($0) && !plan.visits(first.ordinal, before: $0)
      }
      recoveryStates = 0
      isCutShort = false
      isOutOfTime = false
    }

    /// The combined progress of all children.
    fileprivate func progress(
      _ model: String, total: Int, since start: ContinuousClock.Instant
    ) -> String {
      ProgressLine(
        subject: model, done: states + running.values.reduce(0, +), total: total,
        failures: failures.count, seconds: start.duration(to: .now).inSeconds
      ).text
    }

    /// The point at which a part of the states was cut short.
    fileprivate struct Cut: Sendable {
      let part: Shard
      /// The last state that was started; nil for none.
      let ordinal: Int?
      /// False when that state has no verdict.
      let isJudged: Bool
    }

    var failures: [EngineFailure] = []
    /// The parts that were incomplete when the time ran out.
    fileprivate var cuts: [Cut] = []
    /// Number of states that the current child of each shard has judged.
    var running: [Int: Int] = [:]
    var states = 0
    var recoveryStates = 0
    /// The results for faults of the medium.
    var media = MediaOutcome()
    var isCutShort = false
    var isOutOfTime = false
    var error: LabError?
  }

  /// A shard is given up after this many deaths of processes, because there are findings already.
  static let deathsMax = 50

  /// Judges all states of the shard.
  /// - Parameters:
  ///   - jobPath: The saved job.
  ///   - total: Number of states, for progress.
  ///   - start: When judging began, for progress and the time budget.
  /// - Returns: The results, by ordinal.
  /// - Throws: `LabError` when a child cannot be started, or Faultline fails in one.
  func judge(
    jobPath: String, total: Int, since start: ContinuousClock.Instant
  ) throws(LabError) -> Outcome {
    let shard = settings.shard
    let deadline = settings.timeBudgetSeconds.map { start.advanced(by: .seconds($0)) }
    // For few states a second process is not worthwhile.
    let count = total < 200 ? 1 : settings.jobs
    let shared = Mutex(Outcome())
    let done = DispatchGroup()
    let queue = DispatchQueue(label: "shards", attributes: .concurrent)
    withExtendedLifetime(queue) {
      for index in 0..<count {
        queue.async(group: done) {
          do throws(LabError) {
            // Every `count`-th of this run's states.
            let part = Shard(
              index: shard.index + shard.count * index, of: shard.count * count)
            try follow(part, jobPath, until: deadline) { change in
              shared.withLock {
                change(&$0)
                console.progress($0.progress(name, total: total, since: start))
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

  /// Runs one shard to its end, with as many children as necessary.
  private func follow(
    _ shard: Shard, _ jobPath: String, until deadline: ContinuousClock.Instant?,
    _ change: ((inout Outcome) -> Void) -> Void
  ) throws(LabError) {
    let progressPath = "\(directory)/progress-\(name)-\(shard.index)"
    var first = 0
    for _ in 0..<Self.deathsMax {
      try? FileManager.default.removeItem(atPath: progressPath)
      let child = try LineProcess(
        EngineShard(job: jobPath, shard: shard, first: first, progress: progressPath),
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
          // A child without a state was to continue after the one at which the last child died.
          let before = first > 0 ? first - 1 : nil
          $0.cuts.append(
            Outcome.Cut(
              part: shard, ordinal: progress?.ordinal ?? before, isJudged: progress == nil))
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
        let second = progress.second.isEmpty ? nil : progress.second
        $0.failures.append(
          EngineFailure(ordinal: progress.ordinal, second: second, result: result))
        $0.states += progress.states + 1
        $0.recoveryStates += progress.recoveryStates + (second == nil ? 0 : 1)
        $0.media.add(progress.media)
      }
      if !job.ignoredSyncs.isEmpty { return }
      first = progress.ordinal + 1
    }
    change {
      $0.isCutShort = true
      $0.cuts.append(Outcome.Cut(part: shard, ordinal: first - 1, isJudged: true))
    }
  }

  /// Reads a child's lines.
  /// - Returns: Its ending when it died at a state, nil when it completed its work.
  private func read(
    _ child: LineProcess, _ shard: Shard, _ progressPath: String,
    until deadline: ContinuousClock.Instant?,
    _ change: ((inout Outcome) -> Void) -> Void
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
        // Before its first state a child iterates over all of them once, which does not count
        // against a state.
        let limit = settings.timeoutSeconds * (now == nil ? Self.preparationFactor : 1)
        if waitedSeconds >= limit {
          child.end()
          return .timedOut(seconds: limit)
        }
      case .ended(let ending): return ending
      case .line(let line):
        waitedSeconds = 0
        guard let message = try? JSONDecoder().decode(ShardLine.self, from: Data(line)) else {
          throw .internalError("a checking process sent an unreadable line")
        }
        switch message {
        case .done(let states, let recoveryStates, let media):
          change {
            $0.running[shard.index] = nil
            $0.states += states
            $0.recoveryStates += recoveryStates
            $0.media.add(media ?? MediaOutcome())
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
}
