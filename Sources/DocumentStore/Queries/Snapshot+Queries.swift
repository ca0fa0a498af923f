// Snapshot+Queries.swift: queries over the content of a snapshot or transaction.

import DocumentQuery

extension Snapshot {
  /// Runs a query.
  /// - Parameters:
  ///   - query: The query.
  ///   - parameters: Values of its parameters; one without a value is missing.
  /// - Returns: All rows.
  /// - Throws: `DocumentStoreError` with code `.invalidQuery`, `.missingIndex`, `.timeLimit` and
  ///   SQLite's errors.
  public func run(
    _ query: StoreQuery, _ parameters: [String: QueryValue] = [:]
  ) throws -> QueryResult {
    var rows: [[QueryValue]] = []
    let titles = try enumerate(query, parameters) { row in
      rows.append(row)
      return true
    }
    return QueryResult(columnTitles: titles, rows: rows)
  }

  /// Runs a query, row by row.
  /// - Parameters:
  ///   - query: The query.
  ///   - parameters: Values of its parameters.
  ///   - body: Called with each row; returns false to stop. It must not change documents.
  /// - Returns: The names of the columns.
  /// - Throws: What `body` throws, and as `run`.
  @discardableResult
  public func enumerate(
    _ query: StoreQuery, _ parameters: [String: QueryValue] = [:],
    _ body: ([QueryValue]) throws -> Bool
  ) throws -> [String] {
    check()
    let (translation, statement) = try prepare(query)
    if let unknown = parameters.keys.sorted().first(where: {
      !translation.parameters.contains($0)
    }) {
      throw DocumentStoreError(
        .invalidQuery,
        "the query has no parameter \(quoted(unknown)); it has "
          + (translation.parameters.isEmpty
            ? "none" : translation.parameters.joined(separator: ", ")))
    }
    try statement.bind(parameters, of: translation.parameters)
    let (first, end) = (translation.firstColumn, statement.columnCount)
    try statement.run(limit: query.timeLimitMilliseconds) {
      var row: [QueryValue] = []
      row.reserveCapacity(end - first)
      for column in first..<end { row.append(try statement.value(column)) }
      return try body(row)
    }
    return translation.columnTitles
  }

  /// Explains how a query runs.
  /// - Parameter query: The query.
  /// - Returns: Its SQL and SQLite's steps.
  /// - Throws: As `run`.
  public func explain(_ query: StoreQuery) throws -> QueryPlan {
    check()
    let (translation, _) = try prepare(query)
    let statement = try QueryStatement("EXPLAIN QUERY PLAN " + translation.sql, on: connection)
    var (steps, depths): ([String], [Int64: Int]) = ([], [:])
    try statement.run(limit: nil) {
      let depth = depths[statement.integer(1)].map { $0 + 1 } ?? 0
      depths[statement.integer(0)] = depth
      steps.append(String(repeating: "  ", count: depth) + statement.text(3))
      return true
    }
    return QueryPlan(sql: translation.sql, steps: steps)
  }

  private func prepare(
    _ query: StoreQuery
  ) throws(DocumentStoreError) -> (QueryTranslation, QueryStatement) {
    let translation: QueryTranslation
    let schema = try querySchema()
    do throws(DocumentQueryError) {
      switch query.language {
      case .json: translation = try QueryTranslation(json: query.text, schema: schema)
      case .text: translation = try QueryTranslation(text: query.text, schema: schema)
      }
    } catch {
      throw DocumentStoreError(
        error.code == .missingIndex ? .missingIndex : .invalidQuery, error.description)
    }
    for collection in translation.views { try makeView(collection) }
    return (translation, try QueryStatement(translation.sql, on: connection))
  }
}
