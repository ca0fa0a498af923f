// DatabaseDeclaration.swift: how a scenario's processes open the database.

import Engine
import FaultFS

/// How every process of a scenario opens the database.
package struct DatabaseDeclaration: Sendable, Hashable, Codable {
  /// The commit protocol.
  package var commit = DeclaredProtocol.twoPhase
  /// The encryption key.
  package var key = DeclaredKey.none
  /// Whether commits of actors that wait for each other share their syncs.
  package var isGrouped = false
  /// Whether every open compacts the file when no other process uses it.
  package var compactsOnLaunch = false
  /// Whether it is opened read-only.
  package var isReadOnly = false
  /// Most versions that may be alive at once; nil for no bound.
  package var activeVersionsMax: Int?
  /// How realms are opened; nil for a scenario that uses the engine's own tables.
  package var objects: ObjectDeclaration?
  /// Ends or stops the process before a step of its commits.
  package var atCommitStep: CommitStepSignal?

  /// Two syncs per commit, not encrypted.
  package init() {}

  /// The same for a copy, which may have another key.
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

/// A commit protocol, as named in scenarios.
package enum DeclaredProtocol: String, Sendable, Hashable, Codable, CaseIterable {
  /// Nodes, sync, root slot, sync.
  case twoPhase = "two-phase"
  /// Nodes and root slot, sync.
  case checksummed

  /// The engine's value for it.
  fileprivate var engineProtocol: CommitProtocol {
    switch self {
    case .twoPhase: .twoPhase
    case .checksummed: .checksummed
    }
  }
}

/// A fixed key, as named in scenarios.
package enum DeclaredKey: String, Sendable, Hashable, Codable, CaseIterable {
  /// Not encrypted.
  case none
  case first
  case second

  /// Its 64 bytes; a test key need not be secret.
  package var bytes: [UInt8]? {
    guard self != .none else { return nil }
    let start: UInt8 = self == .first ? 1 : 101
    return (0..<64).map { start + $0 }
  }
}

/// A copy to write.
package struct CopyStep: Sendable, Hashable, Codable {
  /// Its name; the file is `NAME.realm`, next to the database.
  package var name: String
  /// Its key; that of the database when nil.
  package var key: DeclaredKey?

  package init(name: String, key: DeclaredKey? = nil) {
    self.name = name
    self.key = key
  }

  /// The copy's file.
  package var fileName: String { name + ".realm" }
}
