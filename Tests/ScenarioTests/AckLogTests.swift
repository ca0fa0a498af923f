// AckLogTests.swift: acknowledgements are read as they were printed.

import Testing

@testable import LabCore
@testable import Oracles
@testable import Recording
@testable import Workload

@Suite struct AckLogTests {
  static let entries: [AckLog.Entry] = [
    .recovered(version: 1), .begin(0), .number(0, version: 2), .commit(0, version: 2), .begin(1),
    .failed(1, code: "io"),
    .recovered(version: .max), .begin(2), .cancel(2), .begin(3),
  ]

  @Test("marks are read back as they were written")
  func roundTrip() {
    let log = AckLog(Self.entries.map(\.mark))
    #expect(log.entries == Self.entries)
    #expect(log.acked == [0])
    #expect(log.cancelled == [2])
    #expect(log.inFlight == 3)
    #expect(log.lastAckedVersion == .max)
  }

  @Test("a line may come in pieces, and a mark may hold many lines")
  func pieces() {
    let text = Self.entries.map { $0.description + "\n" }.joined()
    #expect(AckLog([Mark(text)]).entries == Self.entries)
    #expect(AckLog(text.utf8.map { Mark(bytes: [$0]) }).entries == Self.entries)
  }

  @Test(
    "what is not an acknowledgement is passed over",
    arguments: [
      "", "begin", "begin x", "begin 1 2", "commit 1", "commit 1 version", "commit 1 version -1",
      "commit 1 versoin 2", "failed 1", "failed 1 ", "recovered 1", "begin +1", "hello begin 1",
      "begin 99999999999999999999999",
    ])
  func noise(text: String) {
    #expect(AckLog([Mark(text + "\n")]).entries.isEmpty)
  }

  @Test("an unfinished line counts only when its end has come")
  func unfinished() {
    var log = AckLog([Mark("begin 12")])
    #expect(log.inFlight == nil)
    log.append(Mark("3\n"))
    #expect(log.inFlight == 123)
  }

  @Test("a failed sync leaves a commit in doubt until the next open says what the disk holds")
  func doubt() throws {
    let scenario = try parsed(
      preamble + """
        steps:
          - ui: open
          - ui: {write: [{insert: Dog, _id: 1}]}
          - ui: {write: [{insert: Dog, _id: 2}], fails: io}
          - ui: {write: [{insert: Dog, _id: 3}], fails: poisoned}
          - ui: reopen
          - ui: {write: [{insert: Dog, _id: 4}]}
        """)
    let plan = try WorkloadPlan(scenario, seed: Seed(rawValue: 1))
    func versions(_ entries: [AckLog.Entry]) throws -> [UInt64] {
      let timeline = try OutcomeTimeline(plan, marks: entries.map(\.mark))
      #expect(timeline.violations.isEmpty)
      return timeline.outcomes(marksSeen: entries.count).states.map(\.version)
    }
    let start: [AckLog.Entry] = [
      .recovered(version: 1), .begin(0), .number(0, version: 2), .commit(0, version: 2), .begin(1),
      .commit(1, version: 3),
      .begin(2),
    ]
    let failed = start + [.failed(2, code: "io"), .begin(3), .failed(3, code: "poisoned")]
    #expect(try versions(start) == [3, 4])
    #expect(try versions(failed) == [3, 4])
    // Found or not: the open says so, but only a later commit makes what was found durable.
    #expect(try versions(failed + [.recovered(version: 3)]) == [3])
    #expect(try versions(failed + [.recovered(version: 4)]) == [3, 4])
    #expect(try versions(failed + [.recovered(version: 4), .begin(4)]) == [3, 4, 5])
    #expect(
      try versions(failed + [.recovered(version: 4), .begin(4), .commit(4, version: 5)]) == [5])
    #expect(
      try versions(failed + [.recovered(version: 3), .begin(4), .commit(4, version: 4)]) == [4])
    for version: UInt64 in [2, 5] {
      let marks = (failed + [.recovered(version: version)]).map(\.mark)
      let timeline = try OutcomeTimeline(plan, marks: marks)
      #expect(timeline.violations.map(\.oracle) == [version == 2 ? .durability : .prefix])
    }
    #expect(throws: LabError.self) { try versions([.begin(7)]) }
    #expect(throws: LabError.self) { try versions([.commit(0, version: 2)]) }
  }
}
