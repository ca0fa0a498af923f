// BoundQuery.swift: a query that can run.

import Engine

/// A query that was bound to a schema and planned.
///
/// It is a value: any thread may run it over any snapshot or write transaction whose tables match
/// its schema.
public struct BoundQuery: Sendable, CustomStringConvertible {
  let schema: QuerySchema
  let table: Int
  let predicate: BoundPredicate
  let clauses: [BoundClause]
  private let source: ParsedQuery
  /// The plan, when no object has to be looked up before there can be one.
  private let readyPlan: Plan?
  /// The limits of a run.
  public var limits = QueryLimits()

  init(
    schema: QuerySchema, table: Int, predicate: BoundPredicate, clauses: [BoundClause],
    source: ParsedQuery
  ) {
    self.schema = schema
    self.table = table
    self.predicate = predicate
    self.clauses = clauses
    self.source = source
    readyPlan = predicate.needsLookup ? nil : Plan(predicate, schema)
  }

  /// The query as text, arguments as `$0`.
  public var description: String { source.description }

  /// The name of the table that the query is about.
  public var tableName: String { schema.tables[table].schema.name }

  // MARK: running

  /// The keys of the rows that pass: ascending, or in the order that SORT gives.
  /// - Parameter source: A snapshot, or an open write transaction.
  /// - Returns: The keys.
  /// - Throws: `QueryError` with code `.engine` when the database fails, `.limit` when the run
  ///   costs more than `limits` allow.
  /// - Complexity: O(rows) of scans at most, plus the cost of the other conditions on the remaining
  ///   rows; with an index O(log rows + found).
  public func keys(in source: some ReadableVersion) throws(QueryError) -> [Int64] {
    let evaluation = Evaluation(source, schema, limits)
    let keys = try evaluation.keys(try plan(evaluation), table)
    return try evaluation.applied(clauses, to: keys, of: table)
  }

  /// The matching rows of a collection: in its order, or in the order that SORT gives.
  /// - Parameters:
  ///   - keys: Keys of rows of the query's table, such as the elements of a list; a key that occurs
  ///     twice is tested twice, and one without a row does not match.
  ///   - source: A snapshot, or an open write transaction.
  /// - Returns: The keys that pass.
  /// - Throws: As `keys(in:)`.
  /// - Complexity: O(keys × cost of the condition).
  public func keys(
    among keys: [Int64], in source: some ReadableVersion
  ) throws(QueryError) -> [Int64] {
    let evaluation = Evaluation(source, schema, limits)
    let predicate = try evaluation.resolved(predicate)
    var found: [Int64] = []
    for key in keys {
      guard let row = try evaluation.existingRow(table, key) else { continue }
      if try evaluation.passes(predicate, [row]) { found.append(key) }
    }
    return try evaluation.applied(clauses, to: found, of: table)
  }

  /// The number of rows that pass.
  /// - Parameter source: A snapshot, or an open write transaction.
  /// - Returns: The number of keys that `keys(in:)` gives.
  /// - Throws: As `keys(in:)`.
  /// - Complexity: As `keys(in:)`, without collecting keys where scans alone give the count.
  public func count(in source: some ReadableVersion) throws(QueryError) -> Int {
    let evaluation = Evaluation(source, schema, limits)
    let plan = try plan(evaluation)
    if let count = try evaluation.scannedCount(plan, table) {
      var bound: Int? = count
      for clause in clauses {
        switch clause {
        case .sort: break
        case .limit(let most): bound = bound.map { min($0, most) }
        case .distinct: bound = nil
        }
      }
      if let bound { return bound }
    }
    let keys = try evaluation.keys(plan, table)
    return try evaluation.applied(clauses, to: keys, of: table).count
  }

  /// The sum of an int column over the rows that pass, without collecting their keys.
  /// - Parameters:
  ///   - name: A column of the query's table that holds integers and is no collection.
  ///   - source: A snapshot, or an open write transaction.
  /// - Returns: The exact sum and the number of values that are not null; nil where scans alone do
  ///   not give it, and for a query with clauses.
  /// - Throws: As `keys(in:)`.
  /// - Complexity: As `count(in:)`, and O(rows that pass).
  package func sum(
    ofColumn name: String, in source: some ReadableVersion
  ) throws(QueryError) -> (total: Int128, count: Int)? {
    guard clauses.isEmpty else { return nil }
    let evaluation = Evaluation(source, schema, limits)
    return try evaluation.scannedSum(try plan(evaluation), table, ofColumn: name)
  }

  /// Whether a row passes the condition; SORT, DISTINCT and LIMIT play no part.
  /// - Parameters:
  ///   - key: The key of the row.
  ///   - source: A snapshot, or an open write transaction.
  /// - Returns: Whether it matches; false when there is no such row.
  /// - Throws: As `keys(in:)`.
  public func matches(key: Int64, in source: some ReadableVersion) throws(QueryError) -> Bool {
    let evaluation = Evaluation(source, schema, limits)
    guard let row = try evaluation.existingRow(table, key) else { return false }
    return try evaluation.passes(try evaluation.resolved(predicate), [row])
  }

  private func plan(_ evaluation: Evaluation) throws(QueryError) -> Plan {
    if let readyPlan { return readyPlan }
    return Plan(Simplifier.simplified(try evaluation.resolved(predicate)), schema)
  }

  // MARK: words

  /// How the query finds its rows, in lines: indexes that it may use, scans of columns, conditions
  /// that are tested per row in this order, and the clauses applied to the rows found.
  public func explain() -> String {
    var lines = ["\(tableName): \(description)"]
    lines += Plan(predicate, schema).explained(schema).map { "  \($0)" }
    for clause in clauses {
      switch clause {
      case .sort(let keys): lines.append("  then sort by \(keys.count) keys, ties by key")
      case .distinct(let paths): lines.append("  then the first of each \(paths.count) values")
      case .limit(let count): lines.append("  then the first \(count) rows")
      }
    }
    return lines.joined(separator: "\n")
  }
}
