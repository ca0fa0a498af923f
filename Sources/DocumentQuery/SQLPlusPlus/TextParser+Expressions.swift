// TextParser+Expressions.swift: operators, from the loosest to the tightest:
//   COLLATE, OR, AND, NOT, = IS IN LIKE BETWEEN, < <= > >=, + -, * / %, ||, unary -.

extension TextParser {
  mutating func expression() throws(DocumentQueryError) -> QueryNode {
    depth += 1
    defer { depth -= 1 }
    guard depth <= QueryLimits.depthMax else {
      throw DocumentQueryError(
        .limit, "nested deeper than \(QueryLimits.depthMax)", at: current.place)
    }
    let found = try chain("OR") { (parser) throws(DocumentQueryError) in
      try parser.chain("AND") { (parser) throws(DocumentQueryError) in try parser.negation() }
    }
    let place = current.place
    guard take("COLLATE") else { return found }
    return list("COLLATE", [QueryNode(.dict(try collation()), at: place), found], at: place)
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

  private static let equalities = ["=": "=", "==": "=", "!=": "!=", "<>": "!="]

  private mutating func comparison() throws(DocumentQueryError) -> QueryNode {
    var left = try order()
    while true {
      let place = current.place
      if case .symbol(let symbol) = current.kind, let name = Self.equalities[symbol] {
        advance()
        left = list(name, [left, try order()], at: place)
      } else if take("IS") {
        left = try identity(left, at: place)
      } else if isWord("NOT"), isWord("NULL", at: 1) {
        index += 2
        left = list("IS NOT", [left, QueryNode(.null, at: place)], at: place)
      } else if isWord("IN") || isWord("LIKE") || isWord("BETWEEN") || isWord("NOT") {
        let isNot = take("NOT")
        let found = try membership(left, at: place)
        left = isNot ? list("NOT", [found], at: place) : found
      } else {
        return left
      }
    }
  }

  private mutating func order() throws(DocumentQueryError) -> QueryNode {
    var left = try sum()
    while case .symbol(let symbol) = current.kind, ["<", "<=", ">", ">="].contains(symbol) {
      let place = current.place
      advance()
      left = list(symbol, [left, try sum()], at: place)
    }
    return left
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
      take("MISSING") ? list("MISSING", [], at: place) : try order()
    return list(isNot ? "IS NOT" : "IS", [left, right], at: place)
  }

  private mutating func membership(
    _ left: QueryNode, at place: QueryPlace
  ) throws(DocumentQueryError) -> QueryNode {
    if take("LIKE") { return list("LIKE", [left, try order()], at: place) }
    if take("BETWEEN") {
      let low = try order()
      try expect("AND")
      return list("BETWEEN", [left, low, try order()], at: place)
    }
    try expect("IN")
    guard isSymbol("("), !isWord("SELECT", at: 1) else {
      return list("IN", [left, try order()], at: place)
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
    guard isSymbol("-") || isSymbol("+") else { return try primary() }
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

  /// What stands behind COLLATE: `NOCASE`, `(UNICODE NOCASE NODIAC)`, or `UNICODE:NOCASE:locale`.
  private mutating func collation() throws(DocumentQueryError) -> [QueryNode.Pair] {
    var options: [QueryNode.Pair] = []
    if takeSymbol("(") {
      repeat {
        options.append(try collationOption())
        _ = takeSymbol(":")
      } while !takeSymbol(")")
      return options
    }
    options.append(try collationOption())
    while takeSymbol(":") { options.append(try collationOption(orLocale: true)) }
    return options
  }

  private static let collationOptions = [
    "UNICODE": "UNICODE", "CASE": "CASE", "DIAC": "DIAC", "DIACRITIC": "DIAC",
    "DIACRITICS": "DIAC",
  ]

  private mutating func collationOption(
    orLocale mayBeLocale: Bool = false
  ) throws(DocumentQueryError) -> QueryNode.Pair {
    let place = current.place
    guard case .word(let word) = current.kind else {
      throw unexpected("an option of COLLATE")
    }
    let upper = word.uppercased()
    let isOff = upper.hasPrefix("NO")
    if let option = Self.collationOptions[isOff ? String(upper.dropFirst(2)) : upper] {
      advance()
      return QueryNode.Pair(option, flag(!isOff, place))
    }
    if mayBeLocale { return QueryNode.Pair("LOCALE", text(try name("a locale"), at: place)) }
    throw DocumentQueryError(
      .syntax, "expected an option of COLLATE, found \(current.shownText)", at: place,
      nearest: nearestName(to: word, among: ["UNICODE", "NOCASE", "NODIAC", "CASE", "DIAC"]))
  }

  private func flag(_ value: Bool, _ place: QueryPlace) -> QueryNode {
    QueryNode(.boolean(value), at: place)
  }
}
