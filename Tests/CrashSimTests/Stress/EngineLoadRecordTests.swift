// EngineLoadRecordTests.swift: the history that the built-in workload says, over rounds: what a
// power cut may take away and what not. Each breach here is one that no look at the file alone
// would show.

import Testing

@testable import LabCore
@testable import Oracles
@testable import Scenarios
@testable import Workload

@Suite("record of the built-in workload")
struct EngineLoadRecordTests {
  /// The session of a part of a round.
  private static func session(round: Int, segment: Int = 0, thread: Int = 0) -> Int {
    EngineLoad.Place(round: round, segment: segment, process: 0, generation: 0)
      .session(thread: thread)
  }

  private static func list(_ values: Int...) -> [LoadList] {
    var list = LoadList(key: 0)
    for value in values { list.append(value) }
    return [list]
  }

  /// A writer's lines; without an end it did not hear of it.
  private static func append(
    _ number: Int, _ value: Int, after values: [Int], session: Int, isAcked: Bool = true
  ) -> [String] {
    let done: [HistoryOperation] = [
      .read(list: 0, values: values), .append(list: 0, value: value),
    ]
    let lines = [
      HistoryLine.begin(number, session: session), HistoryLine.operations(number, done),
    ]
    return lines + (isAcked ? [HistoryLine.end(number, .committed)] : [])
  }

  private static func look(
    _ number: Int, _ values: [Int], at version: Int, session: Int
  ) -> [String] {
    [
      HistoryLine.begin(number, session: session), "seen \(number) \(version)",
      HistoryLine.operations(number, [.read(list: 0, values: values)]),
      HistoryLine.end(number, .committed),
    ]
  }

  private func record(_ lines: [String], mayFail: Bool = false) throws -> EngineLoadRecord {
    var record = EngineLoadRecord(mayFail: mayFail)
    try record.consume(Array(lines.joined(separator: "\n").utf8)[...])
    return record
  }

  @Test("what was acknowledged and is there is right; what is not there is told")
  func acknowledged() throws {
    let lines = ["open 1"] + Self.append(1, 10, after: [], session: Self.session(round: 0))
    var kept = try record(lines)
    #expect(try kept.violations() == [])
    #expect(try kept.survive(2, lists: Self.list(10), round: 0) == [])
    var lost = try record(lines)
    let found = try lost.survive(1, lists: Self.list(), round: 0)
    #expect(found.map(\.oracle) == [.isolation])
    #expect(found.first?.got.contains("stale-read") == true, "\(found)")
  }

  @Test("what was not acknowledged may be there or not, but not come back later")
  func unacknowledged() throws {
    let lines = Self.append(1, 10, after: [], session: Self.session(round: 0), isAcked: false)
    for values in [Self.list(), Self.list(10)] {
      var one = try record(lines)
      #expect(try one.survive(1, lists: values, round: 0) == [])
    }
    var late = try record(lines)
    #expect(try late.survive(1, lists: Self.list(), round: 0) == [])
    let next = Self.look(2, [10], at: 2, session: Self.session(round: 1))
    try late.consume(Array(next.joined(separator: "\n").utf8)[...])
    #expect(try late.violations().isEmpty == false)
  }

  @Test("a read of what an open found may be lost with it; a read of what was published may not")
  func lostReads() throws {
    let write = Self.append(1, 10, after: [], session: Self.session(round: 0), isAcked: false)
    let read = Self.look(2, [10], at: 2, session: Self.session(round: 0, segment: 1))
    var found = try record(["open 1"] + write + ["open 2"] + read)
    #expect(try found.violations() == [])
    #expect(try found.survive(1, lists: Self.list(), round: 0) == [])
    let other = Self.look(2, [10], at: 2, session: Self.session(round: 0, thread: 1))
    var published = try record(["open 1"] + write + other)
    #expect(try published.violations() == [])
    #expect(try published.survive(1, lists: Self.list(), round: 0).isEmpty == false)
  }

  @Test("a failing sync takes away what an open found; nothing else does while the power stays")
  func lostToASync() throws {
    let write = Self.append(1, 10, after: [], session: Self.session(round: 0), isAcked: false)
    let read = Self.look(2, [10], at: 2, session: Self.session(round: 0, segment: 1))
    let other = Self.append(3, 30, after: [], session: Self.session(round: 0, segment: 2))
    let lines = ["open 1"] + write + ["open 2"] + read + ["open 1"] + other
    #expect(try record(lines, mayFail: true).violations() == [])
    #expect(try record(lines).violations().isEmpty == false)
    // What was seen before is judged all the same: nobody wrote 20.
    let wrong = Self.look(2, [20], at: 2, session: Self.session(round: 0, segment: 1))
    let broken = ["open 1"] + write + ["open 2"] + wrong + ["open 1"] + other
    #expect(try record(broken, mayFail: true).violations().isEmpty == false)
    // Nor may what was acknowledged go, or what no open had found.
    let acked = Self.append(1, 10, after: [], session: Self.session(round: 0))
    let lost = ["open 1"] + acked + ["open 2"] + read + ["open 1"] + other
    #expect(try record(lost, mayFail: true).violations().isEmpty == false)
    let unfound = ["open 1"] + write + read + ["open 1"] + other
    #expect(try record(unfound, mayFail: true).violations().isEmpty == false)
  }

  @Test("after all were killed, what nobody saw when it was over does not come to light")
  func segments() throws {
    let write = Self.append(1, 10, after: [], session: Self.session(round: 0), isAcked: false)
    let first = Self.look(2, [], at: 1, session: Self.session(round: 0, segment: 1))
    let second = Self.look(
      3, [10], at: 2, session: Self.session(round: 0, segment: 1, thread: 1))
    #expect(try record(write + first).violations() == [])
    #expect(try record(write + first + second).violations().isEmpty == false)
  }

  @Test("the model and a record of the same output agree on a swarm's lists")
  func plan() throws {
    var options = EngineLoadOptions()
    options.lists = 3
    options.listsPerTransaction = 3
    var lists = (0..<3).map { LoadList(key: Int64($0)) }
    var record = EngineLoadRecord()
    var history = EngineLoadHistory(options)
    var lines = ["open 1"]
    for number in 1..<120 {
      let seed = Seed(rawValue: 9).derived(UInt64(number)).rawValue
      let version = number + 1
      let done = EngineLoadPlan(seed, options).runLists(
        number: number, read: { lists[Int($0)] },
        write: { (mutation: Mutation) in
          lists[Int(mutation.key)] = LoadList(key: mutation.key, mutation.values) ?? lists[0]
        })
      lines += [
        HistoryLine.begin(number, session: Self.session(round: 0)),
        "begin \(version) \(seed) \(number)", HistoryLine.operations(number, done),
        "commit \(version)", HistoryLine.end(number, .committed),
      ]
    }
    let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
    try history.consume(bytes)
    try record.consume(bytes[...])
    #expect(history.violations == [] && history.version == 120)
    #expect(history.lists == lists)
    #expect(lists.contains { $0.generation > 0 })
    #expect(try record.survive(120, lists: history.lists, round: 0) == [])
  }

  @Test("lines that are no history are refused")
  func garbage() {
    #expect(throws: LabError.self) { try record(["{\"begin\":1"]) }
  }
}
