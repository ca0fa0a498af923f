// OutcomeTimeline.swift: the contents allowed after a crash, for every point of a run, computed
// once, so that judging one of thousands of crash states takes two comparisons.

import Findings
import LabCore
import Recording
import Workload

/// The allowed outcomes by number of marks seen.
public struct OutcomeTimeline: Sendable {
  /// Broken promises visible in the acknowledgements alone, without any crash.
  public let violations: [Violation]
  private let outcomes: [AllowedOutcomes]
  private let outcomeOfMarks: [Int]
  private let labels: [UInt64: String]

  /// Computes the outcomes of a whole run.
  /// - Parameters:
  ///   - plan: The workload's plan.
  ///   - marks: All marks of its trace, in order.
  /// - Throws: `LabError` with code `.lab` when the marks do not belong to this plan.
  /// - Complexity: O(marks × rows).
  public init(_ plan: WorkloadPlan, marks: [Mark]) throws(LabError) {
    let whole = AckLog(marks)
    var emptyVersion: UInt64 = 0
    for case .recovered(let version) in whole.entries {
      emptyVersion = version
      break
    }
    var history = CommitHistory(plan, emptyVersion: emptyVersion)
    var outcomes = [history.outcomes]
    var outcomeOfMarks = [0]
    var log = AckLog()
    var consumed = 0
    for mark in marks {
      log.append(mark)
      for entry in log.entries[consumed...] { try history.consume(entry) }
      consumed = log.entries.count
      if history.outcomes != outcomes.last { outcomes.append(history.outcomes) }
      outcomeOfMarks.append(outcomes.count - 1)
    }
    self.outcomes = outcomes
    self.outcomeOfMarks = outcomeOfMarks
    violations = history.violations
    labels = history.labels
  }

  /// The timeline of a recovery from one crash state, with one sentinel commit after it; its marks
  /// are `recovered version V`, `begin N`, `commit N version V+1`.
  init(recoveryOf state: CommittedState, existed: Bool, sentinelNumber: Int) {
    let next = CommittedState(
      transaction: sentinelNumber, version: state.version + 1, sentinels: state.sentinels + 1,
      hashes: state.hashes)
    var step = AllowedOutcomes(mustExist: existed, acked: state, candidates: [])
    var outcomes = [step]
    step.mustExist = true
    outcomes.append(step)
    step.candidates = [next]
    outcomes.append(step)
    outcomes.append(AllowedOutcomes(mustExist: true, acked: next, candidates: []))
    self.outcomes = outcomes
    outcomeOfMarks = Array(outcomes.indices)
    violations = []
    labels = [state.contentHash: state.label, next.contentHash: next.label]
  }

  /// The timeline of a run with only one relevant moment.
  init(only allowed: AllowedOutcomes) {
    outcomes = [allowed]
    outcomeOfMarks = [0]
    violations = []
    labels = Dictionary(
      allowed.states.map { ($0.contentHash, $0.label) }, uniquingKeysWith: { first, _ in first })
  }

  /// Number of marks of the whole run.
  public var markCount: Int { outcomeOfMarks.count - 1 }

  /// The contents allowed after a crash at which this many marks had been seen.
  public func outcomes(marksSeen: Int) -> AllowedOutcomes {
    precondition(outcomeOfMarks.indices.contains(marksSeen), "more marks than the run has")
    return outcomes[outcomeOfMarks[marksSeen]]
  }

  /// The acknowledged contents up to a moment, the newest last, each version once.
  func acknowledged(marksSeen: Int) -> [CommittedState] {
    precondition(outcomeOfMarks.indices.contains(marksSeen), "more marks than the run has")
    var states: [CommittedState] = []
    for outcome in outcomes[...outcomeOfMarks[marksSeen]] where outcome.mustExist {
      // A version that was lost and committed again counts with its new content.
      states.removeAll { $0.version >= outcome.acked.version }
      states.append(outcome.acked)
    }
    return states
  }

  /// Number of the outcomes: crash states with equal images and numbers need only one judgement.
  public func outcomeIndex(marksSeen: Int) -> Int {
    precondition(outcomeOfMarks.indices.contains(marksSeen), "more marks than the run has")
    return outcomeOfMarks[marksSeen]
  }

  /// The name of a content hash in this run, if known.
  func label(of contentHash: UInt64) -> String? {
    labels[contentHash]
  }
}
