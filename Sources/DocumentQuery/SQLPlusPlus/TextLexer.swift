// TextLexer.swift: splits SQL++ into tokens. Texts are enclosed in ' or ", names in backticks; a
// quote inside is doubled. Names may have $ after their first letter. Comments extend from -- to
// the end of the line, or from /* to */.

/// Takes a text apart.
struct TextLexer {
  private let letters: [Unicode.Scalar]
  private var place = 0
  private var line = 1
  private var lineStart = 0

  init(_ text: String) { letters = Array(text.unicodeScalars) }

  /// All words, with the end as the last.
  static func tokens(_ text: String) throws(DocumentQueryError) -> [TextToken] {
    guard text.utf8.count <= QueryLimits.sizeMaxBytes else {
      throw DocumentQueryError(
        .limit, "\(text.utf8.count) bytes > \(QueryLimits.sizeMaxBytes)",
        at: .text(line: 1, column: 1))
    }
    var lexer = TextLexer(text)
    var tokens: [TextToken] = []
    repeat {
      tokens.append(try lexer.next())
      guard tokens.count <= QueryLimits.nodesMax else {
        throw DocumentQueryError(
          .limit, "more than \(QueryLimits.nodesMax) words", at: lexer.here)
      }
    } while tokens.last?.kind != .end
    return tokens
  }

  private var here: QueryPlace { .text(line: line, column: place - lineStart + 1) }

  private func peek(_ offset: Int = 0) -> Unicode.Scalar? {
    place + offset < letters.count ? letters[place + offset] : nil
  }

  private mutating func advance() {
    if letters[place] == "\n" { (line, lineStart) = (line + 1, place + 1) }
    place += 1
  }

  private mutating func next() throws(DocumentQueryError) -> TextToken {
    try skipSpace()
    let start = here
    guard let letter = peek() else { return TextToken(kind: .end, place: start) }
    switch letter {
    case "'", "\"": return TextToken(kind: .text(try quotedText(letter)), place: start)
    case "`": return TextToken(kind: .name(try quotedText(letter)), place: start)
    case "$":
      advance()
      let name = takeWhile(Self.isWord)
      guard !name.isEmpty else {
        throw DocumentQueryError(.syntax, "a parameter needs a name", at: start)
      }
      return TextToken(kind: .parameter(name), place: start)
    case "0"..."9": return TextToken(kind: try number(start), place: start)
    case "." where peek(1).map { ("0"..."9").contains($0) } == true:
      return TextToken(kind: try number(start), place: start)
    case _ where Self.isWord(letter):
      return TextToken(kind: .word(takeWhile { Self.isWord($0) || $0 == "$" }), place: start)
    default: return TextToken(kind: .symbol(try symbol(start)), place: start)
    }
  }

  private mutating func skipSpace() throws(DocumentQueryError) {
    while let letter = peek() {
      if letter.properties.isWhitespace {
        advance()
      } else if letter == "-", peek(1) == "-" {
        while let letter = peek(), letter != "\n" { advance() }
      } else if letter == "/", peek(1) == "*" {
        let start = here
        while peek() != nil, !(peek() == "*" && peek(1) == "/") { advance() }
        guard peek() != nil else {
          throw DocumentQueryError(.syntax, "a comment that does not end", at: start)
        }
        place += 2
      } else {
        return
      }
    }
  }

  private static func isWord(_ letter: Unicode.Scalar) -> Bool {
    letter == "_" || letter.properties.isAlphabetic || ("0"..."9").contains(letter)
  }

  private mutating func takeWhile(_ test: (Unicode.Scalar) -> Bool) -> String {
    var text = String.UnicodeScalarView()
    while let letter = peek(), test(letter) {
      text.append(letter)
      advance()
    }
    return String(text)
  }

  private mutating func quotedText(
    _ quote: Unicode.Scalar
  ) throws(DocumentQueryError) -> String {
    let start = here
    var text = String.UnicodeScalarView()
    advance()
    while let letter = peek() {
      advance()
      if letter == quote {
        guard peek() == quote else { return String(text) }
        advance()
      }
      text.append(letter)
    }
    throw DocumentQueryError(.syntax, "a \(quote) that does not end", at: start)
  }

  private mutating func number(
    _ start: QueryPlace
  ) throws(DocumentQueryError) -> TextToken.Kind {
    func isDigit(_ letter: Unicode.Scalar) -> Bool { ("0"..."9").contains(letter) }
    var text = takeWhile(isDigit)
    var isReal = false
    if peek() == ".", let next = peek(1), isDigit(next) {
      isReal = true
      advance()
      text += "." + takeWhile(isDigit)
    }
    if peek() == "e" || peek() == "E" {
      let sign = peek(1) == "-" || peek(1) == "+" ? 1 : 0
      if let digit = peek(1 + sign), isDigit(digit) {
        isReal = true
        for _ in 0...sign {
          text.unicodeScalars.append(letters[place])
          advance()
        }
        text += takeWhile(isDigit)
      }
    }
    if let next = peek(), Self.isWord(next) {
      throw DocumentQueryError(.syntax, "a letter after a number", at: start)
    }
    if !isReal, let number = Int64(text) { return .integer(number) }
    if !isReal, let number = UInt64(text) { return .unsigned(number) }
    return .real(Double(text) ?? .infinity)
  }

  private mutating func symbol(_ start: QueryPlace) throws(DocumentQueryError) -> String {
    let pairs = ["==", "!=", "<>", "<=", ">=", "||"]
    if let first = peek(), let second = peek(1), pairs.contains("\(first)\(second)") {
      place += 2
      return "\(first)\(second)"
    }
    guard let letter = peek(), "()[]{},.:;=<>+-*/%".unicodeScalars.contains(letter) else {
      throw DocumentQueryError(
        .syntax, "\(shown(peek().map { "\($0)" } ?? "")) has no meaning", at: start)
    }
    advance()
    return "\(letter)"
  }
}
