// Database+InMemory.swift: databases without a file, shared by name inside the process. Invariant:
// the registry does not keep a database alive: it ends with its last close, or with the last
// reference to it.

import Synchronization

/// Weak, so that an abandoned database is released with its last reference.
private struct InMemoryEntry {
  weak var database: Database?
}

private let inMemoryDatabases = Mutex<[String: InMemoryEntry]>([:])

extension Database {
  /// Opens a database that exists in memory only, and creates it if it is not open.
  ///
  /// All opens with one identifier give the same database. Its content is lost when all of them are
  /// closed, or when the process no longer refers to it. It has no file, so it does not survive the
  /// process, and its commits are not made durable.
  /// - Parameters:
  ///   - identifier: The name that shares it; any text.
  ///   - options: How to open; those of the first open apply.
  /// - Returns: The database.
  /// - Throws: `EngineError` with code `.noSpace` when memory cannot be allocated.
  public static func open(
    inMemory identifier: String, options: Options = .init()
  ) throws(EngineError) -> Database {
    try inMemoryDatabases.withLock { databases throws(EngineError) -> Database in
      databases = databases.filter { $0.value.database != nil }
      if let database = databases[identifier]?.database, database.openAgain() { return database }
      var options = options
      // There is no medium: a sync or a second phase would have no effect.
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
