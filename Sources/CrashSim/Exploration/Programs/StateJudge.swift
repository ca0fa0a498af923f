// StateJudge.swift: judges single states with a checker, to explain findings: it caches verdicts,
// and may use only a share of the time.
// Invariant: the limit affects how small a finding becomes, not whether there is one or which
// states were judged.

import CrashStates
import Findings
import LabCore

/// What distinguishes two states for a checker.
package struct StateIdentity: Hashable, Sendable {
  let content: ContentHash
  let marks: Int
}

/// Judges states of one enumerator with one checker; fast for one crash point after the other.
final class StateJudge {
  private let enumerator: CrashStateEnumerator
  private let ask: (CrashImage, _ marks: Int) throws(LabError) -> CheckResult
  private var images: CrashPointImages?
  private var known: [StateIdentity: CheckResult]
  private let clock = ContinuousClock()
  private var deadline: ContinuousClock.Instant?
  /// Called before the checker is run.
  var onCall: () -> Void = {}
  /// Number of checker runs.
  private(set) var callCount = 0
  /// Whether a state was left unjudged for lack of time.
  private(set) var isCutShort = false

  /// - Parameters:
  ///   - enumerator: The enumerator of the states.
  ///   - known: Known verdicts.
  ///   - ask: Judges one image.
  init(
    _ enumerator: CrashStateEnumerator, known: [StateIdentity: CheckResult] = [:],
    ask: @escaping (CrashImage, _ marks: Int) throws(LabError) -> CheckResult
  ) {
    self.enumerator = enumerator
    self.known = known
    self.ask = ask
  }

  /// Sets how long `answer` may run the checker; nil is for ever.
  func limit(to duration: Duration?) {
    deadline = duration.map { clock.now + $0 }
    isCutShort = false
  }

  /// Whether `answer` returns only known verdicts.
  var isTimeUp: Bool {
    guard let deadline, clock.now >= deadline else { return false }
    isCutShort = true
    return true
  }

  /// The checker's own answer, without the cache.
  func verdict(of state: CrashState) throws(LabError) -> CheckResult {
    try withImage(of: state) { (image, identity) throws(LabError) in
      try asked(image, identity)
    }
  }

  /// The known verdict on a state, or the checker's; nil when its time is up.
  func answer(of state: CrashState) throws(LabError) -> CheckResult? {
    try withImage(of: state) { (image, identity) throws(LabError) in
      if let result = known[identity] { return result }
      return isTimeUp ? nil : try asked(image, identity)
    }
  }

  private func asked(
    _ image: CrashImage, _ identity: StateIdentity
  ) throws(LabError) -> CheckResult {
    onCall()
    callCount += 1
    let result = try ask(image, identity.marks)
    known[identity] = result
    return result
  }

  private func withImage<Result>(
    of state: CrashState, _ body: (CrashImage, StateIdentity) throws(LabError) -> Result
  ) throws(LabError) -> Result {
    if images?.crashPoint != state.crashPoint {
      // A large file is in memory only once.
      images = nil
      images = try CrashPointImages(table: enumerator.table, at: state.crashPoint)
    }
    guard let images else { preconditionFailure("just made") }
    let content = try images.contentHash(of: state)
    return try images.withImage(of: state) { (image) throws(LabError) in
      try body(image, StateIdentity(content: content, marks: state.acknowledgedMarks))
    }
  }
}
