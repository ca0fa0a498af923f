// QueryPreparer.swift: whether SQLite accepts the SQL of a query, in an in-memory store with the
// tables of a schema, and no documents. Used by fuzzing.

import DocumentQuery

/// Prepares queries.
package final class QueryPreparer {
  private let connection: Connection

  /// SQLite's response.
  package enum Answer: Sendable {
    case taken
    /// Too many parentheses for SQLite's parser, or another bound of it.
    case beyondBounds(String)
    case refused(String)
  }

  /// A store with the tables of a description.
  /// - Throws: `DocumentStoreError`.
  package init(_ schema: QuerySchema) throws(DocumentStoreError) {
    connection = try Connection(
      ":memory:", context: "queries in memory", isReadOnly: false, busyTimeoutMilliseconds: 0,
      models: PredictiveModels())
    try connection.run { () throws(DocumentStoreError) in
      try Self.makeTables(schema, on: connection)
    }
  }

  private static func makeTables(
    _ schema: QuerySchema, on connection: Connection
  ) throws(DocumentStoreError) {
    try connection.execute("PRAGMA case_sensitive_like = true")
    for collection in schema.collections {
      try Schema.make(collection.table, on: connection)
      try Schema.make(collection.deadTable, on: connection)
      try connection.execute(
        "CREATE VIEW \(identifier(collection.view)) AS SELECT * FROM "
          + "\(identifier(collection.table)) UNION ALL SELECT * FROM "
          + identifier(collection.deadTable))
      for index in collection.indexes {
        let table = identifier(index.table)
        switch index.kind {
        case .fullText:
          try connection.execute(
            "CREATE VIRTUAL TABLE \(table) USING fts4(\"t\", tokenize=unicodesn)")
        case .array: try connection.execute("CREATE TABLE \(table) (docid, i, body)")
        case .predictive: try connection.execute("CREATE TABLE \(table) (docid, body)")
        }
      }
    }
  }

  /// Prepares the SQL of a query.
  package func prepare(_ translation: QueryTranslation) -> Answer {
    connection.run {
      do throws(DocumentStoreError) {
        _ = try QueryStatement(translation.sql, on: connection)
        return .taken
      } catch {
        let bounds = ["parser stack overflow", "Expression tree is too large", "too many "]
        let isBeyond = bounds.contains { error.message.contains($0) }
        return isBeyond ? .beyondBounds(error.message) : .refused(error.message)
      }
    }
  }
}
