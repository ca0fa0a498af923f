// QueryReader.swift: from nodes to expressions: which operator, function or literal a node is, and
// whether it has the operands for that.

import Fleece

/// Reads the JSON language.
struct QueryReader {
  private var depth = 0

  /// The position of a node decides the meaning of a bare text in it.
  enum Position {
    /// A text is a text.
    case operand
    /// A text is the path of a property: columns, grouping, order, expressions of an index.
    case list
  }

  /// An expression.
  mutating func expression(
    _ node: QueryNode, in position: Position = .operand
  ) throws(DocumentQueryError) -> QueryExpression {
    depth += 1
    defer { depth -= 1 }
    guard depth <= QueryLimits.depthMax else {
      throw DocumentQueryError(
        .limit, "nested deeper than \(QueryLimits.depthMax)", at: node.place)
    }
    return QueryExpression(try kind(node, in: position), at: node.place)
  }

  /// Several of them.
  mutating func expressions(
    _ nodes: some Sequence<QueryNode>, in position: Position = .operand
  ) throws(DocumentQueryError) -> [QueryExpression] {
    var expressions: [QueryExpression] = []
    for node in nodes { expressions.append(try expression(node, in: position)) }
    return expressions
  }

  private mutating func kind(
    _ node: QueryNode, in position: Position
  ) throws(DocumentQueryError) -> QueryExpression.Kind {
    switch node.value {
    case .null: return .null
    case .boolean(let value): return .boolean(value)
    case .integer(let value): return .integer(value)
    case .unsigned(let value): return .unsigned(value)
    case .real(let value): return .real(value)
    case .text(let text):
      guard position == .list else { return .text(text) }
      return .property(try QueryPaths.components(text, at: node.place))
    case .dict(let pairs):
      try checkCount(2 * pairs.count, "keys and values of a dict", at: node.place)
      var values: [(key: String, value: QueryExpression)] = []
      for pair in pairs { values.append((pair.key, try expression(pair.value))) }
      return .dict(values)
    case .array(let items):
      guard let first = items.first else {
        throw DocumentQueryError(
          .syntax, "an empty array is not an expression; a literal is [\"[]\"]", at: node.place)
      }
      guard let name = first.text else {
        throw DocumentQueryError(
          .syntax, "an operation begins with its name, and not with \(first.kind)",
          at: first.place)
      }
      return try operation(name, node, Array(items.dropFirst()))
    }
  }

  private mutating func operation(
    _ name: String, _ node: QueryNode, _ operands: [QueryNode]
  ) throws(DocumentQueryError) -> QueryExpression.Kind {
    let upper = name.uppercased()
    if let found = QueryOperator(rawValue: upper) {
      return try operation(found, node, operands)
    }
    if let quantifier = Quantifier(rawValue: upper) {
      return try quantified(quantifier, node, operands)
    }
    if let special = try special(upper, node, operands) { return special }
    if let shape = try shape(name, node, operands) { return shape }
    if upper.hasSuffix("()") { return try call(String(name.dropLast(2)), node, operands) }
    let known = QueryOperator.allCases.map(\.rawValue) + QueryOperator.special
    throw DocumentQueryError(
      .unknownName, "unknown operator \(shown(name))", at: node.place,
      nearest: nearestName(to: name, among: known))
  }

  /// Operators with their own keyword and operands of other kinds.
  private mutating func special(
    _ name: String, _ node: QueryNode, _ operands: [QueryNode]
  ) throws(DocumentQueryError) -> QueryExpression.Kind? {
    switch name {
    case "[]":
      try checkCount(operands.count, "items of an array", at: node.place)
      return .array(try expressions(operands))
    case "MISSING":
      try check(name, operands, 0...0, node)
      return .missing
    case "BLOB":
      try check(name, operands, 1...1, node)
      return .blob(try QueryPaths.components(try text(operands[0], name), at: operands[0].place))
    case "META()":
      try check(name, operands, 0...1, node)
      return .meta(
        source: try operands.first.map { (node) throws(DocumentQueryError) in
          try sourceName(node)
        })
    case "COLLATE":
      try check(name, operands, 2...2, node)
      return .collated(try collation(operands[0]), try expression(operands[1]))
    case "CASE": return try choice(node, operands)
    case "SELECT":
      try check(name, operands, 1...1, node)
      return .select(try select(operands[0]))
    case "MATCH()":
      try check(name, operands, 2...2, node)
      return .match(
        index: try QueryPaths.indexName(operands[0], name), pattern: try expression(operands[1]))
    case "RANK()":
      try check(name, operands, 1...1, node)
      return .rank(index: try QueryPaths.indexName(operands[0], name))
    case "PREDICTION()": return .prediction(try prediction(node, operands))
    case "AS", "ASC", "DESC":
      throw DocumentQueryError(
        .context,
        "\(name) stands outermost in \(name == "AS" ? "WHAT" : "ORDER_BY") only", at: node.place)
    default: return nil
    }
  }

  /// Operators that are known by their first letter.
  private mutating func shape(
    _ name: String, _ node: QueryNode, _ operands: [QueryNode]
  ) throws(DocumentQueryError) -> QueryExpression.Kind? {
    if name.hasPrefix("_.") {
      let path = String(name.dropFirst(2))
      try check("_.", operands, path.isEmpty ? 2...2 : 1...1, node)
      let value = try expression(operands[0])
      let text = path.isEmpty ? try text(operands[1], "_.") : path
      let components = try QueryPaths.components(text, at: node.place)
      let hasPoint = text.hasPrefix(".") && !text.hasPrefix(".[")
      return components.isEmpty ? value.kind : .nested(value, components, hasPoint: hasPoint)
    }
    switch name.first {
    case ".":
      return .property(
        try QueryPaths.components(String(name.dropFirst()), then: operands, at: node.place))
    case "$": return .parameter(try parameter(String(name.dropFirst()), node, operands))
    case "?":
      if name == "?" { try check("?", operands, 1...Int.max, node) }
      let components = try QueryPaths.components(
        String(name.dropFirst()), then: operands, at: node.place)
      guard case .key(let variable)? = components.first else {
        throw DocumentQueryError(.operands, "'?' needs the name of a variable", at: node.place)
      }
      return .variable(variable, Array(components.dropFirst()))
    default: return nil
    }
  }

  private mutating func operation(
    _ found: QueryOperator, _ node: QueryNode, _ operands: [QueryNode]
  ) throws(DocumentQueryError) -> QueryExpression.Kind {
    try check(found.rawValue, operands, found.operands, node)
    return .operation(found, try expressions(operands))
  }

  private mutating func call(
    _ name: String, _ node: QueryNode, _ operands: [QueryNode]
  ) throws(DocumentQueryError) -> QueryExpression.Kind {
    guard let function = QueryFunction.named(name) else {
      throw DocumentQueryError(
        .unknownName, "unknown function \(shown(name))", at: node.place,
        nearest: nearestName(to: name, among: QueryFunction.names + ["match", "prediction"]))
    }
    try check("\(function.name)()", operands, function.operands, node)
    return .call(function, try expressions(operands))
  }
}
