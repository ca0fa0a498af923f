// OracleName.swift: the properties that are judged, and the description of a violation.

import LabCore

/// Name of an oracle: one property that a run must keep.
public enum OracleName: String, Sendable, Hashable, Codable, CaseIterable {
  /// Acknowledged commits are present.
  case durability
  /// A transaction is present as a whole or not at all.
  case atomicity
  /// No gap in the order of commits, and no commit that was never begun.
  case prefix
  /// The file opens, and the engine's verification finds no error.
  case structure
  /// After recovery the database accepts, keeps and returns another commit.
  case usableAfterRecovery
  /// The content equals that of a dictionary that replays the acknowledged operations.
  case referenceModel
  /// A pinned version does not change.
  case isolation
  /// No process hangs or ends because another process was killed.
  case liveness
  /// An expectation of the scenario about the live database holds.
  case expectation
  /// A database whose medium is damaged at rest survives within the fault budget, and detects the
  /// damage beyond it.
  case media
  /// Objects have the content of their rows, and links, embedded objects and queries agree with it.
  case objects
  /// Use on another thread fails.
  case confinement
  /// Reported changes suffice to follow a collection.
  case notifications
  /// A data file of documents keeps each of its invariants.
  case documents
  /// A server and its clients keep each of their invariants.
  case sync
}

extension OracleName {
  /// The promise, in words for users who do not know the oracle.
  public var promise: String {
    switch self {
    case .durability: "what was acknowledged is there"
    case .atomicity: "a transaction is there whole or not at all"
    case .prefix: "no commit is there without those before it, and none that was never begun"
    case .structure: "the file opens, and two independent readers find nothing wrong in it"
    case .usableAfterRecovery: "after recovery a commit works and is kept"
    case .referenceModel: "the content is what a dictionary holds that replays the transactions"
    case .isolation: "a pinned version does not change"
    case .liveness: "nothing hangs or ends because something else failed or was killed"
    case .expectation: "steps succeed or fail as the scenario says, and its expectations hold"
    case .objects: "objects, links, embedded objects and queries agree with the rows"
    case .confinement: "a use on another thread is an error that names both threads"
    case .notifications: "reported changes lead from the old contents to the new ones"
    case .sync: "a server and its clients keep the invariants of synchronization"
    case .documents: "a data file of documents keeps its invariants"
    case .media: "damage at rest is survived within the fault budget and noticed beyond it"
    }
  }
}

/// One broken promise.
public struct Violation: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The oracle that failed.
  public let oracle: OracleName
  /// The promise.
  public let promised: String
  /// The actual result.
  public let got: String
  /// Position of the scenario's step at which it was detected, if any.
  public var position: SourcePosition?

  /// Makes a violation.
  public init(_ oracle: OracleName, promised: String, got: String) {
    self.oracle = oracle
    self.promised = promised
    self.got = got
  }

  /// For example `FAILED durability: version 17 was acknowledged, the recovered version is 16`.
  public var description: String { "FAILED \(oracle.rawValue): \(promised), \(got)" }
}
