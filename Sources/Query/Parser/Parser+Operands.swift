// Parser+Operands.swift: paths, lists, subqueries, and the content of parentheses after a word.

import Engine

extension Parser {
  /// An operand without arithmetic.
  mutating func operand() throws(QueryError) -> QueryOperand {
    switch current.kind {
    case .variable, .operation, .keyPath, .pathArgument: return .path(try path())
    case .argument, .value: return .argument(try argument())
    case .leftBrace: return try list()
    case .name:
      if let operand = try special() { return operand }
      return .path(try path())
    default:
      guard let literal = try literal() else {
        throw unexpected("a property, a value or a condition")
      }
      return .literal(literal)
    }
  }

  /// The number of an argument: `$0`, `$K0`, or `%@`.
  mutating func argument() throws(QueryError) -> Int {
    if current.kind == .value {
      let number = current.number
      try advance()
      return number
    }
    let digits = text(current).dropFirst(current.kind == .pathArgument ? 2 : 1)
    guard let number = Int(digits), number <= QueryLimits.argumentMax else {
      throw QueryError(
        .limit, "\(text(current)): arguments have numbers up to \(QueryLimits.argumentMax)",
        at: lexer.position(of: current.start))
    }
    try advance()
    return number
  }

  private mutating func list() throws(QueryError) -> QueryOperand {
    try advance()
    var members: [QueryOperand] = []
    if try accept(.rightBrace) { return .list(members) }
    repeat {
      let member = try nested { parser throws(QueryError) in try parser.operand() }
      if case .list = member { throw unexpected("values in a list, not lists, before this") }
      members.append(member)
    } while try accept(.comma)
    try expect(.rightBrace, ", or } after a value of a list")
    return .list(members)
  }

  /// Words that are not a property where an operand begins.
  private mutating func special() throws(QueryError) -> QueryOperand? {
    let isCall = lexer.isBeforeParenthesis
    switch current.keyword {
    case .selfObject: return .path(try path())
    case .subquery where isCall: return try subquery()
    case .obj where isCall: return .literal(try object())
    case .oid where isCall, .uuid where isCall: return .literal(try identifier())
    case .bin where isCall, .binary where isCall: return .literal(try bytesInParentheses())
    case .geobox where isCall, .geocircle where isCall, .geopolygon where isCall:
      return .shape(try shape())
    default: return try literal().map { .literal($0) }
    }
  }

  // MARK: paths

  /// A name without its backslashes; inside of it `\n`, `\r` and `\t` are white space.
  mutating func name(_ expected: String) throws(QueryError) -> String {
    guard current.kind == .name else { throw unexpected(expected) }
    let raw = bytes(current)
    var plain: [UInt8] = []
    var isEscaped = false
    for byte in raw {
      if byte == UInt8(ascii: "\\"), !isEscaped {
        isEscaped = true
        continue
      }
      let isFirst = plain.isEmpty
      switch byte {
      case UInt8(ascii: "n") where isEscaped && !isFirst: plain.append(0x0a)
      case UInt8(ascii: "r") where isEscaped && !isFirst: plain.append(0x0d)
      case UInt8(ascii: "t") where isEscaped && !isFirst: plain.append(0x09)
      default: plain.append(byte)
      }
      isEscaped = false
    }
    try advance()
    return String(decoding: plain, as: UTF8.self)
  }

  mutating func path() throws(QueryError) -> QueryPath {
    var path = QueryPath([])
    if current.kind == .variable {
      path.variable = String(text(current).dropFirst())
      try advance()
    } else if current.keyword == .selfObject {
      try advance()
    } else {
      path.steps += try namedSteps()
    }
    while true {
      if try accept(.dot) {
        path.steps += try namedSteps()
      } else if try accept(.leftBracket) {
        path.steps.append(try bracketStep())
      } else {
        return path
      }
      guard path.steps.count <= QueryLimits.pathStepsMax else {
        throw QueryError(
          .limit, "a path has more than \(QueryLimits.pathStepsMax) steps",
          at: lexer.position(of: current.start))
      }
    }
  }

  private mutating func namedSteps() throws(QueryError) -> [QueryStep] {
    switch current.kind {
    case .keyPath: return try keyPath()
    case .pathArgument: return [.pathArgument(try argument())]
    default: return [try namedStep()]
    }
  }

  private mutating func namedStep() throws(QueryError) -> QueryStep {
    if current.kind == .variable {
      // After a dot it is a property with the dollar in its name.
      let name = text(current)
      try advance()
      return .property(name)
    }
    guard current.kind == .operation else { return .property(try name("the name of a property")) }
    var word = String(text(current).dropFirst()).lowercased()
    // As NSPredicate calls them.
    if word == "allkeys" || word == "allvalues" { word.removeFirst(3) }
    if let operation = PathOperation(rawValue: word) {
      try advance()
      return .operation(operation)
    }
    guard word == "links" else {
      throw unexpected(
        PathOperation.allCases.map { "@\($0.rawValue)" }.joined(separator: ", ") + " or @links")
    }
    try advance()
    guard current.kind == .dot, lexer.bytes.indices.contains(current.end),
      lexer.bytes[current.end] != UInt8(ascii: "@")
    else { return .links }
    try advance()
    let table = try name("the name of a class after @links, or @count")
    try expect(.dot, "a dot and the property of \(table) that links")
    return .backlinks(table: table, property: try name("the property of \(table) that links"))
  }

  private mutating func bracketStep() throws(QueryError) -> QueryStep {
    let expected = "an index, FIRST, LAST, SIZE, *, a key in quotes or an argument"
    let step: QueryStep
    switch current.kind {
    case .integer:
      guard let index = Int(text(current)) else { throw unexpected(expected) }
      step = .index(index)
    case .string: step = .key(try string(bytes(current)))
    case .star: step = .allElements
    case .argument, .value:
      step = .argument(try argument())
      try expect(.rightBracket, "]")
      return step
    case .name:
      switch current.keyword {
      case .first: step = .firstElement
      case .last: step = .lastElement
      case .size: step = .elementCount
      default: throw unexpected(expected)
      }
    default: throw unexpected(expected)
    }
    try advance()
    try expect(.rightBracket, "]")
    return step
  }

  // MARK: calls

  private mutating func subquery() throws(QueryError) -> QueryOperand {
    try advance()
    try expect(.leftParenthesis, "( after SUBQUERY")
    let collection = try path()
    try expect(.comma, ", after the collection of a subquery")
    guard current.kind == .variable else { throw unexpected("a variable such as $x") }
    let variable = String(text(current).dropFirst())
    try advance()
    try expect(.comma, ", after the variable of a subquery")
    let predicate = try nested { parser throws(QueryError) in try parser.predicate() }
    try expect(.rightParenthesis, "AND, OR or )")
    let isCounted = try accept(.dot) && ["@count", "@size"].contains(text(current).lowercased())
    guard isCounted else { throw unexpected(".@count after SUBQUERY(…)") }
    try advance()
    return .subquery(
      QuerySubquery(collection: collection, variable: variable, predicate: predicate))
  }

  /// `oid(…)` and `uuid(…)`, whose content is read literally.
  private mutating func identifier() throws(QueryError) -> QueryLiteral {
    let start = current.start
    let isObjectId = current.keyword == .oid
    let digits = (lexer.parenthesized() ?? []).filter { $0 != UInt8(ascii: " ") }
    guard let value = Self.identifier(digits, isObjectId: isObjectId) else {
      throw QueryError(
        found: Lexer.shown(digits[...]),
        expected: isObjectId
          ? "24 hexadecimal digits in oid(…)"
          : "32 hexadecimal digits in uuid(8-4-4-4-12)",
        at: lexer.position(of: start))
    }
    try advance()
    try expect(.rightParenthesis, ")")
    return .value(value)
  }

  private static func identifier(_ text: [UInt8], isObjectId: Bool) -> Value? {
    var digits: [UInt8] = []
    for (index, byte) in text.enumerated() {
      if !isObjectId, [8, 13, 18, 23].contains(index) {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = Lexer.hexadecimal(byte) else { return nil }
      digits.append(digit)
    }
    guard digits.count % 2 == 0 else { return nil }
    let bytes = stride(from: 0, to: digits.count, by: 2).map {
      digits[$0] << 4 | digits[$0 + 1]
    }
    guard isObjectId else {
      return text.count == 36 ? UUIDBytes(bytes: bytes).map { .uuid($0) } : nil
    }
    return ObjectId(bytes: bytes).map { .objectId($0) }
  }

  /// An object: `obj("Table", key)`.
  private mutating func object() throws(QueryError) -> QueryLiteral {
    try advance()
    try expect(.leftParenthesis, "( after obj")
    let table: String
    if current.kind == .string {
      table = try string(bytes(current))
      try advance()
    } else {
      table = try name("the name of a class, in quotes")
    }
    try expect(.comma, ", and the primary key of an object")
    var key = Value.null
    var isRowKey = false
    if let number = try rowKey() {
      key = .int(number)
      isRowKey = true
    } else if case .value(let value)? = try primaryKey() {
      key = value
    } else {
      throw unexpected("a primary key, or O and the key of a row")
    }
    try expect(.rightParenthesis, ")")
    return .object(table: table, key: key, isRowKey: isRowKey)
  }

  private mutating func primaryKey() throws(QueryError) -> QueryLiteral? {
    if case .literal(let literal)? = try special() { return literal }
    return nil
  }

  /// The key of a row: `O5` or `O-5`.
  private mutating func rowKey() throws(QueryError) -> Int64? {
    let word = text(current)
    guard current.kind == .name, word.first == "O" else { return nil }
    if word == "O", lexer.position < lexer.bytes.count {
      try advance()
      guard try accept(.minus), current.kind == .integer,
        let number = Int64("-" + text(current))
      else { throw unexpected("the key of a row after O") }
      try advance()
      return number
    }
    guard let number = Int64(word.dropFirst()), number >= 0 else { return nil }
    try advance()
    return number
  }

  // MARK: places

  private mutating func shape() throws(QueryError) -> QueryShape {
    let keyword = current.keyword
    try advance()
    try expect(.leftParenthesis, "(")
    let shape: QueryShape
    switch keyword {
    case .geobox:
      let first = try point()
      try expect(.comma, ", and the other corner")
      shape = .box(first, try point())
    case .geocircle:
      let centre = try point()
      try expect(.comma, ", and the radius in radians")
      shape = .circle(centre, radius: try coordinate())
    default:
      var rings: [[QueryPoint]] = []
      repeat {
        try expect(.leftBrace, "{ before the points of a ring")
        var ring: [QueryPoint] = []
        repeat { ring.append(try point()) } while try accept(.comma)
        try expect(.rightBrace, ", or } after a point of a ring")
        rings.append(ring)
      } while try accept(.comma)
      shape = .polygon(rings)
    }
    try expect(.rightParenthesis, ")")
    return shape
  }

  private mutating func point() throws(QueryError) -> QueryPoint {
    try expect(.leftBracket, "[longitude, latitude]")
    let longitude = try coordinate()
    try expect(.comma, ", and the latitude")
    let latitude = try coordinate()
    // An altitude, which plays no part.
    if try accept(.comma) { _ = try coordinate() }
    try expect(.rightBracket, "] after the latitude")
    return QueryPoint(longitude: longitude, latitude: latitude)
  }

  private mutating func coordinate() throws(QueryError) -> QueryOperand {
    if current.kind == .argument || current.kind == .value { return .argument(try argument()) }
    switch try literal() {
    case .number(let text)?: return .literal(.number(text))
    case .value(.int(let number))?: return .literal(.value(.int(number)))
    default: throw unexpected("a number of degrees or radians before this")
    }
  }
}
