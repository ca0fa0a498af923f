// CheckerPool.swift: [U] several concurrent checkers, each with its own thread, directory and
// processes.
// Invariant: the results do not depend on the number of checkers or the assignment of states to
// them: they are stored by the state's ordinal.

import Findings
import Foundation
import LabCore
import Recording

/// One state to be judged by a checker.
package struct StateJob: Sendable {
  /// Place of the state in the exploration's fixed order.
  package let ordinal: Int
  /// The crash image.
  package let tree: TreeImage
  /// What the workload had acknowledged.
  package let acknowledged: [UInt8]

  /// Environment variables of the checker for this state only.
  package let variables: [String: String]

  /// Makes a job.
  package init(
    ordinal: Int, tree: TreeImage, acknowledged: [UInt8], variables: [String: String] = [:]
  ) {
    self.ordinal = ordinal
    self.tree = tree
    self.acknowledged = acknowledged
    self.variables = variables
  }
}

/// Checks states on `count` threads.
///
/// `@unchecked Sendable`: all mutable state is protected by `condition`.
package final class CheckerPool: @unchecked Sendable {
  private let condition = NSCondition()
  private let capacity: Int
  /// Limit of the images' total size in the queue; a larger job is queued alone.
  private static let waitingBytesMax = 256 << 20
  private var jobs: [StateJob] = []
  private var waitingBytes = 0
  private var isClosed = false
  private var running: Int
  private var failures: [Int: CheckResult] = [:]
  private var finished = 0
  private var error: LabError?
  private let onVerdict: @Sendable (Int, CheckResult) -> Void

  /// Starts the threads, one for each checker.
  /// - Parameters:
  ///   - checkers: The checkers.
  ///   - known: Verdicts of earlier runs, by ordinal; nil is a state that held.
  ///   - onVerdict: Called with ordinal and result of each state, on the checkers' threads.
  package init(
    _ checkers: [any StateChecker], known: [Int: CheckResult?] = [:],
    onVerdict: @escaping @Sendable (Int, CheckResult) -> Void = { _, _ in }
  ) {
    self.onVerdict = onVerdict
    failures = known.compactMapValues { $0 }.filter { !$0.value.ending.isSuccess }
    finished = known.count
    precondition(!checkers.isEmpty, "a pool has at least one checker")
    capacity = checkers.count * 4
    running = checkers.count
    for checker in checkers {
      let thread = Thread { [self] in work(with: checker) }
      thread.name = "checker"
      thread.start()
    }
  }

  /// Number of states judged so far.
  package var finishedCount: Int { condition.withLock { finished } }

  /// Number of states that failed so far.
  package var failureCount: Int { condition.withLock { failures.count } }

  /// Enqueues a state; waits while the checkers are busy.
  /// - Returns: False when Faultline was asked to stop: no further state will be judged.
  /// - Throws: The first error of a checker.
  package func submit(_ job: StateJob) throws(LabError) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    let contentBytes = job.tree.contentBytes
    while jobs.count >= capacity
      || (!jobs.isEmpty && waitingBytes + contentBytes > Self.waitingBytesMax),
      error == nil && !Interruption.isRequested
    {
      _ = condition.wait(until: Date(timeIntervalSinceNow: 0.1))
    }
    if let error { throw error }
    guard !Interruption.isRequested else { return false }
    jobs.append(job)
    waitingBytes += contentBytes
    condition.broadcast()
    return true
  }

  /// Waits until all states are judged, or only the current ones when Faultline was asked to stop.
  /// - Parameter progress: Called now and then while waiting.
  /// - Returns: The failures by ordinal; `finishedCount` is the number of states judged.
  /// - Throws: The first error of a checker.
  package func finish(progress: () -> Void = {}) throws(LabError) -> [Int: CheckResult] {
    condition.lock()
    defer { condition.unlock() }
    isClosed = true
    condition.broadcast()
    while running > 0 {
      if condition.wait(until: Date(timeIntervalSinceNow: 0.1)) { continue }
      condition.unlock()
      progress()
      condition.lock()
    }
    if let error { throw error }
    return failures
  }

  private func work(with checker: any StateChecker) {
    while let job = take() {
      do throws(LabError) {
        let result = try checker.check(
          job.tree, acknowledged: job.acknowledged, variables: job.variables,
          isSample: LoopChecker.isSample(job.ordinal))
        record(result, of: job)
      } catch {
        // A state without a verdict does not count.
        if error.code != .interrupted { fail(error) }
      }
    }
    condition.withLock {
      running -= 1
      condition.broadcast()
    }
  }

  private func take() -> StateJob? {
    condition.lock()
    defer { condition.unlock() }
    while jobs.isEmpty && !isClosed && error == nil { condition.wait() }
    guard error == nil, !jobs.isEmpty, !Interruption.isRequested else { return nil }
    let job = jobs.removeFirst()
    waitingBytes -= job.tree.contentBytes
    condition.broadcast()
    return job
  }

  private func record(_ result: CheckResult, of job: StateJob) {
    onVerdict(job.ordinal, result)
    condition.withLock {
      finished += 1
      if !result.ending.isSuccess { failures[job.ordinal] = result }
    }
  }

  private func fail(_ error: LabError) {
    condition.withLock {
      if self.error == nil { self.error = error }
      condition.broadcast()
    }
  }
}
