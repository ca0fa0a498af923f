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
    var (values, width) = ([QueryValue](), 0)
    let titles = try step(query, parameters) { statement, columns in
      width = columns.count
      for column in columns { values.append(try statement.value(column)) }
      return true
    }
    return QueryResult(columnTitles: titles, width: width, values: values)
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
    try step(query, parameters) { statement, columns in
      var row: [QueryValue] = []
      row.reserveCapacity(columns.count)
      for column in columns { row.append(try statement.value(column)) }
      return try body(row)
    }
  }

  /// Runs a query; `row` reads the columns of each row from its statement.
  private func step(
    _ query: StoreQuery, _ parameters: [String: QueryValue],
    _ row: (QueryStatement, Range<Int>) throws -> Bool
  ) throws -> [String] {
    check()
    let prepared = try prepare(query)
    let (translation, statement) = (prepared.translation, prepared.statement)
    if let unknown = parameters.keys.sorted().first(where: {
      !translation.parameters.contains($0)
    }) {
      throw DocumentStoreError(
        .invalidQuery,
        "the query has no parameter \(quoted(unknown)); it has "
          + (translation.parameters.isEmpty
            ? "none" : translation.parameters.joined(separator: ", ")))
    }
    defer { statement.reset() }
    try statement.bind(parameters, of: translation.parameters)
    let columns = translation.firstColumn..<statement.columnCount
    try statement.run(limit: query.timeLimitMilliseconds) { try row(statement, columns) }
    return translation.columnTitles
  }

  /// Explains how a query runs.
  /// - Parameter query: The query.
  /// - Returns: Its SQL and SQLite's steps.
  /// - Throws: As `run`.
  public func explain(_ query: StoreQuery) throws -> QueryPlan {
    check()
    let translation = try prepare(query).translation
    let statement = try QueryStatement("EXPLAIN QUERY PLAN " + translation.sql, on: connection)
    var (steps, depths): ([String], [Int64: Int]) = ([], [:])
    try statement.run(limit: nil) {
      let depth = depths[statement.integer(1)].map { $0 + 1 } ?? 0
      depths[statement.integer(0)] = depth
      steps.append(String(repeating: "  ", count: depth) + statement.text(3))
      return true
    }
    statement.reset()
    return QueryPlan(sql: translation.sql, steps: steps)
  }

  /// A query's statement: that of its last run, if it is free and the schema is the same.
  private func prepare(_ query: StoreQuery) throws(DocumentStoreError) -> PreparedQuery {
    let version = try connection.number("PRAGMA schema_version")
    if let known = connection.queries.find(query, schemaVersion: version) {
      for collection in known.translation.views { try makeView(collection) }
      return known
    }
    let translation = try translate(query)
    for collection in translation.views { try makeView(collection) }
    let prepared = PreparedQuery(
      translation: translation,
      statement: try QueryStatement(translation.sql, on: connection))
    connection.queries.keep(prepared, of: query)
    return prepared
  }

  private func translate(_ query: StoreQuery) throws(DocumentStoreError) -> QueryTranslation {
    let schema = try querySchema()
    do throws(DocumentQueryError) {
      return switch query.language {
      case .json: try QueryTranslation(json: query.text, schema: schema, form: .own)
      case .text: try QueryTranslation(text: query.text, schema: schema, form: .own)
      }
    } catch {
      throw DocumentStoreError(
        error.code == .missingIndex ? .missingIndex : .invalidQuery, error.description)
    }
  }
}
