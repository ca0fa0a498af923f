// RealmFile.swift: a file opened before any realm reads it, and what the lab has to know about
// realms: their engine database, and the version that they read. Invariant: nothing here changes
// what a realm does.

import Engine

/// Opens databases for realms in place of the engine's own open: over the lab's storage, or with
/// failpoints.
package struct EngineOpener: Sendable {
  /// Distinguishes databases under one path.
  let number: Int
  /// Opens a database with the options that follow from a configuration.
  let open: @Sendable (Database.Options) throws(EngineError) -> Database

  /// Makes an opener.
  /// - Parameters:
  ///   - number: Realms share a database when their paths and these numbers are the same.
  ///   - open: Opens it, with the options that follow from a configuration.
  package init(
    number: Int, open: @escaping @Sendable (Database.Options) throws(EngineError) -> Database
  ) {
    self.number = number
    self.open = open
  }
}

/// An open file, which realms with the same configuration share.
package struct RealmFile: Sendable {
  private let store: Store

  /// Opens the file, or shares it if this process has it open; the schema is not checked.
  /// - Parameter configuration: How.
  /// - Throws: `Realm.Error`.
  package init(_ configuration: Realm.Configuration) throws(Realm.Error) {
    store = try Store.open(configuration)
  }

  /// The engine's database.
  package var database: Database { store.database }

  /// Where the file is; nil for one in memory.
  package var path: String? { store.path }
}

extension Realm {
  /// The version that the realm reads; the newest one, if none was read since it was given up.
  /// - Returns: The engine's snapshot of it.
  /// - Throws: `EngineError`.
  package func engineSnapshot() throws(EngineError) -> Snapshot { try core.currentSnapshot() }

  /// Releases the version as `invalidate()` does, on any thread: for an owner whose thread has
  /// ended, so that the file can be closed.
  package func giveUpVersion() { core.invalidate() }

  /// The number that the open write transaction will have; nil when none is open.
  package var nextVersion: UInt64? { core.write?.nextVersion.rawValue }
}
