// CommitHistoryTests.swift: from acknowledgements to what may be there, one by one, where whole
// runs hardly come: groups, copies, what a killed process left, the time before the first open.

import Findings
import Testing

@testable import LabCore
@testable import Oracles
@testable import Scenarios
@testable import Workload

@Suite("Commit history")
struct CommitHistoryTests {
  /// Three transactions, each of one row; the second writes a copy before it ends.
  private func plan(grouped: Bool = false) throws -> WorkloadPlan {
    let yaml = """
      title: history
      schema: {Dog: {_id: int primary, name: string}}
      database: {grouped: \(grouped)}
      processes: {app: [ui]}
      steps:
        - ui: open
        - ui: {write: [{insert: Dog, _id: 1, name: a}]}
        - ui: {write: [{insert: Dog, _id: 2, name: b}], copy: seen}
        - ui: {write: [{insert: Dog, _id: 3, name: c}]}
      """
    return try WorkloadPlan(
      try ScenarioParser.parse(yaml, file: "t.yaml"), seed: Seed(rawValue: 1))
  }

  private func history(
    grouped: Bool = false, _ entries: [AckLog.Entry]
  ) throws -> CommitHistory {
    var history = CommitHistory(try plan(grouped: grouped), emptyVersion: 1)
    for entry in entries { try history.consume(entry) }
    return history
  }

  private func versions(_ history: CommitHistory) -> [UInt64] {
    history.outcomes.candidates.map(\.version).sorted()
  }

  @Test("a group in flight may end in the next version, or in one more, and in none before")
  func groups() throws {
    let open: [AckLog.Entry] = [.recovered(version: 1), .begin(0)]
    #expect(try versions(history(open)) == [2])
    #expect(try versions(history(grouped: true, open)) == [2, 2, 3])
  }

  @Test("a content is called by the number that its transaction was given")
  func numbers() throws {
    let history = try history(
      grouped: true, [.recovered(version: 1), .begin(0), .number(0, version: 3)])
    let hash = try #require(history.outcomes.candidates.first).contentHash
    #expect(history.labels[hash] == "version 3 (transaction 0)")
    #expect(history.violations.isEmpty)
  }

  @Test("a copy that a transaction writes has what the transaction sees")
  func copies() throws {
    var history = try history([
      .recovered(version: 1), .begin(0), .commit(0, version: 2), .begin(1),
    ])
    let hash = try #require(history.outcomes.candidates.first).contentHash
    try history.consume(.copied("seen"))
    #expect(history.outcomes.copies == ["seen": hash])
    #expect(hash != history.outcomes.acked.contentHash)
    try history.consume(.copied("other"))
    #expect(history.outcomes.copies["other"] == history.outcomes.acked.contentHash)
  }

  @Test("a commit on top of what a killed process left leaves nothing else possible")
  func orphans() throws {
    var history = try history([
      .recovered(version: 1), .begin(0), .failed(0, code: AckLog.killedCode),
    ])
    #expect(versions(history) == [2])
    try history.consume(.begin(1))
    // On top of the empty database, or of what was left.
    #expect(versions(history) == [2, 2, 3])
    try history.consume(.commit(1, version: 2))
    #expect(history.outcomes.acked.version == 2 && history.outcomes.candidates.isEmpty)
    try history.consume(.begin(2))
    #expect(versions(history) == [3])
  }

  @Test("before the first acknowledgement an empty database may have any number")
  func emptyDatabase() throws {
    let history = try history([])
    let timeline = try OutcomeTimeline(plan(), marks: [])
    var seen = RecoveredState()
    seen.version = 0
    seen.contentHash = history.outcomes.acked.contentHash
    #expect(AtomicityOracle.judge(seen, history.outcomes, timeline) == nil)
    #expect(ReferenceModelOracle.judge(seen, history.outcomes, timeline) == nil)
    seen.contentHash = 1
    #expect(AtomicityOracle.judge(seen, history.outcomes, timeline) != nil)
  }
}
