// HistoryAnomaly.swift: the anomalies of a history, in Adya's terms ("Weak Consistency: A
// Generalized Theory and Optimistic Implementations for Distributed Transactions", 1999), and the
// levels of isolation that forbid them.

/// A level of isolation; each forbids what the previous one does, and more.
package enum IsolationLevel: String, Sendable, Codable, CaseIterable, Comparable {
  /// Adya's PL-1: writes of transactions are not interleaved.
  case readUncommitted = "read-uncommitted"
  /// Adya's PL-2: only committed, final values are read.
  case readCommitted = "read-committed"
  /// Adya's PL-SI: each transaction reads from one version of everything.
  case snapshotIsolation = "snapshot-isolation"
  /// Adya's PL-3: equivalent to running one transaction after the other.
  case serializable
  /// The same, in an order that keeps that of each session.
  case strongSessionSerializable = "strong-session-serializable"
  /// The same, in an order that keeps that of time.
  case strictSerializable = "strict-serializable"

  /// Weaker levels come first.
  package static func < (left: IsolationLevel, right: IsolationLevel) -> Bool {
    left.rank < right.rank
  }

  private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

  /// All names, for messages.
  package static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

/// Name of an anomaly.
package enum AnomalyName: String, Sendable, Codable, CaseIterable {
  /// A value that was never appended was read.
  case garbageRead = "garbage-read"
  /// A value was read twice in one list.
  case duplicateRead = "duplicate-read"
  /// Of two reads of a list, neither is a prefix of the other.
  case incompatibleReads = "incompatible-reads"
  /// Appends of one transaction to a list are in another order.
  case reorderedAppends = "reordered-appends"
  /// Transactions overwrote each other in a cycle.
  case writeCycle = "G0"
  /// An aborted transaction's append was read.
  case abortedRead = "G1a"
  /// A read returned an append of a transaction that was not its last one to the list.
  case intermediateRead = "G1b"
  /// Information flowed in a cycle.
  case circularFlow = "G1c"
  /// A transaction did not see its own appends, or two versions of a list.
  case internalRead = "internal"
  /// Two transactions appended to the version of a list that both had read.
  case lostUpdate = "lost-update"
  /// A cycle with one anti-dependency.
  case singleAntiDependency = "G-single"
  /// A cycle in which no two anti-dependencies follow each other.
  case nonadjacentAntiDependencies = "G-nonadjacent"
  /// A cycle with anti-dependencies on items.
  case antiDependencyCycle = "G2-item"
  /// `G0` with the order of a session.
  case writeCycleProcess = "G0-process"
  /// `G1c` with the order of a session.
  case circularFlowProcess = "G1c-process"
  /// `G-single` with the order of a session.
  case singleAntiDependencyProcess = "G-single-process"
  /// `G-nonadjacent` with the order of a session.
  case nonadjacentAntiDependenciesProcess = "G-nonadjacent-process"
  /// `G2-item` with the order of a session.
  case antiDependencyCycleProcess = "G2-item-process"
  /// A transaction did not see what was acknowledged before it began.
  case staleRead = "stale-read"
  /// `G0` with the order of time.
  case writeCycleRealtime = "G0-realtime"
  /// `G1c` with the order of time.
  case circularFlowRealtime = "G1c-realtime"
  /// `G-single` with the order of time.
  case singleAntiDependencyRealtime = "G-single-realtime"
  /// `G-nonadjacent` with the order of time.
  case nonadjacentAntiDependenciesRealtime = "G-nonadjacent-realtime"
  /// `G2-item` with the order of time.
  case antiDependencyCycleRealtime = "G2-item-realtime"

  /// The weakest level that forbids it.
  package var level: IsolationLevel {
    switch self {
    case .garbageRead, .duplicateRead, .incompatibleReads, .reorderedAppends, .writeCycle:
      .readUncommitted
    case .abortedRead, .intermediateRead, .circularFlow: .readCommitted
    case .internalRead, .lostUpdate, .singleAntiDependency, .nonadjacentAntiDependencies:
      .snapshotIsolation
    case .antiDependencyCycle: .serializable
    case .writeCycleProcess, .circularFlowProcess, .singleAntiDependencyProcess,
      .nonadjacentAntiDependenciesProcess, .antiDependencyCycleProcess:
      .strongSessionSerializable
    case .staleRead, .writeCycleRealtime, .circularFlowRealtime, .singleAntiDependencyRealtime,
      .nonadjacentAntiDependenciesRealtime, .antiDependencyCycleRealtime:
      .strictSerializable
    }
  }
}

/// One anomaly of a history.
package struct HistoryAnomaly: Sendable, Hashable, Codable {
  /// Its name.
  package var name: AnomalyName
  /// Numbers of its transactions, in the order of the description.
  package var transactions: [Int]
  /// The description, one sentence per line.
  package var lines: [String]

  /// The weakest level that forbids it.
  package var level: IsolationLevel { name.level }

  /// For example `G1a (forbidden by read-committed): …`.
  package var description: String {
    (["\(name.rawValue) (forbidden by \(level.rawValue) and above)"] + lines.map { "  " + $0 })
      .joined(separator: "\n")
  }
}
