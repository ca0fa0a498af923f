// ScheduleOracleTests.swift: negative controls of what judges concurrent answers: each broken
// promise, planted in the answers by hand, is found and named; and right answers are not.

import Testing

@testable import LabCore
@testable import Oracles
@testable import Recording
@testable import Scenarios
@testable import Workers
@testable import Workload

@Suite("Schedules: oracles") struct ScheduleOracleTests {
  private static let text = """
    title: t
    schema: {Dog: {_id: int primary, name: string}}
    processes: {app: [ui, background, sync]}
    steps:
      - all: open
      - together:
          - ui: {write: [{upsert: Dog, _id: 1, name: a}]}
          - background: {write: [{upsert: Dog, _id: 1, name: b}]}
          - sync: {pin: one}
          - sync: {pin: two}

    """

  private struct Crew {
    let plan: WorkloadPlan
    var client: WorkerClient
    /// The commands of the block: two writes and two pins.
    let block: [WorkerCommand]

    init(grouped: Bool = false) throws {
      let database = grouped ? "database: {grouped: true}\n" : ""
      let scenario = try ScenarioParser.parse(
        database + ScheduleOracleTests.text, file: "t.yaml")
      plan = try WorkloadPlan(scenario, seed: Seed(rawValue: 1))
      client = WorkerClient(plan)
      block = plan.commands.filter { $0.block != nil }
      for command in plan.commands where command.block == nil {
        let answer: WorkerAnswer
        switch command.action {
        case .open: answer = .done(version: command.actor == "ui" ? 1 : nil)
        default: answer = .done(version: 2)
        }
        #expect(try client.judge(command, answer).isEmpty)
      }
    }

    /// The content after transactions in an order.
    func hash(_ numbers: [Int]) -> UInt64 {
      var model = ReferenceModel(tables: plan.tables, hasTables: false)
      for number in [0] + numbers { _ = model.apply(plan.transactions[number]) }
      return model.contentHash()
    }

    /// What the judge says of versions and contents, in the order in which they were answered.
    mutating func judge(
      _ answers: [(Int, version: UInt64, hash: UInt64?, floor: UInt64)]
    ) throws -> [String] {
      let log = ScheduleLog()
      for (index, version, hash, floor) in answers {
        log.append(
          ScheduleLog.Event(
            command: block[index], answer: .done(version: version, contentHash: hash),
            floor: floor))
      }
      return try log.judge(with: &client).map { "\($0.oracle.rawValue): \($0.got)" }
    }
  }

  @Test("commits in another order than the plan's, answered late, and reads of each version: held")
  func right() throws {
    var crew = try Crew()
    let (none, second, both) = (crew.hash([]), crew.hash([2]), crew.hash([2, 1]))
    #expect(none != second && second != both && both != crew.hash([1, 2]))
    #expect(
      try crew.judge([
        (2, 3, second, 0), (0, 4, nil, 0), (1, 3, nil, 0), (3, 4, both, 4),
      ]).isEmpty)
  }

  @Test("a read of a version older than one acknowledged before it: stale")
  func stale() throws {
    var crew = try Crew()
    let found = try crew.judge([(0, 3, nil, 0), (2, 2, crew.hash([]), 3), (1, 4, nil, 3)])
    #expect(found.count == 1 && found[0].hasPrefix("isolation: stale read: 'sync'"), "\(found)")
  }

  @Test("a read of another content than its version's: the reference model")
  func wrongContent() throws {
    var crew = try Crew()
    let found = try crew.judge([(0, 3, nil, 0), (1, 4, nil, 0), (2, 3, crew.hash([2]), 0)])
    #expect(found.count == 1 && found[0].hasPrefix("referenceModel: version 3"), "\(found)")
  }

  @Test("two commits under one number, and one that was left out: prefix")
  func lostUpdate() throws {
    var same = try Crew()
    #expect(try same.judge([(0, 3, nil, 0), (1, 3, nil, 0)]).contains { $0.hasPrefix("prefix") })
    var gap = try Crew()
    #expect(try gap.judge([(0, 3, nil, 0), (1, 5, nil, 0)]).contains { $0.hasPrefix("prefix") })
  }

  @Test("a group may end in a version of its own, and not in two")
  func groups() throws {
    var one = try Crew(grouped: true)
    #expect(try one.judge([(0, 3, nil, 0), (1, 5, nil, 0)]).isEmpty)
    var two = try Crew(grouped: true)
    #expect(try two.judge([(0, 3, nil, 0), (1, 6, nil, 0)]).contains { $0.hasPrefix("prefix") })
  }

  @Test("a writer that overtakes one who waits: liveness; in order: held")
  func turns() {
    let log = TurnLog()
    for actor in [0, 1] { log.queue(actor) }
    log.take(0)
    log.take(1)
    log.take(2)
    #expect(log.violations(["a", "b", "c"]).isEmpty)
    for actor in [0, 1] { log.queue(actor) }
    log.take(1)
    let found = log.violations(["a", "b", "c"])
    #expect(found.count == 1 && found[0].oracle == .liveness)
    #expect(found.first?.got == "'b' got its turn before 'a', who had waited longer")
  }

  @Test("of two in flight, a crash may leave none, the first, or both; never the second alone")
  func inFlight() throws {
    let crew = try Crew()
    let marks = ["recovered version 1", "begin 0", "commit 0 version 2", "begin 2", "begin 1"]
    let timeline = try OutcomeTimeline(crew.plan, marks: marks.map { Mark($0 + "\n") })
    let allowed = timeline.outcomes(marksSeen: marks.count)
    #expect(allowed.state(version: 2, contentHash: crew.hash([])) != nil)
    #expect(allowed.state(version: 3, contentHash: crew.hash([2])) != nil)
    #expect(allowed.state(version: 4, contentHash: crew.hash([2, 1])) != nil)
    #expect(allowed.state(version: 3, contentHash: crew.hash([1])) == nil)
    let acked = try OutcomeTimeline(
      crew.plan, marks: (marks + ["commit 1 version 4"]).map { Mark($0 + "\n") })
    let after = acked.outcomes(marksSeen: marks.count + 1)
    #expect(after.states.map(\.version) == [4] && acked.violations.isEmpty)
    let late = try OutcomeTimeline(
      crew.plan,
      marks: (marks + ["commit 1 version 4", "commit 2 version 3"]).map { Mark($0 + "\n") })
    #expect(late.outcomes(marksSeen: marks.count + 2).states.map(\.version) == [4])
    #expect(late.violations.isEmpty)
  }
}
