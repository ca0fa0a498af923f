// LiveQuery.swift: a query whose result is updated after each commit, including commits of other
// processes. SQLite's `data_version` shows whether there was a commit; rows are compared with the
// last ones, so every change of them is detected: saves, deletions, purges, expiry. Invariant: the
// connection is used by one call at a time, since every use is inside the lock.

import Synchronization

/// A query whose result is kept up to date.
///
/// Any thread may call it. It holds its own connection until it is closed.
public final class LiveQuery: Sendable {
  private struct State {
    var connection: Connection?
    var version: Int64?
    var result: QueryResult?
  }

  /// The query.
  public let query: StoreQuery
  private let parameters: [String: QueryValue]
  private let file: DataFile
  private let state: Mutex<State>

  init(
    _ query: StoreQuery, _ parameters: [String: QueryValue], file: DataFile
  ) throws(DocumentStoreError) {
    self.query = query
    self.parameters = parameters
    self.file = file
    try file.checkOpen()
    state = Mutex(State(connection: try file.makeReader()))
  }

  /// Checks whether the result has changed.
  /// - Returns: The new result: at the first call, and then when it differs from the last one; nil
  ///   when it does not.
  /// - Throws: `DocumentStoreError` as `Snapshot.run`, and `.notOpen` after `close` and when the
  ///   data file is closed.
  /// - Complexity: O(1) without a commit since the last call; else a run of the query.
  public func refresh() throws -> QueryResult? {
    try file.checkOpen()
    return try state.withLock { state in
      guard let connection = state.connection else {
        throw DocumentStoreError(.notOpen, "the live query is closed; make another")
      }
      return try connection.run { () throws in
        // Read before the rows: a commit between the two is detected at the next call.
        let version = try connection.number("PRAGMA data_version")
        if state.result != nil, version == state.version { return nil }
        try connection.beginReading()
        defer { connection.endReading() }
        let result = try Snapshot(connection: connection, file: file).run(query, parameters)
        state.version = version
        guard result != state.result else { return nil }
        state.result = result
        return result
      }
    }
  }

  /// Results as they change, the current one first.
  ///
  /// The stream ends with its reader, or with the error of a check.
  /// - Parameter milliseconds: The interval at which it checks for commits.
  /// - Returns: The results.
  public func results(
    every milliseconds: Int = 100
  ) -> AsyncThrowingStream<QueryResult, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let task = Task {
        do {
          while !Task.isCancelled {
            if let result = try self.refresh() { continuation.yield(result) }
            try await Task.sleep(for: .milliseconds(max(1, milliseconds)))
          }
          continuation.finish()
        } catch is CancellationError {
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  /// Releases the connection; call it before the data file is closed.
  /// - Throws: `DocumentStoreError` when SQLite cannot close it.
  public func close() throws {
    try state.withLock { state in
      let connection = state.connection
      state.connection = nil
      try connection?.close()
    }
  }
}

extension DataFile {
  /// A query that is followed from commit to commit.
  /// - Parameters:
  ///   - query: The query.
  ///   - parameters: Values of its parameters.
  /// - Returns: The live query; its first `refresh` runs it.
  /// - Throws: `DocumentStoreError` with code `.notOpen`, and SQLite's error.
  public func live(
    _ query: StoreQuery, _ parameters: [String: QueryValue] = [:]
  ) throws(DocumentStoreError) -> LiveQuery {
    try LiveQuery(query, parameters, file: self)
  }
}
