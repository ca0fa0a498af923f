// Database+InMemory.swift: databases without a file, shared by name inside the process.
// Invariant: the registry does not keep a database alive: it is gone with its last close, or when
// the last reference to it goes.

import Synchronization

/// Weak, so that an abandoned database goes with its last reference.
private struct InMemoryEntry {
  weak var database: Database?
}

private let inMemoryDatabases = Mutex<[String: InMemoryEntry]>([:])

extension Database {
  /// Opens a database that lives in memory only, and creates it when nobody has it open.
  ///
  /// All opens with one identifier give the same database. Its content is gone when each of them
  /// was closed, or when nothing in the process refers to it any more. It has no file, so nothing
  /// of it survives the process, and durability is not asked for.
  /// - Parameters:
  ///   - identifier: The name that shares it; any text.
  ///   - options: How to open; those of the first open count.
  /// - Returns: The database.
  /// - Throws: `EngineError` with code `.noSpace` when there is no memory.
  public static func open(
    inMemory identifier: String, options: Options = .init()
  ) throws(EngineError) -> Database {
    try inMemoryDatabases.withLock { databases throws(EngineError) -> Database in
      databases = databases.filter { $0.value.database != nil }
      if let database = databases[identifier]?.database, database.openAgain() { return database }
      var options = options
      // There is no medium: a sync would do nothing, and a second phase would protect nothing.
      options.durability = .unsafe
      let backend = MemoryBackend(name: "memory \"\(identifier)\"")
      let database = try open(backend: backend, options: options)
      databases[identifier] = InMemoryEntry(database: database)
      return database
    }
  }

  /// Counts one more open; false when the database is closed already.
  private func openAgain() -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.openCount += 1
      return true
    }
  }
}
