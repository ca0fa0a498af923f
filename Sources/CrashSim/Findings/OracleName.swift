// OracleName.swift: the properties that are judged, and the form of a broken one.

import LabCore

/// Name of an oracle: one property that a run must keep.
public enum OracleName: String, Sendable, Hashable, Codable, CaseIterable {
  /// What was acknowledged is there.
  case durability
  /// A transaction is there whole or not at all.
  case atomicity
  /// No hole in the order of commits, and nothing that was never begun.
  case prefix
  /// The file opens, and the engine's verification finds nothing.
  case structure
  /// After recovery the database takes, keeps and shows a further commit.
  case usableAfterRecovery
  /// The content is what a dictionary holds that replays the acknowledged operations.
  case referenceModel
  /// A pinned version does not change.
  case isolation
  /// Nobody hangs or ends because another process was killed.
  case liveness
  /// An expectation of the scenario about the live database holds.
  case expectation
  /// A medium that damages a database at rest is survived within the fault budget, and noticed
  /// beyond it.
  case media
  /// Objects read as their rows are, and links, embedded objects and queries agree with them.
  case objects
  /// What is used on another thread is refused.
  case confinement
  /// Who is told of changes can follow a collection by them.
  case notifications
}

extension OracleName {
  /// What is promised, in words for people who do not know the oracle.
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
    case .media: "damage at rest is survived within the fault budget and noticed beyond it"
    }
  }
}

/// One broken promise.
public struct Violation: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The property that is broken.
  public let oracle: OracleName
  /// What was promised.
  public let promised: String
  /// What came back.
  public let got: String
  /// Where the scenario's step over which it showed is, where there is one.
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
