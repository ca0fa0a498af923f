// QueryReader+Operands.swift: reads operators whose operands are not only expressions, and checks
// operands.

import Fleece

extension QueryReader {
  func check(
    _ name: String, _ operands: [QueryNode], _ counts: ClosedRange<Int>, _ node: QueryNode
  ) throws(DocumentQueryError) {
    guard !counts.contains(operands.count) else { return }
    let wanted =
      counts.upperBound == .max
      ? "at least \(counts.lowerBound)"
      : counts.count == 1
        ? "\(counts.lowerBound)" : "\(counts.lowerBound) to \(counts.upperBound)"
    throw DocumentQueryError(
      .operands, "\(name) has \(operands.count) operands; it takes \(wanted)", at: node.place)
  }

  func checkCount(
    _ count: Int, _ what: String, at place: QueryPlace
  ) throws(DocumentQueryError) {
    guard count <= QueryLimits.operandsMax else {
      throw DocumentQueryError(
        .limit, "\(count) \(what) > \(QueryLimits.operandsMax)", at: place)
    }
  }

  /// A node that must be a text and not empty.
  func text(_ node: QueryNode, _ what: String) throws(DocumentQueryError) -> String {
    guard let text = node.text, !text.isEmpty else {
      throw DocumentQueryError(
        .operands, "\(what) needs a text that is not empty here, and not \(node.kind)",
        at: node.place)
    }
    return text
  }

  /// The name of a source, for which `.name` is another spelling.
  func sourceName(_ node: QueryNode) throws(DocumentQueryError) -> String {
    let name = try text(node, "META()")
    return name.hasPrefix(".") ? String(name.dropFirst()) : name
  }

  func parameter(
    _ name: String, _ node: QueryNode, _ operands: [QueryNode]
  ) throws(DocumentQueryError) -> String {
    var name = name
    if name.isEmpty {
      try check("$", operands, 1...1, node)
      switch operands[0].value {
      case .text(let text): name = text
      case .integer(let number) where number >= 0: name = String(number)
      default:
        throw DocumentQueryError(
          .operands, "a parameter's name is a text or a number", at: operands[0].place)
      }
    } else {
      try check("$", operands, 0...0, node)
    }
    guard !name.isEmpty, name.utf8.count <= 200, name.utf8.allSatisfy(SQLNames.isWord) else {
      throw DocumentQueryError(
        .operands, "a parameter cannot be named \(shown(name)); use letters, digits and _",
        at: node.place)
    }
    return name
  }

  mutating func choice(
    _ node: QueryNode, _ operands: [QueryNode]
  ) throws(DocumentQueryError) -> QueryExpression.Kind {
    try check("CASE", operands, 3...Int.max, node)
    let subject = operands[0].isNull ? nil : try expression(operands[0])
    let rest = Array(operands.dropFirst())
    var branches: [QueryExpression.Branch] = []
    for index in stride(from: 0, to: rest.count - 1, by: 2) {
      branches.append(
        QueryExpression.Branch(
          when: try expression(rest[index]), then: try expression(rest[index + 1])))
    }
    let otherwise = rest.count % 2 == 1 ? try expression(rest[rest.count - 1]) : nil
    return .choice(subject, branches, otherwise: otherwise)
  }

  mutating func quantified(
    _ quantifier: Quantifier, _ node: QueryNode, _ operands: [QueryNode]
  ) throws(DocumentQueryError) -> QueryExpression.Kind {
    try check(quantifier.rawValue, operands, 3...3, node)
    let variable = try text(operands[0], quantifier.rawValue)
    guard SQLNames.isAllowed(variable) else { throw SQLNames.refusal(variable, operands[0].place) }
    return .quantified(
      quantifier,
      QueryExpression.Quantified(
        variable: variable, collection: try expression(operands[1]),
        predicate: try expression(operands[2])))
  }

  func collation(_ node: QueryNode) throws(DocumentQueryError) -> QueryCollation {
    guard let pairs = node.dict else {
      throw DocumentQueryError(
        .operands, "COLLATE needs a dict of options, and not \(node.kind)", at: node.place)
    }
    var collation = QueryCollation()
    for pair in pairs {
      switch (pair.key.uppercased(), pair.value.value) {
      case ("UNICODE", .boolean(let value)): collation.isUnicode = value
      case ("CASE", .boolean(let value)): collation.isCaseSensitive = value
      case ("DIAC", .boolean(let value)): collation.isDiacriticSensitive = value
      case ("LOCALE", .null): break
      case ("LOCALE", .text(let locale)):
        let isPlain = locale.utf8.allSatisfy { SQLNames.isWord($0) || $0 == UInt8(ascii: "-") }
        guard isPlain, locale.utf8.count <= 40 else {
          throw DocumentQueryError(
            .operands, "\(shown(locale)) is not a locale", at: pair.value.place)
        }
        collation.locale = locale
      case ("UNICODE", _), ("CASE", _), ("DIAC", _), ("LOCALE", _):
        throw DocumentQueryError(
          .operands, "\(pair.key.uppercased()) cannot be \(pair.value.kind)", at: pair.value.place)
      default:
        throw DocumentQueryError(
          .unknownName, "unknown option \(shown(pair.key)) of COLLATE", at: pair.value.place,
          nearest: nearestName(to: pair.key, among: ["UNICODE", "CASE", "DIAC", "LOCALE"]))
      }
    }
    return collation
  }

  mutating func prediction(
    _ node: QueryNode, _ operands: [QueryNode]
  ) throws(DocumentQueryError) -> QueryExpression.Prediction {
    try check("PREDICTION()", operands, 2...3, node)
    let path: [FleecePath.Component]? =
      operands.count == 3
      ? try QueryPaths.components(
        try text(operands[2], "PREDICTION()"), at: operands[2].place) : nil
    guard path?.isEmpty != true else {
      throw DocumentQueryError(
        .operands, "PREDICTION() needs a property's path", at: operands[2].place)
    }
    return QueryExpression.Prediction(
      model: try expression(operands[0]), input: try expression(operands[1]), path: path,
      identity: operands[0].identity + operands[1].identity)
  }
}

extension QueryNode {
  /// A text that is the same exactly for equal JSON, with kinds distinguished.
  var identity: String {
    switch value {
    case .null: "null"
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let text): SQLNames.doubled(text, "'")
    case .array(let items): "[" + items.map(\.identity).joined(separator: ",") + "]"
    case .dict(let pairs):
      "{"
        + pairs.map { "\(SQLNames.doubled($0.key, "'")):\($0.value.identity)" }.joined(
          separator: ",")
        + "}"
    }
  }
}
