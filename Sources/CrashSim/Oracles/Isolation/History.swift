// History.swift: the operations of transactions over lists, as their clients saw them.
// Invariants: a position is a line number in the history's file, and lines are in chronological
// order; a session runs one transaction after the other.

/// An operation of a transaction.
package enum HistoryOperation: Sendable, Hashable {
  /// Appended a value to a list; no other operation appends that value to that list.
  case append(list: Int, value: Int)
  /// Read a whole list.
  case read(list: Int, values: [Int])
}

/// A transaction's outcome, as far as its client knows.
package enum HistoryOutcome: String, Sendable, Hashable, CaseIterable {
  /// The commit was acknowledged.
  case committed
  /// It had no effect, as reported to its client.
  case aborted
  /// The client got no answer: it may have taken effect or not.
  case unknown
}

/// One transaction.
package struct HistoryTransaction: Sendable, Hashable {
  /// Its number in the file.
  package var number: Int
  /// The session that ran it.
  package var session: Int
  /// Position of its begin.
  package var begin: Int
  /// Position after which it cannot take effect; nil when it may take effect at any later time.
  package var end: Int?
  /// Its outcome.
  package var outcome: HistoryOutcome
  /// Its operations, in order.
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
  /// The transactions, with ascending begins.
  package var transactions: [HistoryTransaction]

  /// Makes a history.
  package init(transactions: [HistoryTransaction] = []) { self.transactions = transactions }
}

// MARK: - Lines

/// The lines of a history file (docs/reference/histories.md); each is written in one call, so that
/// a killed process leaves complete ones.
package enum HistoryLine {
  /// The first line of every history.
  package static let header = "{\"history\":1}"
  /// All open transactions have ended, with or without effect: the power failed.
  package static let crash = "{\"crash\":1}"

  /// A transaction begins.
  package static func begin(_ number: Int, session: Int) -> String {
    "{\"begin\":\(number),\"session\":\(session)}"
  }

  /// A transaction's operations; written before it requests its commit.
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
