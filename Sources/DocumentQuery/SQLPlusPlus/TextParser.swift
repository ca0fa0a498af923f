// TextParser.swift: SQL++ into the form that JSON has, so that both have one meaning. This file has
// the words and the clauses of SELECT.

import Fleece

/// Reads SQL++.
struct TextParser {
  let tokens: [TextToken]
  var index = 0
  var depth = 0
  /// Variables of ANY and EVERY that are known here.
  var variables: [String] = []

  init(_ text: String) throws(DocumentQueryError) { tokens = try TextLexer.tokens(text) }

  /// The whole text.
  mutating func query() throws(DocumentQueryError) -> QueryNode {
    let node = try select()
    _ = takeSymbol(";")
    guard current.kind == .end else { throw unexpected("the end") }
    return node
  }

  var current: TextToken { tokens[index] }

  mutating func advance() { if index < tokens.count - 1 { index += 1 } }

  func isWord(_ word: String, at offset: Int = 0) -> Bool {
    guard index + offset < tokens.count, case .word(let text) = tokens[index + offset].kind else {
      return false
    }
    return text.uppercased() == word
  }

  mutating func take(_ word: String) -> Bool {
    guard isWord(word) else { return false }
    advance()
    return true
  }

  func isSymbol(_ symbol: String) -> Bool { current.kind == .symbol(symbol) }

  mutating func takeSymbol(_ symbol: String) -> Bool {
    guard isSymbol(symbol) else { return false }
    advance()
    return true
  }

  mutating func expect(_ word: String) throws(DocumentQueryError) {
    guard take(word) else { throw unexpected(word) }
  }

  mutating func expectSymbol(_ symbol: String) throws(DocumentQueryError) {
    guard takeSymbol(symbol) else { throw unexpected("'\(symbol)'") }
  }

  func unexpected(_ wanted: String) -> DocumentQueryError {
    var nearest: String?
    if case .word(let word) = current.kind, !Self.reserved.contains(word.uppercased()) {
      nearest = nearestName(to: word, among: Self.reserved)
    }
    return DocumentQueryError(
      .syntax, "expected \(wanted), found \(current.shownText)", at: current.place,
      nearest: nearest)
  }

  /// Words that cannot name columns and sources, unless they are in backticks.
  static let reserved = [
    "SELECT", "DISTINCT", "FROM", "WHERE", "GROUP", "BY", "HAVING", "ORDER", "LIMIT", "OFFSET",
    "AS", "JOIN", "INNER", "LEFT", "OUTER", "CROSS", "ON", "UNNEST", "AND", "OR", "NOT", "IN",
    "IS", "LIKE", "BETWEEN", "NULL", "MISSING", "VALUED", "TRUE", "FALSE", "CASE", "WHEN", "THEN",
    "ELSE", "END", "ANY", "EVERY", "SOME", "SATISFIES", "EXISTS", "COLLATE", "ASC", "DESC",
  ]

  func list(_ name: String, _ items: [QueryNode], at place: QueryPlace) -> QueryNode {
    QueryNode(.array([QueryNode(.text(name), at: place)] + items), at: place)
  }

  func text(_ text: String, at place: QueryPlace) -> QueryNode { QueryNode(.text(text), at: place) }

  mutating func select() throws(DocumentQueryError) -> QueryNode {
    let place = current.place
    try expect("SELECT")
    var clauses: [QueryNode.Pair] = []
    if take("DISTINCT") {
      clauses.append(QueryNode.Pair("DISTINCT", QueryNode(.boolean(true), at: place)))
    } else {
      _ = take("ALL")
    }
    let what = current.place
    let columns = try items { (parser) throws(DocumentQueryError) in try parser.column() }
    clauses.append(QueryNode.Pair("WHAT", QueryNode(.array(columns), at: what)))
    if isWord("FROM") {
      clauses.append(QueryNode.Pair("FROM", try sources()))
    }
    if take("WHERE") { clauses.append(QueryNode.Pair("WHERE", try expression())) }
    if isWord("GROUP") {
      let terms = try termsBy { (parser) throws(DocumentQueryError) in try parser.expression() }
      clauses.append(QueryNode.Pair("GROUP_BY", terms))
      if take("HAVING") { clauses.append(QueryNode.Pair("HAVING", try expression())) }
    }
    if isWord("ORDER") {
      let terms = try termsBy { (parser) throws(DocumentQueryError) in try parser.orderTerm() }
      clauses.append(QueryNode.Pair("ORDER_BY", terms))
    }
    // Each of them once, in either order.
    var bounds = ["LIMIT", "OFFSET"]
    while let bound = bounds.first(where: { isWord($0) }) {
      advance()
      bounds.removeAll { $0 == bound }
      clauses.append(QueryNode.Pair(bound, try expression()))
    }
    return QueryNode(.dict(clauses), at: place)
  }

  /// The rest after GROUP or ORDER: BY, and terms.
  private mutating func termsBy(
    _ term: (inout TextParser) throws(DocumentQueryError) -> QueryNode
  ) throws(DocumentQueryError) -> QueryNode {
    let place = current.place
    advance()
    try expect("BY")
    return QueryNode(.array(try items(term)), at: place)
  }

  /// Things with commas between them.
  mutating func items(
    _ item: (inout TextParser) throws(DocumentQueryError) -> QueryNode
  ) throws(DocumentQueryError) -> [QueryNode] {
    var items: [QueryNode] = []
    repeat { items.append(try item(&self)) } while takeSymbol(",")
    return items
  }

  private mutating func orderTerm() throws(DocumentQueryError) -> QueryNode {
    let place = current.place
    let term = try expression()
    if take("DESC") { return list("DESC", [term], at: place) }
    if take("ASC") { return list("ASC", [term], at: place) }
    return bare(term)
  }

  /// A bare text would be the name of a property in a list.
  private func bare(_ node: QueryNode) -> QueryNode {
    guard node.text != nil else { return node }
    return list("concat()", [node, text("", at: node.place)], at: node.place)
  }

  private mutating func column() throws(DocumentQueryError) -> QueryNode {
    let place = current.place
    if takeSymbol("*") {
      let all = list(".", [], at: place)
      return try alias().map { list("AS", [all, text($0, at: place)], at: place) } ?? all
    }
    let expression = try expression()
    if let name = try alias() {
      return list("AS", [expression, text(name, at: place)], at: place)
    }
    return bare(expression)
  }

  /// `AS name`, or a name alone.
  private mutating func alias() throws(DocumentQueryError) -> String? {
    if take("AS") { return try name("a name") }
    switch current.kind {
    case .name(let name):
      advance()
      return name
    case .word(let word) where !Self.reserved.contains(word.uppercased()):
      advance()
      return word
    default: return nil
    }
  }

  /// A name, between backticks or not.
  mutating func name(_ wanted: String) throws(DocumentQueryError) -> String {
    switch current.kind {
    case .name(let name):
      advance()
      return name
    case .word(let word) where !Self.reserved.contains(word.uppercased()):
      advance()
      return word
    default: throw unexpected(wanted)
    }
  }
}
