// SQLWriter+Items.swift: ANY and EVERY: conditions on the items of an array.

extension SQLWriter {
  mutating func write(
    _ quantifier: Quantifier, _ parts: QueryExpression.Quantified, at place: QueryPlace
  ) throws(DocumentQueryError) {
    let (aggregates, inherited) = (allowsAggregates, collation)
    defer { (allowsAggregates, collation) = (aggregates, inherited) }
    allowsAggregates = false
    collation = nil
    if quantifier == .any, try writeContains(parts) { return }
    if quantifier == .anyAndEvery {
      sql += "("
      if try !writePropertyCall("fl_count", parts.collection) {
        try writeCall("array_count", [parts.collection])
      }
      sql += " > 0 AND "
    }
    sql += quantifier == .any ? "EXISTS (SELECT 1 FROM " : "NOT EXISTS (SELECT 1 FROM "
    if try !writePropertyCall("fl_each", parts.collection) {
      try writeCall("fl_each", [parts.collection])
    }
    let alias = alias(of: parts.variable)
    sql += " AS \(alias) WHERE "
    scope.variables.append((parts.variable, alias))
    defer { scope.variables.removeLast() }
    if quantifier == .any {
      try write(parts.predicate, in: Binding.select)
    } else {
      sql += "NOT ("
      try write(parts.predicate, in: Binding.select)
      sql += ")"
    }
    sql += quantifier == .anyAndEvery ? "))" : ")"
  }

  /// A test for an equal item needs no loop over the items.
  private mutating func writeContains(
    _ parts: QueryExpression.Quantified
  ) throws(DocumentQueryError) -> Bool {
    guard case .operation(.equal, let operands) = parts.predicate.kind,
      case .variable(parts.variable, let path) = operands[0].kind, path.isEmpty,
      !operands[1].uses(variable: parts.variable)
    else { return false }
    sql += "fl_contains("
    if case .property(let path) = parts.collection.kind,
      case .property(let source, let rest) = try scope.target(path, at: parts.collection.place),
      source.isDocuments, !rest.isEmpty
    {
      sql += "\(source.prefix)body, \(literal(rest)), "
    } else {
      try write(parts.collection, in: Binding.list)
      sql += ", null, "
    }
    try write(operands[1], in: Binding.list)
    sql += ")"
    return true
  }

  /// The name of a variable in SQL: `_X`, or a longer name if a source or another variable has that
  /// name.
  private func alias(of variable: String) -> String {
    var name = "_" + variable
    let taken = scope.sources.map(\.name) + scope.variables.map(\.alias)
    while taken.contains(where: {
      $0.lowercased() == name.lowercased()
        || $0.lowercased() == SQLNames.identifier(name).lowercased()
    }) {
      name = "_" + name
    }
    return SQLNames.identifier(name)
  }
}

extension QueryExpression {
  /// Its subexpressions within the same SELECT.
  var children: [QueryExpression] {
    switch kind {
    case .array(let items): items
    case .dict(let pairs): pairs.map(\.value)
    case .nested(let value, _, _): [value]
    case .operation(_, let operands), .call(_, let operands): operands
    case .choice(let subject, let branches, let otherwise):
      (subject.map { [$0] } ?? []) + branches.flatMap { [$0.when, $0.then] }
        + (otherwise.map { [$0] } ?? [])
    case .quantified(_, let parts): [parts.collection, parts.predicate]
    case .collated(_, let inner): [inner]
    case .match(_, let pattern): [pattern]
    case .prediction(let prediction): [prediction.model, prediction.input]
    default: []
    }
  }

  /// Whether it names a variable.
  func uses(variable: String) -> Bool {
    if case .variable(variable, _) = kind { return true }
    return children.contains { $0.uses(variable: variable) }
  }

  /// Whether it reads a document or a row.
  var usesRows: Bool {
    switch kind {
    case .property, .meta, .blob, .rank, .variable: true
    default: children.contains(where: \.usesRows)
    }
  }

  /// Whether it takes the values of many rows.
  var isAggregate: Bool {
    if case .call(let function, _) = kind, function.isAggregate { return true }
    return children.contains(where: \.isAggregate)
  }
}
