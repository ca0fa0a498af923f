// IsolationAgreementTests.swift: the oracle and the definition agree on thousands of small random
// histories, right ones and wrong ones; and a store that runs one transaction after the other never
// gives an anomaly.

import Testing

@testable import LabCore
@testable import Oracles

@Suite("isolation oracle and definition")
struct IsolationAgreementTests {
  /// A store that is right with some chance: reads may lag behind, commits may be dropped, and
  /// clients may not hear of them.
  private struct Store {
    var random: PRNG
    var lists: [[Int]] = [[], []]
    var value = 0

    mutating func history(count: Int, sessions: Int, isRight: Bool) throws -> History {
      var events: [HistoryEvent] = []
      var waiting = Array(1...count)
      var open: [(number: Int, session: Int)] = []
      while !waiting.isEmpty || !open.isEmpty {
        let isFree = open.count < sessions && !waiting.isEmpty
        if isFree, open.isEmpty || random.chance(Ratio(1, in: 2)) {
          let free = (0..<sessions).filter { session in !open.contains { $0.session == session } }
          let session = free[random.below(free.count)]
          let number = waiting.removeFirst()
          events.append(.begin(number, session: session))
          open.append((number, session))
        } else {
          let place = random.below(open.count)
          let number = open.remove(at: place).number
          events.append(end(number, isRight: isRight))
        }
      }
      return try History(events: events)
    }

    private mutating func end(_ number: Int, isRight: Bool) -> HistoryEvent {
      var own = lists
      if !isRight, random.chance(Ratio(1, in: 2)) {
        // An older version, of one list or of both.
        for list in own.indices where random.chance(Ratio(1, in: 2)) {
          own[list] = Array(own[list].prefix(random.below(own[list].count + 1)))
        }
      }
      var operations: [HistoryOperation] = []
      for _ in 0..<1 + random.below(3) {
        let list = random.below(2)
        if random.chance(Ratio(1, in: 2)) {
          operations.append(.read(list: list, values: own[list]))
        } else {
          value += 1
          own[list].append(value)
          operations.append(.append(list: list, value: value))
        }
      }
      let draw = random.below(12)
      let outcome: HistoryOutcome = draw == 0 ? .aborted : draw == 1 ? .unknown : .committed
      let isKept = outcome == .committed || outcome == .unknown && random.chance(Ratio(1, in: 2))
      let isWrong = !isRight && random.chance(Ratio(1, in: 6))
      if isKept != isWrong {
        for case .append(let list, let value) in operations {
          let place =
            isRight || random.chance(Ratio(7, in: 8))
            ? lists[list].count : random.below(lists[list].count + 1)
          lists[list].insert(value, at: place)
        }
      }
      return .end(number, outcome, operations)
    }
  }

  @Test("4,000 histories: an anomaly exactly where no order explains the reads")
  func agreement() throws {
    let levels: [IsolationLevel] = [
      .serializable, .strongSessionSerializable, .strictSerializable,
    ]
    var kept = [0, 0, 0]
    let total = 4000
    for seed in 0..<total {
      var store = Store(random: PRNG(Seed(rawValue: UInt64(seed)).derived("agreement")))
      let count = 2 + store.random.below(4)
      let history = try store.history(
        count: count, sessions: 1 + store.random.below(3), isRight: seed % 4 == 0)
      let report = try IsolationOracle.check(history)
      for (index, level) in levels.enumerated() {
        let isExplained = SerialOrders.explain(history, level: level)
        if report.holds(level) != isExplained {
          let told = report.lines(judgedBy: level).joined(separator: "\n")
          Issue.record("seed \(seed): some order explains it: \(isExplained)\n\(history)\n\(told)")
        }
        if isExplained { kept[index] += 1 }
      }
    }
    // Both answers are frequent, and each level forbids more than the one before it.
    #expect(kept[0] > kept[1] && kept[1] > kept[2], "\(kept)")
    #expect(kept[2] > total / 4 && kept[0] < total - 200, "\(kept)")
  }

  @Test("a store that runs one transaction after the other has no anomaly, whatever clients hear")
  func right() throws {
    for seed in 0..<30 {
      var store = Store(random: PRNG(Seed(rawValue: UInt64(seed)).derived("right")))
      let history = try store.history(count: 150, sessions: 5, isRight: true)
      let report = try IsolationOracle.check(history)
      #expect(report.anomalies == [], "seed \(seed)")
    }
  }

  @Test("one value moved in a long right history is found")
  func needle() throws {
    for seed in 0..<30 {
      var store = Store(random: PRNG(Seed(rawValue: UInt64(seed)).derived("needle")))
      var history = try store.history(count: 150, sessions: 5, isRight: true)
      let places = history.transactions.indices.filter { place in
        history.transactions[place].outcome == .committed
          && history.transactions[place].operations.contains {
            if case .read(_, let values) = $0 { values.count > 1 } else { false }
          }
      }
      let place = places[store.random.below(places.count)]
      history.transactions[place].operations = history.transactions[place].operations.map {
        guard case .read(let list, let values) = $0, values.count > 1 else { return $0 }
        return .read(list: list, values: values.dropLast(2) + [values[values.count - 1]])
      }
      #expect(try IsolationOracle.check(history).anomalies != [], "seed \(seed)")
    }
  }
}
