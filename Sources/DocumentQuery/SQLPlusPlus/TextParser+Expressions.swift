// TextParser+Expressions.swift: operators, from the loosest to the tightest:
//   OR, AND, NOT, comparisons (= < IS IN LIKE BETWEEN), + -, * / %, ||, unary -, COLLATE.

extension TextParser {
  mutating func expression() throws(DocumentQueryError) -> QueryNode {
    depth += 1
    defer { depth -= 1 }
    guard depth <= QueryLimits.depthMax else {
      throw DocumentQueryError(
        .limit, "nested deeper than \(QueryLimits.depthMax)", at: current.place)
    }
    return try chain("OR") { (parser) throws(DocumentQueryError) in
      try parser.chain("AND") { (parser) throws(DocumentQueryError) in try parser.negation() }
    }
  }

  /// Operands with one word between them.
  private mutating func chain(
    _ word: String, _ operand: (inout TextParser) throws(DocumentQueryError) -> QueryNode
  ) throws(DocumentQueryError) -> QueryNode {
    let place = current.place
    var operands = [try operand(&self)]
    while take(word) { operands.append(try operand(&self)) }
    return operands.count == 1 ? operands[0] : list(word, operands, at: place)
  }

  private mutating func negation() throws(DocumentQueryError) -> QueryNode {
    let place = current.place
    guard isWord("NOT") else { return try comparison() }
    depth += 1
    defer { depth -= 1 }
    guard depth <= QueryLimits.depthMax else {
      throw DocumentQueryError(
        .limit, "nested deeper than \(QueryLimits.depthMax)", at: place)
    }
    advance()
    return list("NOT", [try negation()], at: place)
  }

  private static let comparisons = [
    "=": "=", "==": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=",
  ]

  private mutating func comparison() throws(DocumentQueryError) -> QueryNode {
    var left = try sum()
    while true {
      let place = current.place
      if case .symbol(let symbol) = current.kind, let name = Self.comparisons[symbol] {
        advance()
        left = list(name, [left, try sum()], at: place)
      } else if take("IS") {
        left = try identity(left, at: place)
      } else if isWord("IN") || isWord("LIKE") || isWord("BETWEEN") || isWord("NOT") {
        let isNot = take("NOT")
        let found = try membership(left, at: place)
        left = isNot ? list("NOT", [found], at: place) : found
      } else {
        return left
      }
    }
  }

  private mutating func identity(
    _ left: QueryNode, at place: QueryPlace
  ) throws(DocumentQueryError) -> QueryNode {
    let isNot = take("NOT")
    if take("VALUED") {
      let valued = list("IS VALUED", [left], at: place)
      return isNot ? list("NOT", [valued], at: place) : valued
    }
    let right =
      take("MISSING") ? list("MISSING", [], at: place) : try sum()
    return list(isNot ? "IS NOT" : "IS", [left, right], at: place)
  }

  private mutating func membership(
    _ left: QueryNode, at place: QueryPlace
  ) throws(DocumentQueryError) -> QueryNode {
    if take("LIKE") { return list("LIKE", [left, try sum()], at: place) }
    if take("BETWEEN") {
      let low = try sum()
      try expect("AND")
      return list("BETWEEN", [left, low, try sum()], at: place)
    }
    try expect("IN")
    guard isSymbol("("), !isWord("SELECT", at: 1) else {
      return list("IN", [left, try sum()], at: place)
    }
    let start = current.place
    advance()
    let items =
      isSymbol(")")
      ? [] : try items { (parser) throws(DocumentQueryError) in try parser.expression() }
    try expectSymbol(")")
    return list("IN", [left, list("[]", items, at: start)], at: place)
  }

  private mutating func sum() throws(DocumentQueryError) -> QueryNode {
    var (left, operands, name) = (try product(), [QueryNode](), "")
    while case .symbol(let symbol) = current.kind, symbol == "+" || symbol == "-" {
      let place = current.place
      advance()
      let right = try product()
      // A sum of many is one operation, so that it is not deep.
      if symbol == "+", name == "+" {
        operands.append(right)
      } else {
        operands = [left, right]
      }
      name = symbol
      left = list(symbol, operands, at: place)
    }
    return left
  }

  private mutating func product() throws(DocumentQueryError) -> QueryNode {
    var left = try concatenation()
    while case .symbol(let symbol) = current.kind, ["*", "/", "%"].contains(symbol) {
      let place = current.place
      advance()
      left = list(symbol, [left, try concatenation()], at: place)
    }
    return left
  }

  private mutating func concatenation() throws(DocumentQueryError) -> QueryNode {
    let place = current.place
    var operands = [try unary()]
    while takeSymbol("||") { operands.append(try unary()) }
    return operands.count == 1 ? operands[0] : list("||", operands, at: place)
  }

  private mutating func unary() throws(DocumentQueryError) -> QueryNode {
    let place = current.place
    guard isSymbol("-") || isSymbol("+") else { return try collated() }
    depth += 1
    defer { depth -= 1 }
    guard depth <= QueryLimits.depthMax else {
      throw DocumentQueryError(
        .limit, "nested deeper than \(QueryLimits.depthMax)", at: place)
    }
    let isMinus = isSymbol("-")
    advance()
    let operand = try unary()
    guard isMinus else { return operand }
    switch operand.value {
    case .integer(let number): return QueryNode(.integer(-number), at: place)
    case .unsigned(1 << 63): return QueryNode(.integer(.min), at: place)
    case .real(let number): return QueryNode(.real(-number), at: place)
    default: return list("-", [operand], at: place)
    }
  }

  /// `x COLLATE UNICODE:NOCASE:NODIAC:locale`.
  private mutating func collated() throws(DocumentQueryError) -> QueryNode {
    let value = try primary()
    let place = current.place
    guard take("COLLATE") else { return value }
    var options: [QueryNode.Pair] = []
    repeat {
      let start = current.place
      let word = try name("an option of COLLATE")
      let isOff = word.uppercased().hasPrefix("NO")
      switch isOff ? String(word.uppercased().dropFirst(2)) : word.uppercased() {
      case "UNICODE": options.append(QueryNode.Pair("UNICODE", flag(!isOff, start)))
      case "CASE": options.append(QueryNode.Pair("CASE", flag(!isOff, start)))
      case "DIAC", "DIACRITICS": options.append(QueryNode.Pair("DIAC", flag(!isOff, start)))
      default: options.append(QueryNode.Pair("LOCALE", text(word, at: start)))
      }
    } while takeSymbol(":")
    return list("COLLATE", [QueryNode(.dict(options), at: place), value], at: place)
  }

  private func flag(_ value: Bool, _ place: QueryPlace) -> QueryNode {
    QueryNode(.boolean(value), at: place)
  }
}
