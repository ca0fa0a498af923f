// SourceReader.swift: tells code from comments and string literals in Swift text, byte by byte.
// It knows line comments, nested block comments, string literals with any number of `#`, of one
// line or many, and interpolation (whose inside is code again). It knows no regex literals.

/// Splits a Swift text into code and comments of the same shape.
struct SourceReader {
  private enum Mode {
    case code(parentheses: Int)
    case lineComment
    case blockComment(depth: Int)
    case string(hashes: Int, quotes: Int)
  }

  /// The text with everything but code blanked.
  private(set) var code: [UInt8] = []
  /// The text with everything but comments blanked.
  private(set) var comments: [UInt8] = []

  private let text: [UInt8]
  private var position = 0
  private var modes: [Mode] = [.code(parentheses: 0)]

  init(_ text: String) {
    self.text = Array(text.utf8)
  }

  /// Reads all of the text.
  mutating func read() {
    while position < text.count {
      switch modes[modes.count - 1] {
      case .code(let parentheses): readCode(parentheses: parentheses)
      case .lineComment: readLineComment()
      case .blockComment(let depth): readBlockComment(depth: depth)
      case .string(let hashes, let quotes): readString(hashes: hashes, quotes: quotes)
      }
    }
  }

  private mutating func readCode(parentheses: Int) {
    if starts(with: "//") {
      modes.append(.lineComment)
      take(2, as: .lineComment)
    } else if starts(with: "/*") {
      modes.append(.blockComment(depth: 1))
      take(2, as: .lineComment)
    } else if let opening = stringOpening() {
      modes.append(.string(hashes: opening.hashes, quotes: opening.quotes))
      take(opening.hashes + opening.quotes, as: modes[modes.count - 2])
    } else {
      let isInterpolation = modes.count > 1
      if text[position] == UInt8(ascii: "(") { setParentheses(parentheses + 1) }
      if text[position] == UInt8(ascii: ")") {
        setParentheses(parentheses - 1)
        if isInterpolation, parentheses == 1 { modes.removeLast() }
      }
      take(1, as: .code(parentheses: 0))
    }
  }

  private mutating func readLineComment() {
    if text[position] == UInt8(ascii: "\n") { modes.removeLast() }
    take(1, as: .lineComment)
  }

  private mutating func readBlockComment(depth: Int) {
    if starts(with: "/*") {
      modes[modes.count - 1] = .blockComment(depth: depth + 1)
      take(2, as: .lineComment)
    } else if starts(with: "*/") {
      modes.removeLast()
      if depth > 1 { modes.append(.blockComment(depth: depth - 1)) }
      take(2, as: .lineComment)
    } else {
      take(1, as: .lineComment)
    }
  }

  private mutating func readString(hashes: Int, quotes: Int) {
    let marks = String(repeating: "#", count: hashes)
    let closing = String(repeating: "\"", count: quotes) + marks
    if starts(with: closing) {
      modes.removeLast()
      take(closing.utf8.count, as: .code(parentheses: 0))
    } else if starts(with: "\\" + marks + "(") {
      take(1 + hashes, as: .string(hashes: hashes, quotes: quotes))
      modes.append(.code(parentheses: 0))
    } else if starts(with: "\\" + marks) {
      take(2 + hashes, as: .string(hashes: hashes, quotes: quotes))
    } else if quotes == 1, text[position] == UInt8(ascii: "\n") {
      modes.removeLast()  // A literal of one line ends with the line, closed or not.
    } else {
      take(1, as: .string(hashes: hashes, quotes: quotes))
    }
  }

  private mutating func setParentheses(_ count: Int) {
    modes[modes.count - 1] = .code(parentheses: count)
  }

  /// Copies bytes to where they belong and blanks the other place; line ends go to both.
  private mutating func take(_ count: Int, as mode: Mode) {
    for byte in text[position..<min(position + count, text.count)] {
      let isLineEnd = byte == UInt8(ascii: "\n")
      let blank = isLineEnd ? byte : UInt8(ascii: " ")
      switch mode {
      case .code:
        code.append(byte)
        comments.append(blank)
      case .lineComment, .blockComment:
        code.append(blank)
        comments.append(byte)
      case .string:
        code.append(blank)
        comments.append(blank)
      }
    }
    position += count
  }

  private func starts(with prefix: String) -> Bool {
    text[position...].starts(with: prefix.utf8)
  }

  private func stringOpening() -> (hashes: Int, quotes: Int)? {
    var hashes = 0
    while position + hashes < text.count, text[position + hashes] == UInt8(ascii: "#") {
      hashes += 1
    }
    let rest = text[(position + hashes)...]
    guard rest.first == UInt8(ascii: "\"") else { return nil }
    return (hashes, rest.starts(with: "\"\"\"".utf8) ? 3 : 1)
  }
}
