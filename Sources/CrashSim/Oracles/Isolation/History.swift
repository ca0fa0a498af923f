// History.swift: what transactions over lists did, as their clients saw it.
// Invariants: a position is the number of a line in the history's file, and lines stand in the
// order in which things happened; a session runs one transaction after the other.

/// One thing that a transaction did.
package enum HistoryOperation: Sendable, Hashable {
  /// Put a value at the end of a list; nobody else appends that value to that list.
  case append(list: Int, value: Int)
  /// Saw a whole list.
  case read(list: Int, values: [Int])
}

/// How a transaction ended, as far as its client knows.
package enum HistoryOutcome: String, Sendable, Hashable, CaseIterable {
  /// The commit was acknowledged.
  case committed
  /// It has had no effect, as its client was told.
  case aborted
  /// The client never heard: it may have taken effect or not.
  case unknown
}

/// One transaction.
package struct HistoryTransaction: Sendable, Hashable {
  /// Its number in the file.
  package var number: Int
  /// Who ran it.
  package var session: Int
  /// Position of its begin.
  package var begin: Int
  /// Position at which it was over for good; nil when it may take effect at any time later.
  package var end: Int?
  /// How it ended.
  package var outcome: HistoryOutcome
  /// What it did, in order.
  package var operations: [HistoryOperation]

  /// Makes a transaction.
  package init(
    number: Int, session: Int, begin: Int, end: Int?, outcome: HistoryOutcome,
    operations: [HistoryOperation]
  ) {
    self.number = number
    self.session = session
    self.begin = begin
    self.end = end
    self.outcome = outcome
    self.operations = operations
  }
}

/// Transactions over lists, in the order in which they began.
package struct History: Sendable, Hashable {
  /// The transactions; positions of begins rise.
  package var transactions: [HistoryTransaction]

  /// Makes a history.
  package init(transactions: [HistoryTransaction] = []) { self.transactions = transactions }
}

// MARK: - Lines

/// The lines of a history file (docs/reference/histories.md); each is written by one call, so that
/// a killed process leaves whole ones.
package enum HistoryLine {
  /// The first line of every history.
  package static let header = "{\"history\":1}"
  /// Everything that is still open has ended, with or without effect: the power went.
  package static let crash = "{\"crash\":1}"

  /// A transaction begins.
  package static func begin(_ number: Int, session: Int) -> String {
    "{\"begin\":\(number),\"session\":\(session)}"
  }

  /// What a transaction did; written before it asks for its commit.
  package static func operations(_ number: Int, _ operations: [HistoryOperation]) -> String {
    let items = operations.map { operation in
      switch operation {
      case .append(let list, let value): "[\"append\",\(list),\(value)]"
      case .read(let list, let values):
        "[\"read\",\(list),[\(values.map { "\($0)" }.joined(separator: ","))]]"
      }
    }
    return "{\"ops\":\(number),\"do\":[\(items.joined(separator: ","))]}"
  }

  /// A transaction ends.
  package static func end(_ number: Int, _ outcome: HistoryOutcome) -> String {
    "{\"end\":\(number),\"outcome\":\"\(outcome.rawValue)\"}"
  }
}
