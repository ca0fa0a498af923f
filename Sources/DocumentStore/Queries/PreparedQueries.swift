// PreparedQueries.swift: a connection's queries with their statements, so that a query that is run
// again is neither translated nor planned again. Invariant: all are of one number of the schema.
// SQLite counts each change of the schema, by any process, and the tables and indexes that a
// translation depends on change only together with it. A rollback takes the count back, and another
// change may get the same number: so a rollback drops all.

import DocumentQuery

/// A query that can be run.
struct PreparedQuery {
  let translation: QueryTranslation
  let statement: QueryStatement
}

/// The queries that a connection has run.
struct PreparedQueries {
  private struct Key: Hashable {
    let text: String
    let language: StoreQuery.Language
  }

  /// Most queries that are kept.
  private static let countMax = 100

  private var schemaVersion: Int64?
  private var prepared: [Key: PreparedQuery] = [:]

  /// A query's statement; nil when it has to be prepared.
  mutating func find(_ query: StoreQuery, schemaVersion: Int64?) -> PreparedQuery? {
    guard schemaVersion == self.schemaVersion else {
      prepared = [:]
      self.schemaVersion = schemaVersion
      return nil
    }
    let known = prepared[Key(text: query.text, language: query.language)]
    return known.flatMap { $0.statement.isInUse ? nil : $0 }
  }

  /// Keeps a query that was prepared after `find` did not have it.
  mutating func keep(_ query: PreparedQuery, of source: StoreQuery) {
    if prepared.count >= Self.countMax { prepared = [:] }
    prepared[Key(text: source.text, language: source.language)] = query
  }

  mutating func removeAll() {
    prepared = [:]
    schemaVersion = nil
  }
}
