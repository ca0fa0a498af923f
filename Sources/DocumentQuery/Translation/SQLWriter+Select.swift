// SQLWriter+Select.swift: a SELECT, clause by clause.

extension SQLWriter {
  /// The role of a SELECT.
  enum Role {
    /// It is the query.
    case outermost
    /// It is the operand of SELECT, and the query.
    case operand
    /// It is the operand of EXISTS.
    case nested
    /// It is a value, or a list of values.
    case value
  }

  /// Writes a SELECT.
  /// - Returns: The number of columns before those of the query.
  mutating func write(
    _ select: QuerySelect, as role: Role
  ) throws(DocumentQueryError) -> Int {
    try enterSources(select)
    try enterFullText(select)
    try enterPredictions(select)
    try enterDeletion(select)
    let joined = scope.sources.count + scope.fullText.count + scope.predictions.count
    guard joined <= QueryLimits.sourcesMax else {
      throw DocumentQueryError(
        .limit, "\(joined) sources and indexes > \(QueryLimits.sourcesMax)", at: select.place)
    }
    sql += select.isDistinct ? "SELECT DISTINCT " : "SELECT "
    let isPlain =
      !select.isDistinct && select.grouping.isEmpty
      && !(select.columns.map(\.expression) + select.order.map(\.expression))
        .contains(where: \.isAggregate)
    var first = 0
    if form == .library, isPlain, !scope.fullText.isEmpty, role == .outermost || role == .operand {
      sql += scope.sources[scope.fullText[0].source].prefix + "rowid, "
      for index in scope.fullText {
        sql += "offsets(\(index.alias).\(quoted(index.table))), "
      }
      first = 1 + scope.fullText.count
    }
    try writeColumns(select, as: role)
    try writeSources(select)
    try writeCondition(select, in: role == .outermost ? Binding.outermost : Binding.select)
    // A value's columns have no names in SQL.
    let use = role == .value ? SourceScope.ColumnUse.expression : .name
    try writeGrouping(select, use)
    try writeOrder(select, use)
    try writeLimits(select)
    return first
  }

  /// Writes a SELECT that is an operand; it has its own names.
  mutating func writeNested(
    _ select: QuerySelect, as role: Role
  ) throws(DocumentQueryError) {
    let saved = (scope, collation, allowsAggregates)
    defer { (scope, collation, allowsAggregates) = saved }
    (scope, collation, allowsAggregates) = (SourceScope(), nil, false)
    guard select.columns.count == 1 else {
      throw DocumentQueryError(
        .operands, "a SELECT that is an operand has one column, and not \(select.columns.count)",
        at: select.place)
    }
    sql += "("
    _ = try write(select, as: role)
    sql += ")"
  }

  /// A name that is always quoted.
  func quoted(_ name: String) -> String { SQLNames.doubled(name, "\"") }

  private mutating func writeColumns(
    _ select: QuerySelect, as role: Role
  ) throws(DocumentQueryError) {
    guard !select.columns.isEmpty else {
      let isJoined = scope.isNamed || !scope.predictions.isEmpty || !scope.fullText.isEmpty
      let prefix = isJoined ? scope.sources[0].prefix : ""
      sql += "\(prefix)key, \(prefix)sequence"
      return
    }
    allowsAggregates = true
    defer { allowsAggregates = false }
    for (index, column) in select.columns.enumerated() {
      sql += index > 0 ? ", " : ""
      if role == .value {
        // The value that it is compared with does not have the form of a result.
        try write(column.expression, in: Binding.list)
        continue
      }
      let isWrapped = form == .library || !isStored(column.expression)
      if isWrapped {
        sql += column.expression.isBoolean ? "fl_boolean_result(" : "fl_result("
      }
      try write(column.expression, in: Binding.list)
      if isWrapped { sql += ")" }
      if let name = column.name { sql += " AS \(SQLNames.identifier(name))" }
    }
  }

  /// Whether it is a column of a table of documents: its values have no subtypes, so `fl_result`
  /// would return them as they are.
  private func isStored(_ expression: QueryExpression) -> Bool {
    switch expression.kind {
    case .property(let path):
      guard case .meta(_, let property)? = try? scope.target(path, at: expression.place) else {
        return false
      }
      return property.isStored
    case .nested(let value, let path, _):
      guard case .meta = value.kind, path.count == 1, case .key(let key) = path[0] else {
        return false
      }
      return MetaProperty(rawValue: key)?.isStored ?? false
    default: return false
    }
  }

  private mutating func writeCondition(
    _ select: QuerySelect, in enclosing: Int
  ) throws(DocumentQueryError) {
    let source = scope.sources[0]
    var mayHoldDead = false
    if case .collection(let collection) = source.kind, source.documents == .live {
      mayHoldDead = collection.mayHoldDead
    }
    guard select.condition != nil || mayHoldDead else { return }
    sql += " WHERE "
    if let condition = select.condition {
      scope.columnUse = .expression
      defer { scope.columnUse = .none }
      if mayHoldDead { sql += "(" }
      try write(condition, in: enclosing)
      if mayHoldDead { sql += ") AND " }
    }
    if mayHoldDead { sql += "(\(source.prefix)flags & 1 = 0)" }
  }

  private mutating func writeGrouping(
    _ select: QuerySelect, _ use: SourceScope.ColumnUse
  ) throws(DocumentQueryError) {
    scope.columnUse = use
    defer { scope.columnUse = .none }
    for (index, expression) in select.grouping.enumerated() {
      sql += index > 0 ? ", " : " GROUP BY "
      // Names of columns are for the order: here the expression itself is safe.
      let meant = aliased(expression) ?? expression
      guard !meant.isAggregate else {
        throw DocumentQueryError(
          .context, "GROUP_BY has a function that takes the values of many rows",
          at: expression.place)
      }
      try writeTerm(meant)
    }
    guard let having = select.having else { return }
    sql += " HAVING "
    scope.columnUse = .expression
    allowsAggregates = true
    defer { allowsAggregates = false }
    try write(having, in: Binding.outermost)
  }

  /// The expression of a column that a path names.
  private func aliased(_ expression: QueryExpression) -> QueryExpression? {
    guard case .property(let path) = expression.kind, path.count == 1,
      let target = try? scope.target(path, at: expression.place), case .column(let name, _) = target
    else { return nil }
    return scope.columns[name]?.expression
  }

  private mutating func writeOrder(
    _ select: QuerySelect, _ use: SourceScope.ColumnUse
  ) throws(DocumentQueryError) {
    (scope.columnUse, allowsAggregates) = (use, true)
    defer { (scope.columnUse, allowsAggregates) = (.none, false) }
    for (index, term) in select.order.enumerated() {
      sql += index > 0 ? ", " : " ORDER BY "
      try writeTerm(term.expression)
      sql += term.direction?.rawValue ?? ""
    }
  }

  /// A term of an order or a grouping.
  ///
  /// SQL interprets an integer there as the number of a column; a column's name may stand for one.
  private mutating func writeTerm(_ expression: QueryExpression) throws(DocumentQueryError) {
    if (aliased(expression) ?? expression).isIntegerConstant {
      sql += "NULL"
    } else {
      try write(expression, in: Binding.list)
    }
  }

  private mutating func writeLimits(_ select: QuerySelect) throws(DocumentQueryError) {
    if let limit = select.limit {
      try writeLimit("LIMIT", limit)
    } else if select.offset != nil {
      sql += " LIMIT -1"
    }
    if let offset = select.offset { try writeLimit("OFFSET", offset) }
  }

  private mutating func writeLimit(
    _ name: String, _ expression: QueryExpression
  ) throws(DocumentQueryError) {
    guard !expression.usesRows, !expression.isAggregate else {
      throw DocumentQueryError(
        .context, "\(name) cannot look at documents", at: expression.place)
    }
    sql += " \(name) MAX(0, "
    try write(expression, in: Binding.list)
    sql += ")"
  }
}

extension QueryExpression {
  /// Whether a column of it is true or false.
  var isBoolean: Bool {
    switch kind {
    case .operation(let found, _): found.isBoolean
    case .quantified(let quantifier, _): quantifier != .any
    default: false
    }
  }

  /// Whether SQL interprets it as the number of a column.
  var isIntegerConstant: Bool {
    switch kind {
    case .integer, .unsigned: true
    case .operation(.subtract, let operands): operands.count == 1 && operands[0].isIntegerConstant
    case .collated(_, let inner): inner.isIntegerConstant
    default: false
    }
  }
}
