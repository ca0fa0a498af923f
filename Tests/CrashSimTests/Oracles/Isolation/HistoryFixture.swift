// HistoryFixture.swift: histories for tests, written as lines and parsed as files are.

@testable import Oracles

/// One thing that happens in a history.
enum HistoryEvent {
  case begin(Int, session: Int)
  case end(Int, HistoryOutcome, [HistoryOperation])
  case crash

  var lines: [String] {
    switch self {
    case .begin(let number, let session): [HistoryLine.begin(number, session: session)]
    case .end(let number, let outcome, let operations):
      [HistoryLine.operations(number, operations), HistoryLine.end(number, outcome)]
    case .crash: [HistoryLine.crash]
    }
  }
}

/// A transaction of a planted history.
struct PlantedTransaction {
  let operations: [HistoryOperation]
  var outcome = HistoryOutcome.committed

  init(_ operations: HistoryOperation..., outcome: HistoryOutcome = .committed) {
    self.operations = operations
    self.outcome = outcome
  }
}

func append(_ list: Int, _ value: Int) -> HistoryOperation { .append(list: list, value: value) }
func read(_ list: Int, _ values: Int...) -> HistoryOperation { .read(list: list, values: values) }

extension History {
  /// Parses the lines of events.
  init(events: [HistoryEvent]) throws {
    let text = ([HistoryLine.header] + events.flatMap(\.lines)).joined(separator: "\n") + "\n"
    self = try HistoryParser.parse(Array(text.utf8), file: "planted.jsonl")
  }

  /// Transactions that all run at the same time, each in a session of its own.
  static func concurrent(_ transactions: [PlantedTransaction]) throws -> History {
    let begins = transactions.indices.map { HistoryEvent.begin($0 + 1, session: $0) }
    let ends = transactions.enumerated().map {
      HistoryEvent.end($0.offset + 1, $0.element.outcome, $0.element.operations)
    }
    return try History(events: begins + ends)
  }

  /// Transactions one after the other, in one session or in one each.
  static func sequential(
    _ transactions: [PlantedTransaction], inOneSession: Bool
  ) throws -> History {
    try History(
      events: transactions.enumerated().flatMap { index, transaction in
        [
          HistoryEvent.begin(index + 1, session: inOneSession ? 0 : index),
          .end(index + 1, transaction.outcome, transaction.operations),
        ]
      })
  }
}
