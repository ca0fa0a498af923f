// Lexer.swift: splits a text into tokens, one at a time, from its UTF-8 bytes. Invariants:
// `position` never goes back and each call of `next` moves it or is at the end, so the text is read
// once; a token's bytes are inside the text.

/// Splits the text of a query into tokens.
struct Lexer {
  let bytes: [UInt8]
  private(set) var position = 0
  /// Whether `%@` and its like are words.
  private let isFormat: Bool

  /// - Throws: `QueryError` with code `.limit` when the text is too long.
  init(_ text: String, isFormat: Bool = false) throws(QueryError) {
    self.isFormat = isFormat
    guard text.utf8.count <= QueryLimits.textBytesMax else {
      throw QueryError(
        .limit,
        "the query has \(text.utf8.count) bytes, at most \(QueryLimits.textBytesMax) are read; "
          + "pass long values as arguments")
    }
    bytes = Array(text.utf8)
  }

  // MARK: places

  /// A place as line and column.
  /// - Complexity: O(offset).
  func position(of offset: Int) -> QueryError.Position {
    var line = 1
    var column = 1
    for byte in bytes[..<min(offset, bytes.count)] {
      if byte == UInt8(ascii: "\n") {
        line += 1
        column = 1
      } else if byte & 0xc0 != 0x80 {
        column += 1
      }
    }
    return QueryError.Position(offsetBytes: offset, line: line, column: column)
  }

  func error(_ message: String, at offset: Int) -> QueryError {
    QueryError(.syntax, message, at: position(of: offset))
  }

  // MARK: bytes

  @inline(__always)
  func byte(_ index: Int) -> UInt8 { index < bytes.count ? bytes[index] : 0 }

  @inline(__always)
  static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

  @inline(__always)
  static func isNameStart(_ byte: UInt8) -> Bool {
    (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_") || byte >= 0x80
      || byte == UInt8(ascii: "\\")
  }

  @inline(__always)
  static func isNamePart(_ byte: UInt8) -> Bool {
    isNameStart(byte) || isDigit(byte) || byte == UInt8(ascii: "$")
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte &- 9 < 5
  }

  // MARK: words

  /// The next word.
  /// - Throws: `QueryError` with code `.syntax` when there is none.
  mutating func next() throws(QueryError) -> Token {
    while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    guard position < bytes.count else { return token(.end, 0) }
    let first = bytes[position]
    if Self.isDigit(first) { return try numeral() }
    if Self.isNameStart(first) { return try word() }
    let second = byte(position + 1)
    switch first {
    case UInt8(ascii: "'"), UInt8(ascii: "\""): return try quoted(.string, prefix: 0)
    case UInt8(ascii: "$"): return try dollar()
    case UInt8(ascii: "@"): return try operation()
    case UInt8(ascii: "%") where isFormat: return try placeholder()
    case UInt8(ascii: "="):
      if second == UInt8(ascii: ">") { return token(.greaterEqual, 2) }
      if second == UInt8(ascii: "<") { return token(.lessEqual, 2) }
      return token(.equal, second == UInt8(ascii: "=") ? 2 : 1)
    case UInt8(ascii: "!"):
      return second == UInt8(ascii: "=") ? token(.notEqual, 2) : token(.not, 1)
    case UInt8(ascii: "<"):
      if second == UInt8(ascii: "=") { return token(.lessEqual, 2) }
      return second == UInt8(ascii: ">") ? token(.notEqual, 2) : token(.less, 1)
    case UInt8(ascii: ">"):
      return second == UInt8(ascii: "=") ? token(.greaterEqual, 2) : token(.greater, 1)
    case UInt8(ascii: "&") where second == first: return token(.and, 2)
    case UInt8(ascii: "|") where second == first: return token(.or, 2)
    case UInt8(ascii: ".") where Self.isDigit(second): return try numeral()
    default: return try mark(first)
    }
  }

  /// `%@`, `%K`, or a number as C's formats have it: `%d`, `%ld`, `%llu`, `%lf`.
  private mutating func placeholder() throws(QueryError) -> Token {
    var end = position + 1
    while end < position + 3, [UInt8]("hlqLztj".utf8).contains(byte(end)) { end += 1 }
    let isBare = end == position + 1
    switch byte(end) {
    case UInt8(ascii: "K") where isBare: return token(.keyPath, 2)
    case UInt8(ascii: "@") where isBare: return token(.value, 2)
    case let kind where [UInt8]("dDiuUxXoOfFeEgGaA".utf8).contains(kind):
      return token(.value, end + 1 - position)
    default:
      throw QueryError(
        found: Self.shown(bytes[position..<min(end + 1, bytes.count)]),
        expected: "%@ for a value, %K for a property, or a number such as %d, %lu or %f",
        at: position(of: position))
    }
  }

  /// A mark of one byte.
  private mutating func mark(_ byte: UInt8) throws(QueryError) -> Token {
    switch byte {
    case UInt8(ascii: "+"): return token(.plus, 1)
    case UInt8(ascii: "-"): return token(.minus, 1)
    case UInt8(ascii: "*"): return token(.star, 1)
    case UInt8(ascii: "/"): return token(.slash, 1)
    case UInt8(ascii: "("): return token(.leftParenthesis, 1)
    case UInt8(ascii: ")"): return token(.rightParenthesis, 1)
    case UInt8(ascii: "{"): return token(.leftBrace, 1)
    case UInt8(ascii: "}"): return token(.rightBrace, 1)
    case UInt8(ascii: "["): return token(.leftBracket, 1)
    case UInt8(ascii: "]"): return token(.rightBracket, 1)
    case UInt8(ascii: ","): return token(.comma, 1)
    case UInt8(ascii: "."): return token(.dot, 1)
    default:
      throw QueryError(
        found: Self.shown(bytes[position...position]), expected: "a word of the query language",
        at: position(of: position))
    }
  }

  private mutating func token(_ kind: TokenKind, _ count: Int) -> Token {
    let start = position
    position += count
    return Token(kind: kind, start: start, end: position)
  }

  // MARK: names

  private mutating func word() throws(QueryError) -> Token {
    let start = position
    let first = bytes[start]
    if first == UInt8(ascii: "T") {
      if let end = timestampEnd(start) { return token(.timestamp, end - start) }
      if let end = datedNameEnd(start) { return token(.name, end - start) }
    }
    if first == UInt8(ascii: "L"), let end = pairEnd(start, sign: nil) {
      return token(.typedLink, end - start)
    }
    if first | 0x20 == UInt8(ascii: "b"), byte(start + 1) == UInt8(ascii: "6"),
      byte(start + 2) == UInt8(ascii: "4"),
      [UInt8(ascii: "'"), UInt8(ascii: "\"")].contains(byte(start + 3))
    {
      return try quoted(.binary, prefix: 3)
    }
    var isEscaped = false
    while position < bytes.count, Self.isNamePart(bytes[position]) {
      if bytes[position] == UInt8(ascii: "\\") {
        isEscaped = true
        position += 1
        guard position < bytes.count else {
          throw error("a name ends in a backslash; write the character it escapes", at: start)
        }
        // The rest of a longer character are bytes of names themselves.
      }
      position += 1
    }
    return Token(
      kind: .name, keyword: isEscaped ? nil : Keyword.spelled(bytes[start..<position]),
      isEscaped: isEscaped, start: start, end: position)
  }

  /// Where `T@<seconds>` ends, if there is one here: a number, with all its characters.
  private func intervalEnd(_ start: Int) -> Int? {
    guard byte(start + 1) == UInt8(ascii: "@") else { return nil }
    var end = start + 2
    let marks = [UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: ".")]
    while Self.isNamePart(byte(end)) && byte(end) != UInt8(ascii: "\\")
      || marks.contains(byte(end))
    {
      end += 1
    }
    return end > start + 2 ? end : nil
  }

  /// Where `T<seconds>:<nanoseconds>` ends, if there is one here.
  private func timestampEnd(_ start: Int) -> Int? {
    intervalEnd(start) ?? pairEnd(start, sign: UInt8(ascii: "-"))
  }

  /// Where a letter and two numbers with a colon between them end, if they are here.
  private func pairEnd(_ start: Int, sign: UInt8?) -> Int? {
    var end = start + 1
    for part in 0..<2 {
      if byte(end) == sign { end += 1 }
      guard Self.isDigit(byte(end)) else { return nil }
      while Self.isDigit(byte(end)) { end += 1 }
      guard part == 0 else { continue }
      guard byte(end) == UInt8(ascii: ":") else { return nil }
      end += 1
    }
    return end
  }

  /// Where `T2017-12-04` ends, the name of a property, if it is here: T and a date without a time.
  private func datedNameEnd(_ start: Int) -> Int? {
    var end = start + 1
    for part in 0..<3 {
      guard let next = digitsEnd(end) else { return nil }
      end = next
      guard part < 2 else { break }
      guard byte(end) == UInt8(ascii: "-") else { return nil }
      end += 1
    }
    return Self.isNamePart(byte(end)) ? nil : end
  }

  /// Where digits end that begin here; nil without one.
  private func digitsEnd(_ start: Int) -> Int? {
    var end = start
    while Self.isDigit(byte(end)) { end += 1 }
    return end > start ? end : nil
  }

  /// `$0`, `$K0`, or a name that begins with the dollar: of a variable, or of a property.
  private mutating func dollar() throws(QueryError) -> Token {
    let start = position
    if let end = digitsEnd(start + 1) { return token(.argument, end - start) }
    if byte(start + 1) == UInt8(ascii: "K"), let end = digitsEnd(start + 2),
      !Self.isNamePart(byte(end))
    {
      return token(.pathArgument, end - start)
    }
    position += 1
    while position < bytes.count,
      Self.isNamePart(bytes[position]) && bytes[position] != UInt8(ascii: "\\")
        || bytes[position] == UInt8(ascii: "-")
    {
      position += 1
    }
    return Token(kind: .variable, start: start, end: position)
  }

  private mutating func operation() throws(QueryError) -> Token {
    let start = position
    position += 1
    while position < bytes.count, (bytes[position] | 0x20) &- UInt8(ascii: "a") < 26 {
      position += 1
    }
    return Token(kind: .operation, start: start, end: position)
  }

  private mutating func quoted(_ kind: TokenKind, prefix: Int) throws(QueryError) -> Token {
    let start = position
    let quote = bytes[start + prefix]
    position += prefix + 1
    while position < bytes.count {
      let byte = bytes[position]
      position += byte == UInt8(ascii: "\\") ? 2 : 1
      if byte == quote { return Token(kind: kind, start: start, end: position) }
    }
    position = bytes.count
    throw error("a text begins here and does not end; add \(Character(.init(quote)))", at: start)
  }

  // MARK: numbers

  private mutating func digits() {
    while position < bytes.count, Self.isDigit(bytes[position]) { position += 1 }
  }

  /// `12`, `0x1f`, `1.5`, `.5`, `1e-3`, `1.5f`, or the date that begins with a year.
  private mutating func numeral() throws(QueryError) -> Token {
    let start = position
    if let end = dateEnd(start) { return token(.date, end - start) }
    if bytes[start] == UInt8(ascii: "0"), byte(start + 1) | 0x20 == UInt8(ascii: "x") {
      position += 2
      while Self.hexadecimal(byte(position)) != nil { position += 1 }
      guard (1...16).contains(position - start - 2) else {
        throw error("a hexadecimal number has 1 to 16 digits", at: start)
      }
      return try numeralToken(.integer, start)
    }
    var kind = TokenKind.integer
    digits()
    if byte(position) == UInt8(ascii: "."), !Self.isNameStart(byte(position + 1)) {
      kind = .number
      position += 1
      digits()
    }
    if byte(position) | 0x20 == UInt8(ascii: "e") {
      kind = .number
      position += 1
      if byte(position) == UInt8(ascii: "-") || byte(position) == UInt8(ascii: "+") {
        position += 1
      }
      guard Self.isDigit(byte(position)) else {
        throw error("a number ends in its exponent's sign; write digits after it", at: start)
      }
      digits()
    }
    if byte(position) | 0x20 == UInt8(ascii: "f"), kind == .number { position += 1 }
    return try numeralToken(kind, start)
  }

  private func numeralToken(_ kind: TokenKind, _ start: Int) throws(QueryError) -> Token {
    guard !Self.isNamePart(byte(position)) || isBeforeOperator else {
      throw QueryError(
        found: Self.shown(bytes[start...position]), expected: "a number, or a space after it",
        at: position(of: start))
    }
    guard position - start <= QueryLimits.numberBytesMax else {
      throw QueryError(
        .limit,
        "a number has \(position - start) bytes, at most \(QueryLimits.numberBytesMax) are read",
        at: position(of: start))
    }
    return Token(kind: kind, start: start, end: position)
  }

  /// Whether a word such as `AND` or `IN` begins here, which may follow a number without a space.
  private var isBeforeOperator: Bool {
    var end = position
    while end - position < 16, Self.isNamePart(byte(end)) { end += 1 }
    switch Keyword.spelled(bytes[position..<end]) {
    case .and, .or, .in, .between, .beginswith, .endswith, .contains, .like, .text, .geowithin,
      .sort, .distinct, .limit:
      return true
    default: return false
    }
  }

  /// Where `YYYY-MM-DD@HH:MM:SS[:nanoseconds]` ends, if it is here; each part has a digit or more.
  private func dateEnd(_ start: Int) -> Int? {
    var end = start
    let minus = UInt8(ascii: "-")
    let colon = UInt8(ascii: ":")
    for separator in [minus, minus, UInt8(ascii: "@"), colon, colon, 0] {
      guard let next = digitsEnd(end) else { return nil }
      end = next
      guard separator != 0 else { break }
      let isTime = separator == UInt8(ascii: "@") && byte(end) == UInt8(ascii: "T")
      guard byte(end) == separator || isTime else { return nil }
      end += 1
    }
    guard byte(end) == colon, let last = digitsEnd(end + 1) else { return end }
    return last
  }

  /// The key that `O5` names; nil for other words.
  static func rowKey(_ word: ArraySlice<UInt8>) -> Int64? {
    guard word.first == UInt8(ascii: "O"), word.count > 1, word.dropFirst().allSatisfy(isDigit)
    else { return nil }
    return Int64(String(decoding: word.dropFirst(), as: UTF8.self))
  }

  static func hexadecimal(_ byte: UInt8) -> UInt8? {
    if isDigit(byte) { return byte &- UInt8(ascii: "0") }
    let letter = (byte | 0x20) &- UInt8(ascii: "a")
    return letter < 6 ? letter + 10 : nil
  }

  /// Reads the content between `(` and `)`, without these; nil when the next byte is not `(`.
  ///
  /// For identifiers, which are not tokens of their own: `oid(507f…)`.
  mutating func parenthesized() -> ArraySlice<UInt8>? {
    var start = position
    while Self.isSpace(byte(start)), start < bytes.count { start += 1 }
    guard byte(start) == UInt8(ascii: "(") else { return nil }
    position = start + 1
    while position < bytes.count, bytes[position] != UInt8(ascii: ")"), position - start < 64 {
      position += 1
    }
    return bytes[(start + 1)..<position]
  }

  /// Whether `(` is the next byte that is not a space.
  var isBeforeParenthesis: Bool {
    var next = position
    while next < bytes.count, Self.isSpace(bytes[next]) { next += 1 }
    return byte(next) == UInt8(ascii: "(")
  }

  /// Bytes of the text for a message.
  static func shown(_ bytes: ArraySlice<UInt8>) -> String {
    let text = String(decoding: bytes.prefix(40), as: UTF8.self)
    return "\"" + text + (bytes.count > 40 ? "…" : "") + "\""
  }
}
