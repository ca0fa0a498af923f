// StateJudge.swift: a checker asked about single states, to explain what was found: it remembers
// what it knows already, and may cost a share of the time only.
// Invariant: the limit decides how small a finding is shown, never whether there is one, nor which
// states were judged.

import CrashStates
import Findings
import LabCore

/// What tells two states apart for a checker.
package struct StateIdentity: Hashable, Sendable {
  let content: ContentHash
  let marks: Int
}

/// Asks one checker about states of one enumerator; cheap for one crash point after the other.
final class StateJudge {
  private let enumerator: CrashStateEnumerator
  private let ask: (CrashImage, _ marks: Int) throws(LabError) -> CheckResult
  private var images: CrashPointImages?
  private var known: [StateIdentity: CheckResult]
  private let clock = ContinuousClock()
  private var deadline: ContinuousClock.Instant?
  /// Called before the checker is asked.
  var onCall: () -> Void = {}
  /// Times that the checker was asked.
  private(set) var callCount = 0
  /// Whether a state was left unasked for want of time.
  private(set) var isCutShort = false

  /// - Parameters:
  ///   - enumerator: What the states are of.
  ///   - known: Verdicts that need not be asked for.
  ///   - ask: Judges one image.
  init(
    _ enumerator: CrashStateEnumerator, known: [StateIdentity: CheckResult] = [:],
    ask: @escaping (CrashImage, _ marks: Int) throws(LabError) -> CheckResult
  ) {
    self.enumerator = enumerator
    self.known = known
    self.ask = ask
  }

  /// Sets how long `answer` may go on asking; nil is for ever.
  func limit(to duration: Duration?) {
    deadline = duration.map { clock.now + $0 }
    isCutShort = false
  }

  /// Whether `answer` says only what is known already.
  var isTimeUp: Bool {
    guard let deadline, clock.now >= deadline else { return false }
    isCutShort = true
    return true
  }

  /// The checker's own answer, whatever is known.
  func verdict(of state: CrashState) throws(LabError) -> CheckResult {
    try withImage(of: state) { (image, identity) throws(LabError) in
      try asked(image, identity)
    }
  }

  /// What is known of a state, or what the checker says; nil when its time is up.
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
      // A large file is in memory once.
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
