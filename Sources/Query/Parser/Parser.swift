// Parser.swift: conditions and comparisons, by recursive descent with one word of lookahead.
// Parentheses hold a condition or an operand; which of them is known only at their end, so both are
// returned as one `Node`, and nothing is read twice. Invariant: every recursion calls `nested`,
// which bounds the depth; chains of operators are loops.

import Engine

/// Reads the text of a query.
struct Parser {
  /// The possible contents of parentheses.
  enum Node {
    case predicate(QueryPredicate)
    case operand(QueryOperand)
  }

  var lexer: Lexer
  /// The next token.
  var current = Token()
  private var depth = 0
  /// The arguments of a format that are texts, by their numbers.
  private let names: [String?]
  /// The number of placeholders read, and the arguments of those that are values.
  private(set) var placesRead = 0
  private(set) var valuesRead: [Int] = []

  init(_ text: String) throws(QueryError) {
    names = []
    lexer = try Lexer(text)
    current = try lexer.next()
  }

  /// Reads a text with `%@`, `%K` and their like.
  init(format text: String, names: [String?]) throws(QueryError) {
    self.names = names
    lexer = try Lexer(text, isFormat: true)
    try advance()
  }

  // MARK: words

  mutating func advance() throws(QueryError) {
    current = try lexer.next()
    guard current.kind == .value || current.kind == .keyPath else { return }
    guard placesRead < names.count else {
      throw QueryError(
        .argument,
        "\(text(current)) is one place more than there are arguments; the query got "
          + "\(names.count)", at: lexer.position(of: current.start))
    }
    current.number = placesRead
    placesRead += 1
    guard current.kind == .value else { return }
    // From here on it is `$n`, with the number among the values.
    valuesRead.append(current.number)
    current.number = valuesRead.count - 1
  }

  /// The steps of the path that an argument names, in place of `%K`.
  mutating func keyPath() throws(QueryError) -> [QueryStep] {
    let place = lexer.position(of: current.start)
    guard let name = names[current.number] else {
      throw QueryError(
        .argument, "%K stands for a property and needs its name, a text, as an argument", at: place)
    }
    guard let steps = Self.steps(ofKeyPath: name) else {
      throw QueryError(
        found: Lexer.shown(Array(name.utf8)[...]),
        expected: "the path of a property for %K, such as \"name\" or \"owner.name\"", at: place)
    }
    try advance()
    return steps
  }

  /// Nil for what is not a path from an object to its own values.
  static func steps(ofKeyPath name: String) -> [QueryStep]? {
    do throws(QueryError) {
      var parser = try Parser(name)
      let path = try parser.path()
      guard parser.current.kind == .end, path.variable == nil else { return nil }
      let hasArgument = path.steps.contains { step in
        switch step {
        case .argument, .pathArgument: true
        default: false
        }
      }
      return hasArgument ? nil : path.steps
    } catch {
      return nil
    }
  }

  mutating func accept(_ kind: TokenKind) throws(QueryError) -> Bool {
    guard current.kind == kind else { return false }
    try advance()
    return true
  }

  mutating func expect(_ kind: TokenKind, _ expected: String) throws(QueryError) {
    guard try accept(kind) else { throw unexpected(expected) }
  }

  /// The bytes of a word.
  func bytes(_ token: Token) -> ArraySlice<UInt8> { lexer.bytes[token.start..<token.end] }

  func text(_ token: Token) -> String { String(decoding: bytes(token), as: UTF8.self) }

  func unexpected(_ expected: String) -> QueryError {
    let found =
      current.kind == .end ? "the end of the query" : Lexer.shown(bytes(current))
    return QueryError(found: found, expected: expected, at: lexer.position(of: current.start))
  }

  /// Goes one level deeper.
  mutating func nested<Result>(
    _ body: (inout Parser) throws(QueryError) -> Result
  ) throws(QueryError) -> Result {
    guard depth < QueryLimits.depthMax else {
      throw QueryError(
        .limit,
        "the query is nested deeper than \(QueryLimits.depthMax) levels; write AND and OR without "
          + "parentheses where they are not needed", at: lexer.position(of: current.start))
    }
    depth += 1
    let result = try body(&self)
    depth -= 1
    return result
  }

  // MARK: conditions

  mutating func query() throws(QueryError) -> ParsedQuery {
    let predicate = try predicate()
    var clauses: [QueryClause] = []
    while let clause = try clause() { clauses.append(clause) }
    guard current.kind == .end else {
      throw unexpected("AND, OR, SORT(…), DISTINCT(…), LIMIT(…) or the end of the query")
    }
    return ParsedQuery(predicate, clauses: clauses)
  }

  /// A condition; an operand alone is none.
  mutating func predicate() throws(QueryError) -> QueryPredicate {
    let node = try disjunction()
    return try condition(node)
  }

  private func condition(_ node: Node) throws(QueryError) -> QueryPredicate {
    guard case .predicate(let predicate) = node else {
      throw unexpected("an operator that compares, as in \"age > 5\"")
    }
    return predicate
  }

  private mutating func disjunction() throws(QueryError) -> Node {
    let first = try conjunction()
    guard current.kind == .or || current.keyword == .or else { return first }
    var members = [try condition(first)]
    while true {
      guard current.kind == .or || current.keyword == .or else { break }
      try advance()
      let next = try conjunction()
      members.append(try condition(next))
    }
    return .predicate(.any(members))
  }

  private mutating func conjunction() throws(QueryError) -> Node {
    let first = try negation()
    guard current.kind == .and || current.keyword == .and else { return first }
    var members = [try condition(first)]
    while true {
      guard current.kind == .and || current.keyword == .and else { break }
      try advance()
      let next = try negation()
      members.append(try condition(next))
    }
    return .predicate(.all(members))
  }

  private mutating func negation() throws(QueryError) -> Node {
    guard try isNegated() else { return try comparison() }
    try advance()
    return try nested { parser throws(QueryError) in
      let member = try parser.negation()
      return .predicate(.not(try parser.condition(member)))
    }
  }

  private func isNegated() throws(QueryError) -> Bool {
    if current.keyword == .not { return try !isNameOfProperty() }
    return current.kind == .not
  }

  // MARK: comparisons

  private mutating func quantifier() throws(QueryError) -> Quantifier? {
    let quantifier: Quantifier
    switch current.keyword {
    case .any, .someOf: quantifier = .any
    case .all: quantifier = .all
    case .noneOf: quantifier = .none
    default: return nil
    }
    if try isNameOfProperty() { return nil }
    try advance()
    return quantifier
  }

  /// Whether ANY, ALL, SOME, NONE or NOT, where the parser is, is a property of that name: what
  /// follows ends a path, so that it cannot be one that the word is about.
  private func isNameOfProperty() throws(QueryError) -> Bool {
    let next = lexer.byte(current.end)
    if next == UInt8(ascii: ".") || next == UInt8(ascii: "[") { return true }
    var ahead = self
    try ahead.advance()
    switch ahead.current.kind {
    case .equal, .notEqual, .less, .lessEqual, .greater, .greaterEqual, .star, .slash,
      .rightParenthesis, .rightBrace, .comma, .and, .or, .end:
      return true
    case .name:
      switch ahead.current.keyword {
      case .and, .or, .beginswith, .endswith, .contains, .like, .between, .in, .text, .geowithin:
        return try !ahead.isNamedLikeOperator()
      default: return false
      }
    default: return false
    }
  }

  /// Whether an operator in letters, where the parser is, is a property of that name, because an
  /// operator follows.
  private func isNamedLikeOperator() throws(QueryError) -> Bool {
    let next = lexer.byte(current.end)
    if next == UInt8(ascii: ".") { return true }
    // `[c]` and `[d]` are options of an operator; an index or a key is of a property.
    if next == UInt8(ascii: "[") { return !"cdCD".utf8.contains(lexer.byte(current.end + 1)) }
    var ahead = self
    try ahead.advance()
    switch ahead.current.kind {
    case .equal, .notEqual, .less, .lessEqual, .greater, .greaterEqual, .plus, .minus, .star,
      .slash:
      return true
    case .name:
      switch ahead.current.keyword {
      case .beginswith, .endswith, .contains, .like, .between, .in, .text, .geowithin: return true
      default: return false
      }
    default: return false
    }
  }

  private mutating func comparison() throws(QueryError) -> Node {
    let leftQuantifier = try quantifier()
    let node = try arithmetic(inProduct: false)
    guard case .operand(let left) = node else {
      guard leftQuantifier == nil else {
        throw unexpected("a collection after ANY, ALL or NONE, not a condition")
      }
      return node
    }
    guard let operation = try comparisonOperator() else {
      guard leftQuantifier == nil else { throw unexpected("an operator that compares") }
      return node
    }
    let options = try options(operation)
    let rightQuantifier = try quantifier()
    guard case .operand(let right) = try arithmetic(inProduct: false) else {
      throw unexpected("a value after \(operation.rawValue), not a condition")
    }
    if operation == .between, case .list(let ends) = right, ends.count != 2 {
      throw unexpected("BETWEEN {lowest, highest} before this, with two values")
    }
    return .predicate(
      .comparison(
        QueryComparison(
          left, operation, right, ignoresCase: options.contains("c"),
          ignoresMarks: options.contains("d"), leftQuantifier: leftQuantifier,
          rightQuantifier: rightQuantifier)))
  }

  private mutating func comparisonOperator() throws(QueryError) -> ComparisonOperator? {
    let operation: ComparisonOperator
    switch current.kind {
    case .equal: operation = .equal
    case .notEqual: operation = .notEqual
    case .less: operation = .less
    case .lessEqual: operation = .lessEqual
    case .greater: operation = .greater
    case .greaterEqual: operation = .greaterEqual
    case .name:
      switch current.keyword {
      case .beginswith: operation = .beginsWith
      case .endswith: operation = .endsWith
      case .contains: operation = .contains
      case .like: operation = .like
      case .between: operation = .between
      case .in: operation = .in
      case .text: operation = .text
      case .geowithin: operation = .geoWithin
      default: return nil
      }
    default: return nil
    }
    try advance()
    return operation
  }

  /// `[c]`, `[d]` or `[cd]` after an operator, as the letters in lower case.
  private mutating func options(_ operation: ComparisonOperator) throws(QueryError) -> String {
    guard current.kind == .leftBracket else { return "" }
    guard operation.takesCase else {
      throw unexpected("a value; \(operation.rawValue) does not take [c]")
    }
    try advance()
    let letters = text(current).lowercased()
    guard current.kind == .name, ["c", "d", "cd", "dc"].contains(letters) else {
      throw unexpected("[c] for comparing without upper and lower case, [d] without marks, or [cd]")
    }
    try advance()
    try expect(.rightBracket, "] after [\(letters)")
    return letters
  }

  // MARK: arithmetic

  private func arithmeticOperator(inProduct: Bool) -> ArithmeticOperator? {
    switch (current.kind, inProduct) {
    case (.plus, false): .add
    case (.minus, false): .subtract
    case (.star, true): .multiply
    case (.slash, true): .divide
    default: nil
    }
  }

  /// A sum, or a product: a chain of operators of equal precedence.
  private mutating func arithmetic(inProduct: Bool) throws(QueryError) -> Node {
    let first = inProduct ? try primary() : try arithmetic(inProduct: true)
    guard arithmeticOperator(inProduct: inProduct) != nil else { return first }
    guard case .operand(let operand) = first else {
      throw unexpected("AND or OR after a condition")
    }
    var terms: [ArithmeticTerm] = []
    while let operation = arithmeticOperator(inProduct: inProduct) {
      try advance()
      guard
        case .operand(let next) = inProduct ? try primary() : try arithmetic(inProduct: true)
      else { throw unexpected("a number after \(operation.rawValue), not a condition") }
      terms.append(ArithmeticTerm(operation, next))
    }
    return .operand(.arithmetic(operand, terms))
  }

  private mutating func primary() throws(QueryError) -> Node {
    switch current.kind {
    case .leftParenthesis:
      try advance()
      let node = try nested { parser throws(QueryError) in try parser.disjunction() }
      try expect(.rightParenthesis, "AND, OR or )")
      return node
    case .name:
      switch current.keyword {
      case .truepredicate:
        try advance()
        return .predicate(.constant(true))
      case .falsepredicate:
        try advance()
        return .predicate(.constant(false))
      default: return .operand(try operand())
      }
    default: return .operand(try operand())
    }
  }
}
