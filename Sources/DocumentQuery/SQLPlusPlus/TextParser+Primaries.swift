// TextParser+Primaries.swift: parses literals, names, calls, and constructs with their own
// keywords.

import Fleece

extension TextParser {
  mutating func primary() throws(DocumentQueryError) -> QueryNode {
    let token = current
    let place = token.place
    switch token.kind {
    case .text(let text):
      advance()
      return QueryNode(.text(text), at: place)
    case .integer(let number):
      advance()
      return QueryNode(.integer(number), at: place)
    case .unsigned(let number):
      advance()
      return QueryNode(.unsigned(number), at: place)
    case .real(let number):
      advance()
      return QueryNode(.real(number), at: place)
    case .parameter(let name):
      advance()
      return try steps(behind: list("$" + name, [], at: place), at: place)
    case .symbol("("): return try parenthesis()
    case .symbol("["): return try steps(behind: try array(), at: place)
    case .symbol("{"): return try steps(behind: try dict(), at: place)
    case .name: return try path()
    case .word(let word):
      if let node = try special(word.uppercased(), at: place) {
        return try steps(behind: node, at: place)
      }
      guard !Self.reserved.contains(word.uppercased()) else { throw unexpected("an expression") }
      if index + 1 < tokens.count, tokens[index + 1].kind == .symbol("(") {
        return try call(word, at: place)
      }
      return try path()
    default: throw unexpected("an expression")
    }
  }

  private mutating func parenthesis() throws(DocumentQueryError) -> QueryNode {
    let place = current.place
    advance()
    if isWord("SELECT") {
      let inner = try nested()
      try expectSymbol(")")
      return list("SELECT", [inner], at: place)
    }
    let inner = try expression()
    try expectSymbol(")")
    return try steps(behind: inner, at: place)
  }

  /// A SELECT in parentheses, which knows no variables of outside.
  private mutating func nested() throws(DocumentQueryError) -> QueryNode {
    let saved = variables
    variables = []
    defer { variables = saved }
    depth += 1
    defer { depth -= 1 }
    guard depth <= QueryLimits.depthMax else {
      throw DocumentQueryError(
        .limit, "nested deeper than \(QueryLimits.depthMax)", at: current.place)
    }
    return try select()
  }

  private mutating func array() throws(DocumentQueryError) -> QueryNode {
    let place = current.place
    advance()
    let items =
      isSymbol("]")
      ? [] : try items { (parser) throws(DocumentQueryError) in try parser.expression() }
    try expectSymbol("]")
    return list("[]", items, at: place)
  }

  private mutating func dict() throws(DocumentQueryError) -> QueryNode {
    let place = current.place
    advance()
    var pairs: [QueryNode.Pair] = []
    if !isSymbol("}") {
      repeat {
        guard case .text(let key) = current.kind else { throw unexpected("a key between quotes") }
        advance()
        try expectSymbol(":")
        pairs.append(QueryNode.Pair(key, try expression()))
      } while takeSymbol(",")
    }
    try expectSymbol("}")
    pairs.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    return QueryNode(.dict(pairs), at: place)
  }

  /// An expression that begins with a keyword.
  private mutating func special(
    _ word: String, at place: QueryPlace
  ) throws(DocumentQueryError) -> QueryNode? {
    switch word {
    case "NULL":
      advance()
      return QueryNode(.null, at: place)
    case "TRUE", "FALSE":
      advance()
      return QueryNode(.boolean(word == "TRUE"), at: place)
    case "MISSING":
      advance()
      return list("MISSING", [], at: place)
    case "EXISTS":
      advance()
      return list("EXISTS", [try primary()], at: place)
    case "CASE": return try choice(at: place)
    case "ANY", "SOME", "EVERY": return try quantified(at: place)
    default: return nil
    }
  }

  private mutating func choice(at place: QueryPlace) throws(DocumentQueryError) -> QueryNode {
    advance()
    var items: [QueryNode] = []
    items.append(isWord("WHEN") ? QueryNode(.null, at: place) : try expression())
    guard isWord("WHEN") else { throw unexpected("WHEN") }
    while take("WHEN") {
      items.append(try expression())
      try expect("THEN")
      items.append(try expression())
    }
    if take("ELSE") { items.append(try expression()) }
    try expect("END")
    return list("CASE", items, at: place)
  }

  private mutating func quantified(at place: QueryPlace) throws(DocumentQueryError) -> QueryNode {
    var name = isWord("EVERY") ? "EVERY" : "ANY"
    advance()
    if name == "ANY", take("AND") {
      try expect("EVERY")
      name = "ANY AND EVERY"
    }
    let variable = try self.name("a variable")
    try expect("IN")
    let container = try expression()
    try expect("SATISFIES")
    variables.append(variable)
    let predicate = try expression()
    variables.removeLast()
    try expect("END")
    return list(name, [text(variable, at: place), container, predicate], at: place)
  }

  /// A name and the following steps: a property, or a path into a variable.
  private mutating func path() throws(DocumentQueryError) -> QueryNode {
    let place = current.place
    let first = try name("a name")
    var components = [FleecePath.Component.key(first)]
    while let step = try step() { components.append(step) }
    if isSymbol("."), index + 1 < tokens.count, tokens[index + 1].kind == .symbol("*") {
      index += 2
    }
    if variables.contains(first) {
      return list("?" + FleecePath(components).description, [], at: place)
    }
    return list("." + FleecePath(components).description, [], at: place)
  }

  /// `.name` or `[index]`.
  private mutating func step() throws(DocumentQueryError) -> FleecePath.Component? {
    if isSymbol("."), index + 1 < tokens.count {
      switch tokens[index + 1].kind {
      case .word(let word):
        index += 2
        return .key(word)
      case .name(let name):
        index += 2
        return .key(name)
      default: return nil
      }
    }
    guard takeSymbol("[") else { return nil }
    let isNegative = takeSymbol("-")
    guard case .integer(let number) = current.kind, number <= Int64(Int32.max) else {
      throw unexpected("an index")
    }
    advance()
    try expectSymbol("]")
    return .index(isNegative ? -Int(number) : Int(number))
  }

  /// Steps into a value that is not a property.
  private mutating func steps(
    behind value: QueryNode, at place: QueryPlace
  ) throws(DocumentQueryError) -> QueryNode {
    var components: [FleecePath.Component] = []
    while let step = try step() { components.append(step) }
    guard !components.isEmpty else { return value }
    let path = FleecePath(components).description
    return list("_.", [value, text("." + path, at: place)], at: place)
  }

  private mutating func call(
    _ name: String, at place: QueryPlace
  ) throws(DocumentQueryError) -> QueryNode {
    index += 2
    var operands: [QueryNode] = []
    if name.uppercased() == "COUNT", takeSymbol("*") {
      operands = [list(".", [], at: place)]
    } else if !isSymbol(")") {
      operands = try items { (parser) throws(DocumentQueryError) in try parser.expression() }
    }
    try expectSymbol(")")
    var name = name
    switch name.uppercased() {
    case "META":
      name = "meta"
      operands = try operands.map { (node) throws(DocumentQueryError) in try sourceName(node) }
    case "MATCH", "RANK":
      if let first = operands.first, let index = first.array?.first?.text {
        operands[0] = text(index, at: first.place)
      }
    default: break
    }
    return try steps(behind: list(name + "()", operands, at: place), at: place)
  }

  /// A path as the name of a source; `` `scope.collection` `` and `scope.collection` are the same.
  private func sourceName(_ node: QueryNode) throws(DocumentQueryError) -> QueryNode {
    guard let path = node.array?.first?.text, path.hasPrefix(".") else { return node }
    var names: [String] = []
    for component in try QueryPaths.components(path, at: node.place) {
      guard case .key(let name) = component else { return node }
      names.append(name)
    }
    return text(names.joined(separator: "."), at: node.place)
  }
}
