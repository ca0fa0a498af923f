// RealmFile.swift: a file that is open before any realm reads it, and what the lab has to know of
// realms: the engine's database below them, and the version that they read.
// Invariant: nothing here changes what a realm does.

import Engine

/// Opens databases for realms in place of the engine's own open: over a storage of the lab's, or
/// with failpoints.
package struct EngineOpener: Sendable {
  /// What tells databases under one path apart.
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

  /// Opens the file, or joins those of this process who have it open; no schema is looked at.
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

  /// Gives the version up as `invalidate()` does, on any thread: for an owner whose thread is not
  /// there any more, so that the file can be closed.
  package func giveUpVersion() { core.invalidate() }

  /// The number that the open write transaction will have; nil when none is open.
  package var nextVersion: UInt64? { core.write?.nextVersion.rawValue }
}
