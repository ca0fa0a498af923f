// IsolationAnomalyTests.swift: each anomaly planted, found and named, with the strongest level that
// remains; and histories beside them that have none.

import Testing

@testable import LabCore
@testable import Oracles

@Suite("isolation anomalies")
struct IsolationAnomalyTests {
  /// A history, what is wrong with it, and what level it keeps all the same.
  struct Case: CustomTestStringConvertible, Sendable {
    let name: AnomalyName
    let strongest: IsolationLevel?
    let words: String
    let make: @Sendable () throws -> History
    var testDescription: String { "\(name.rawValue): \(words)" }

    init(
      _ name: AnomalyName, _ strongest: IsolationLevel?, _ words: String,
      _ make: @escaping @Sendable () throws -> History
    ) {
      self.name = name
      self.strongest = strongest
      self.words = words
      self.make = make
    }
  }

  static let withoutOrder: [Case] = [
    Case(.garbageRead, nil, "no transaction appended") {
      try .concurrent([.init(append(1, 1)), .init(read(1, 1, 9))])
    },
    Case(.duplicateRead, nil, "in it twice") {
      try .concurrent([.init(append(1, 1)), .init(read(1, 1, 1))])
    },
    Case(.incompatibleReads, nil, "differ at place 1") {
      try .concurrent([
        .init(append(1, 1)), .init(append(1, 2)), .init(read(1, 1, 2)), .init(read(1, 2)),
      ])
    },
    Case(.reorderedAppends, nil, "appended 1 and then 2") {
      try .concurrent([.init(append(1, 1), append(1, 2)), .init(read(1, 2, 1))])
    },
    Case(.reorderedAppends, nil, "the list was read as [2]") {
      try .concurrent([.init(append(1, 1), append(1, 2)), .init(read(1, 2))])
    },
    Case(.writeCycle, nil, "(ww)") {
      try .concurrent([
        .init(append(1, 1), append(2, 1)), .init(append(1, 2), append(2, 2)),
        .init(read(1, 1, 2), read(2, 2, 1)),
      ])
    },
    Case(.writeCycle, nil, "(ww)") {
      // Appends of one transaction with those of another in between.
      try .concurrent([
        .init(append(1, 1), append(1, 3)), .init(append(1, 2)), .init(read(1, 1, 2, 3)),
      ])
    },
    Case(.abortedRead, .readUncommitted, "and that was aborted") {
      try .concurrent([.init(append(1, 1), outcome: .aborted), .init(read(1, 1))])
    },
    Case(.intermediateRead, .readUncommitted, "before it appended more") {
      try .concurrent([.init(append(1, 1), append(1, 2)), .init(read(1, 1))])
    },
    Case(.circularFlow, .readUncommitted, "(wr)") {
      try .concurrent([
        .init(append(1, 1), read(2, 2)), .init(append(2, 2), read(1, 1)),
      ])
    },
    Case(.internalRead, .readCommitted, "by its own reads and appends it is [1]") {
      try .concurrent([.init(append(1, 1)), .init(append(1, 2)), .init(read(1, 1), read(1, 1, 2))])
    },
    Case(.internalRead, .readCommitted, "and then read it as []") {
      try .concurrent([.init(append(1, 1), read(1))])
    },
    Case(.lostUpdate, .readCommitted, "read the same and appended 3") {
      try .concurrent([
        .init(append(1, 1)), .init(read(1, 1), append(1, 2)), .init(read(1, 1), append(1, 3)),
        .init(read(1, 1, 2)),
      ])
    },
    Case(.lostUpdate, .readCommitted, "read the same") {
      try .concurrent([
        .init(read(1), append(1, 2)), .init(read(1), append(1, 3)), .init(read(1, 2, 3)),
      ])
    },
    Case(.singleAntiDependency, .readCommitted, "(rw)") {
      // Half of another transaction is seen.
      try .concurrent([
        .init(append(1, 1), append(2, 1)), .init(read(1, 1), read(2)), .init(read(2, 1)),
      ])
    },
    Case(.nonadjacentAntiDependencies, .readCommitted, "(rw)") {
      // The long fork: two readers see two writers in different orders.
      try .concurrent([
        .init(append(1, 1)), .init(append(2, 2)), .init(read(1, 1), read(2)),
        .init(read(1), read(2, 2)),
      ])
    },
    Case(.antiDependencyCycle, .snapshotIsolation, "(rw)") {
      // Write skew.
      try .concurrent([
        .init(read(1), append(2, 2)), .init(read(2), append(1, 1)),
        .init(read(1, 1), read(2, 2)),
      ])
    },
  ]

  static let withOrder: [Case] = [
    Case(.circularFlowProcess, .serializable, "both ran in session 0") {
      // The second in its session is read by the first.
      try History(events: [
        .begin(1, session: 0), .begin(3, session: 1), .end(1, .committed, [read(1, 2)]),
        .begin(2, session: 0), .end(2, .committed, [append(1, 2)]), .end(3, .committed, []),
      ])
    },
    Case(.writeCycleProcess, .serializable, "(session)") {
      try History(events: [
        .begin(1, session: 0), .begin(3, session: 1), .end(1, .committed, [append(1, 1)]),
        .begin(2, session: 0), .end(2, .committed, [append(1, 2)]),
        .end(3, .committed, [read(1, 2, 1)]),
      ])
    },
    Case(.singleAntiDependencyProcess, .serializable, "(session)") {
      // A session that does not see its own last write.
      try .sequential([.init(append(1, 1)), .init(read(1)), .init(read(1, 1))], inOneSession: true)
    },
    Case(.antiDependencyCycleProcess, .serializable, "(session)") {
      try History(events: [
        .begin(1, session: 0), .begin(2, session: 1), .end(1, .committed, [append(2, 2)]),
        .begin(3, session: 0), .end(3, .committed, [read(1)]),
        .end(2, .committed, [append(1, 1), read(2)]),
      ])
    },
    Case(.nonadjacentAntiDependenciesProcess, .serializable, "(session)") {
      // Each session misses what the other one wrote before.
      try History(events: [
        .begin(1, session: 0), .begin(2, session: 1), .end(1, .committed, [append(1, 1)]),
        .end(2, .committed, [append(2, 2)]), .begin(3, session: 0), .begin(4, session: 1),
        .end(3, .committed, [read(2)]), .end(4, .committed, [read(1)]),
      ])
    },
    Case(.staleRead, .strongSessionSerializable, "began after that") {
      try .sequential([.init(append(1, 1)), .init(read(1))], inOneSession: false)
    },
    Case(.writeCycleRealtime, .strongSessionSerializable, "(real time)") {
      try .sequential(
        [.init(append(1, 1)), .init(append(1, 2)), .init(read(1, 2, 1))], inOneSession: false)
    },
    Case(.circularFlowRealtime, .strongSessionSerializable, "(real time)") {
      try .sequential([.init(read(1, 1)), .init(append(1, 1))], inOneSession: false)
    },
    Case(.singleAntiDependencyRealtime, .strongSessionSerializable, "(real time)") {
      // What one reader saw, a later one does not; the writer has not heard yet.
      try History(events: [
        .begin(1, session: 0), .begin(2, session: 1), .end(2, .committed, [read(1, 1)]),
        .begin(3, session: 2), .end(3, .committed, [read(1)]), .end(1, .committed, [append(1, 1)]),
      ])
    },
    Case(.nonadjacentAntiDependenciesRealtime, .strongSessionSerializable, "(real time)") {
      try History(events: [
        .begin(2, session: 2), .begin(3, session: 3), .begin(4, session: 4),
        .end(4, .committed, [append(2, 2)]), .begin(1, session: 1),
        .end(1, .committed, [read(1)]), .end(3, .committed, [read(1, 1), read(2)]),
        .end(2, .committed, [append(1, 1)]),
      ])
    },
    Case(.antiDependencyCycleRealtime, .strongSessionSerializable, "(real time)") {
      try History(events: [
        .begin(1, session: 0), .begin(2, session: 1), .end(1, .committed, [append(2, 2)]),
        .begin(3, session: 2), .end(3, .committed, [read(1)]),
        .end(2, .committed, [append(1, 1), read(2)]),
      ])
    },
  ]

  @Test("each anomaly is found, named and told", arguments: withoutOrder + withOrder)
  func planted(_ item: Case) throws {
    let report = try IsolationOracle.check(try item.make())
    let names = report.anomalies.map(\.name)
    let text = report.lines(judgedBy: .strictSerializable).joined(separator: "\n")
    #expect(names.contains(item.name), "\(text)")
    #expect(report.strongestLevel == item.strongest, "\(text)")
    #expect(text.contains(item.words), "\(text)")
    #expect(!report.holds(.strictSerializable))
    #expect(try report.json().contains("\"\(item.name.rawValue)\""))
  }

  @Test("circles of five transactions are told whole")
  func longCircle() throws {
    let report = try IsolationOracle.check(
      try .concurrent(
        (0..<5).map { PlantedTransaction(append($0, $0), read(($0 + 1) % 5, ($0 + 1) % 5)) }))
    #expect(report.anomalies.map(\.name) == [.circularFlow])
    #expect(Set(report.anomalies[0].transactions) == [1, 2, 3, 4, 5])
    #expect(report.anomalies[0].lines.count == 6)
  }

  @Test("each circle of its own component is told, most of a name are counted only")
  func many() throws {
    let report = try IsolationOracle.check(
      try .concurrent(
        (0..<20).flatMap { pair in
          [
            PlantedTransaction(append(2 * pair, 1), read(2 * pair + 1, 2)),
            PlantedTransaction(append(2 * pair + 1, 2), read(2 * pair, 1)),
          ]
        }))
    #expect(report.anomalies.count == VersionOrders.toldMax)
    #expect(report.counts == [AnomalyCount(name: .circularFlow, count: 20)])
  }

  @Test("what no level forbids: unknown ends, crashes, long-lived readers")
  func innocent() throws {
    let unknownSeen = try History.concurrent([
      .init(append(1, 1), outcome: .unknown), .init(read(1, 1)),
    ])
    let unknownLost = try History.sequential(
      [.init(append(1, 1), outcome: .unknown), .init(read(1))], inOneSession: false)
    // A killed writer's commit may come to light when the next writer looks, not before.
    let late = try History.sequential(
      [.init(append(1, 1), outcome: .unknown), .init(read(1)), .init(read(1, 1))],
      inOneSession: false)
    let oldReader = try History(events: [
      .begin(1, session: 0), .begin(2, session: 1), .end(2, .committed, [append(1, 1)]),
      .end(1, .committed, [read(1)]),
    ])
    for history in [unknownSeen, unknownLost, late, oldReader, History()] {
      let report = try IsolationOracle.check(history)
      #expect(report.anomalies == [])
      #expect(report.strongestLevel == .strictSerializable)
    }
  }

  @Test("after a crash nothing that was open comes to light later")
  func crash() throws {
    let events: [HistoryEvent] = [
      .begin(1, session: 0), .crash, .begin(2, session: 0), .end(2, .committed, [read(1)]),
      .begin(3, session: 0), .end(3, .committed, [read(1)]),
    ]
    #expect(try IsolationOracle.check(try History(events: events)).anomalies == [])
    let text = """
      {"history":1}
      {"begin":1,"session":0}
      {"ops":1,"do":[["append",1,1]]}
      {"crash":1}
      {"begin":2,"session":0}
      {"ops":2,"do":[["read",1,[]]]}
      {"end":2,"outcome":"committed"}
      {"begin":3,"session":1}
      {"ops":3,"do":[["read",1,[1]]]}
      {"end":3,"outcome":"committed"}
      """
    let history = try HistoryParser.parse(Array(text.utf8), file: "t")
    let report = try IsolationOracle.check(history)
    #expect(report.anomalies.map(\.name) == [.staleRead])
  }

  @Test("one value appended to a list twice is refused")
  func twice() throws {
    let history = try History.concurrent([.init(append(1, 1)), .init(append(1, 1))])
    #expect(throws: LabError.self) { try IsolationOracle.check(history) }
  }
}
