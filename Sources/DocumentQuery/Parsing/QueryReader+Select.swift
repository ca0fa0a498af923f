// QueryReader+Select.swift: a SELECT and its clauses.

extension QueryReader {
  /// A whole query: the operands of SELECT, a SELECT, or a condition alone.
  mutating func query(_ node: QueryNode) throws(DocumentQueryError) -> QuerySelect {
    if node.dict != nil { return try select(node) }
    guard let items = node.array else {
      throw DocumentQueryError(
        .syntax, "a query is an array or a dict, and not \(node.kind)", at: node.place)
    }
    if let name = items.first?.text, name.uppercased() == "SELECT" {
      try check("SELECT", Array(items.dropFirst()), 1...1, node)
      return try select(items[1])
    }
    var select = QuerySelect(at: node.place)
    select.condition = try expression(node)
    return select
  }

  private static let clauses = [
    "WHAT", "FROM", "WHERE", "GROUP_BY", "HAVING", "ORDER_BY", "LIMIT", "OFFSET", "DISTINCT",
  ]

  mutating func select(_ node: QueryNode) throws(DocumentQueryError) -> QuerySelect {
    guard let pairs = node.dict else {
      throw DocumentQueryError(
        .operands, "SELECT needs a dict of clauses, and not \(node.kind)", at: node.place)
    }
    var select = QuerySelect(at: node.place)
    var seen: Set<String> = []
    for pair in pairs {
      let (name, value) = (pair.key.uppercased(), pair.value)
      guard seen.insert(name).inserted else {
        throw DocumentQueryError(.syntax, "\(name) stands there twice", at: value.place)
      }
      switch name {
      case "WHAT": select.columns = try columns(try list(value, name))
      case "FROM": select.sources = try sources(try list(value, name))
      case "WHERE": select.condition = try expression(value)
      case "GROUP_BY": select.grouping = try expressions(try list(value, name), in: .list)
      case "HAVING": select.having = try expression(value)
      case "ORDER_BY": select.order = try order(try list(value, name))
      case "LIMIT": select.limit = try expression(value)
      case "OFFSET": select.offset = try expression(value)
      case "DISTINCT": select.isDistinct = try isTrue(value)
      default:
        throw DocumentQueryError(
          .unknownName, "unknown clause \(shown(pair.key))", at: value.place,
          nearest: nearestName(to: pair.key, among: Self.clauses))
      }
    }
    if let having = select.having, select.grouping.isEmpty {
      throw DocumentQueryError(.context, "HAVING needs GROUP_BY", at: having.place)
    }
    return select
  }

  private func list(
    _ node: QueryNode, _ name: String
  ) throws(DocumentQueryError) -> [QueryNode] {
    guard let items = node.array else {
      throw DocumentQueryError(
        .operands, "\(name) needs an array, and not \(node.kind)", at: node.place)
    }
    guard items.count <= QueryLimits.columnsMax else {
      throw DocumentQueryError(
        .limit, "\(name) has \(items.count) items > \(QueryLimits.columnsMax)", at: node.place)
    }
    return items
  }

  private func isTrue(_ node: QueryNode) throws(DocumentQueryError) -> Bool {
    switch node.value {
    case .boolean(let value): return value
    case .integer(let value): return value != 0
    case .null: return false
    default:
      throw DocumentQueryError(
        .operands, "DISTINCT is true or false, and not \(node.kind)", at: node.place)
    }
  }

  /// The operands of a list that begins with a word; nil for others.
  private func operands(_ node: QueryNode, of word: String) -> [QueryNode]? {
    guard let items = node.array, items.first?.text?.uppercased() == word else { return nil }
    return Array(items.dropFirst())
  }

  private mutating func columns(
    _ nodes: [QueryNode]
  ) throws(DocumentQueryError) -> [QuerySelect.Column] {
    var columns: [QuerySelect.Column] = []
    for node in nodes {
      guard let operands = operands(node, of: "AS") else {
        columns.append(
          QuerySelect.Column(
            expression: try expression(node, in: .list), name: nil, metaTitle: metaTitle(node)))
        continue
      }
      try check("AS", operands, 2...2, node)
      let name = try text(operands[1], "AS")
      guard SQLNames.isAllowed(name) else { throw SQLNames.refusal(name, operands[1].place) }
      // A bare text with a name is a text, as in the real library: a path only without a name.
      columns.append(
        QuerySelect.Column(expression: try expression(operands[0]), name: name))
    }
    return columns
  }

  /// The real library gives a title to a property of `meta()`, but not of `META()`.
  private func metaTitle(_ node: QueryNode) -> String? {
    guard let items = node.array, items.count == 3, items[0].text == "_.",
      items[1].array?.first?.text == "meta()", let path = items[2].text, path.hasPrefix(".")
    else { return nil }
    return String(path.dropFirst())
  }

  private mutating func order(
    _ nodes: [QueryNode]
  ) throws(DocumentQueryError) -> [QuerySelect.Order] {
    var terms: [QuerySelect.Order] = []
    for node in nodes {
      if let operands = operands(node, of: "DESC") {
        try check("DESC", operands, 1...1, node)
        terms.append(
          QuerySelect.Order(
            expression: try expression(operands[0], in: .list), direction: .descending))
      } else if let operands = operands(node, of: "ASC") {
        try check("ASC", operands, 1...1, node)
        terms.append(
          QuerySelect.Order(
            expression: try expression(operands[0], in: .list), direction: .ascending))
      } else {
        terms.append(
          QuerySelect.Order(expression: try expression(node, in: .list), direction: nil))
      }
    }
    return terms
  }
}
