// DatabaseDeclaration.swift: how a scenario's processes open the database.

import Engine
import FaultFS

/// How every process of a scenario opens the database.
package struct DatabaseDeclaration: Sendable, Hashable, Codable {
  /// The protocol by which it commits.
  package var commit = DeclaredProtocol.twoPhase
  /// Which key it is encrypted with.
  package var key = DeclaredKey.none
  /// Whether commits of actors that wait for each other share their syncs.
  package var isGrouped = false
  /// Whether every open compacts the file when nobody else uses it.
  package var compactsOnLaunch = false
  /// Whether it is opened for reading only.
  package var isReadOnly = false
  /// Most versions that may be alive at once; nil for no bound.
  package var activeVersionsMax: Int?
  /// How realms are opened; nil for a scenario that works with the engine's own tables.
  package var objects: ObjectDeclaration?
  /// Ends or stops the process before a step of its commits.
  package var atCommitStep: CommitStepSignal?

  /// Two syncs a commit, in the clear.
  package init() {}

  /// The same for a copy, which may have a key of its own.
  package func of(_ copy: CopyStep) -> DatabaseDeclaration {
    var declaration = self
    declaration.key = copy.key ?? key
    declaration.compactsOnLaunch = false
    return declaration
  }

  /// The engine's options.
  package func options(
    createsMissing: Bool = true, announcing phases: PhaseAnnouncer? = nil
  ) -> Database.Options {
    var options = Database.Options()
    options.createsMissing = createsMissing
    options.encryptionKey = key.bytes
    options.groupedCommits = isGrouped
    options.readOnly = isReadOnly
    if compactsOnLaunch { options.shouldCompactOnLaunch = { _, _ in true } }
    if let activeVersionsMax { options.maximumNumberOfActiveVersions = activeVersionsMax }
    options.commitProtocol = commit.engineProtocol
    let watch = atCommitStep.map { CommitStepWatch($0) }
    if phases != nil || watch != nil {
      options.failpoint = Failpoint { (step) throws(EngineError) in
        phases?.begin(step.description)
        try watch?.reach()
      }
    }
    return options
  }
}

/// A commit protocol, as scenarios name it.
package enum DeclaredProtocol: String, Sendable, Hashable, Codable, CaseIterable {
  /// Nodes, sync, root slot, sync.
  case twoPhase = "two-phase"
  /// Nodes and root slot, sync.
  case checksummed

  /// The same for the engine.
  fileprivate var engineProtocol: CommitProtocol {
    switch self {
    case .twoPhase: .twoPhase
    case .checksummed: .checksummed
    }
  }
}

/// A key of the lab's own, as scenarios name it.
package enum DeclaredKey: String, Sendable, Hashable, Codable, CaseIterable {
  /// Not encrypted.
  case none
  case first
  case second

  /// Its 64 bytes; no secret, as a lab's key need not be one.
  package var bytes: [UInt8]? {
    guard self != .none else { return nil }
    let start: UInt8 = self == .first ? 1 : 101
    return (0..<64).map { start + $0 }
  }
}

/// A copy to be written.
package struct CopyStep: Sendable, Hashable, Codable {
  /// Its name; the file is `NAME.realm`, beside the database.
  package var name: String
  /// The key that it gets; that of the database when nil.
  package var key: DeclaredKey?

  package init(name: String, key: DeclaredKey? = nil) {
    self.name = name
    self.key = key
  }

  /// The copy's file.
  package var fileName: String { name + ".realm" }
}
