// Binder.swift: binds names to columns, and makes operands compatible. Invariant: `scopes` has the
// query's table first, then one entry per subquery around the expression being bound.

import Engine

/// Binds a query to a schema.
struct Binder {
  /// A row that paths can start at.
  struct Scope {
    let variable: String?
    let table: Int
  }

  /// An operand, its type, and whether it has many values.
  struct Bound {
    var operand: BoundOperand
    var type: OperandType
    var isMany = false
  }

  let schema: QuerySchema
  let arguments: [QueryArgument]
  /// Whether BEGINSWITH, ENDSWITH and CONTAINS find nothing for an empty text.
  let emptyFindsNothing: Bool
  var scopes: [Scope]

  init(
    _ schema: QuerySchema, table: String, arguments: [QueryArgument], emptyFindsNothing: Bool
  ) throws(QueryError) {
    self.schema = schema
    self.arguments = arguments
    self.emptyFindsNothing = emptyFindsNothing
    scopes = [Scope(variable: nil, table: try schema.table(named: table))]
  }

  // MARK: conditions

  mutating func bind(_ predicate: QueryPredicate) throws(QueryError) -> BoundPredicate {
    switch predicate {
    case .constant(let isTrue): return .constant(isTrue)
    case .all(let members):
      var bound: [BoundPredicate] = []
      for member in members { bound.append(try bind(member)) }
      return .all(bound)
    case .any(let members):
      var bound: [BoundPredicate] = []
      for member in members { bound.append(try bind(member)) }
      return .any(bound)
    case .not(let member): return .not(try bind(member))
    case .comparison(let comparison):
      let bound = try bind(comparison)
      return emptyFindsNothing && bound.searchesEmpty ? .constant(false) : .comparison(bound)
    }
  }

  // MARK: clauses

  mutating func bind(_ clause: QueryClause) throws(QueryError) -> BoundClause {
    switch clause {
    case .limit(let count): return .limit(count)
    case .sort(let keys):
      var bound: [BoundSortKey] = []
      for key in keys {
        bound.append(BoundSortKey(path: try order(key.path, "SORT"), isAscending: key.isAscending))
      }
      return .sort(bound)
    case .distinct(let paths):
      var bound: [BoundPath] = []
      for path in paths { bound.append(try order(path, "DISTINCT")) }
      return .distinct(bound)
    }
  }

  /// A path that gives one value for each row.
  private func order(_ path: QueryPath, _ clause: String) throws(QueryError) -> BoundPath {
    let (bound, _) = try bind(path)
    guard !bound.isMany else {
      throw QueryError(
        .type,
        "\(clause)(\(Self.text(path))): \(Self.text(path)) has several values for a row; name a "
          + "property with one, or an aggregate such as @count")
    }
    return bound
  }

  // MARK: texts

  static func text(_ path: QueryPath) -> String {
    var printer = QueryPrinter()
    printer.print(path)
    return printer.text
  }

  static func text(_ operand: QueryOperand) -> String {
    var printer = QueryPrinter()
    printer.print(operand)
    return printer.text
  }

  static func text(_ comparison: QueryComparison) -> String {
    var printer = QueryPrinter()
    printer.print(.comparison(comparison))
    return printer.text
  }
}

extension ParsedQuery {
  /// Binds the query's names to a schema.
  /// - Parameters:
  ///   - schema: The tables that it can refer to.
  ///   - table: The table that it selects rows from.
  ///   - arguments: The values of `$0`, `$1` and so on; collections for the operators that take
  ///     collections, `.link` where the table is known, `.typedLink` anywhere.
  /// - Returns: The query, ready to run any number of times.
  /// - Throws: `QueryError` with code `.unknownName`, `.type` or `.argument`, which names the
  ///   property and its type.
  /// - Complexity: O(size of the query).
  public func bound(
    to schema: QuerySchema, table: String, arguments: [Value] = []
  ) throws(QueryError) -> BoundQuery {
    try bound(to: schema, table: table, arguments: arguments.map { .value($0) })
  }

  /// Binds the query's names to a schema.
  /// - Parameters:
  ///   - schema: The tables that it can refer to.
  ///   - table: The table that it selects rows from.
  ///   - arguments: The values of `$0`, `$1` and so on: values, or areas of the Earth.
  /// - Returns: The query, ready to run any number of times.
  /// - Throws: `QueryError` with code `.unknownName`, `.type` or `.argument`, which names the
  ///   property and its type.
  /// - Complexity: O(size of the query).
  public func bound(
    to schema: QuerySchema, table: String, arguments: [QueryArgument]
  ) throws(QueryError) -> BoundQuery {
    try bound(to: schema, table: table, arguments: arguments, emptyFindsNothing: false)
  }

  /// Binds the query's names to a schema.
  /// - Parameters:
  ///   - schema: The tables that it can refer to.
  ///   - table: The table that it selects rows from.
  ///   - arguments: The values of `$0`, `$1` and so on: values, or areas of the Earth.
  ///   - emptyFindsNothing: Whether BEGINSWITH, ENDSWITH and CONTAINS find nothing for an empty
  ///     text, as with NSPredicate.
  /// - Returns: The query, ready to run any number of times.
  /// - Throws: As `bound(to:table:arguments:)`.
  /// - Complexity: O(size of the query).
  package func bound(
    to schema: QuerySchema, table: String, arguments: [QueryArgument], emptyFindsNothing: Bool
  ) throws(QueryError) -> BoundQuery {
    var binder = try Binder(
      schema, table: table, arguments: arguments, emptyFindsNothing: emptyFindsNothing)
    let bound = try binder.bind(predicate)
    var boundClauses: [BoundClause] = []
    for clause in clauses { boundClauses.append(try binder.bind(clause)) }
    return BoundQuery(
      schema: schema, table: binder.scopes[0].table, predicate: Simplifier.simplified(bound),
      clauses: boundClauses, source: self)
  }
}
