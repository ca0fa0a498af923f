// ScriptReader.swift: splits the page's script into names, numbers, texts and signs.
// It knows the JavaScript that the script is written in: no regular expressions, no labels.

/// A piece of a script.
struct ScriptToken: Equatable {
  enum Kind { case name, number, text, sign }

  let kind: Kind
  let text: String
  /// Counted from 1.
  let line: Int
}

/// Splits a script.
struct ScriptReader {
  private(set) var tokens: [ScriptToken] = []
  /// Why reading ended early.
  private(set) var failure: (line: Int, message: String)?

  private var rest: Substring
  private var line = 1

  init(_ text: String) {
    rest = text[...]
    while let next = rest.first, failure == nil { read(next) }
  }

  private static let signs = [
    "===", "!==", "...", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "++", "--", "+=",
    "-=", "*=",
  ]

  private mutating func read(_ next: Character) {
    if next == "\n" { line += 1 }
    if next.isWhitespace {
      rest = rest.dropFirst()
    } else if rest.hasPrefix("//") {
      rest = rest.drop { $0 != "\n" }
    } else if rest.hasPrefix("/*") {
      readComment()
    } else if next == "\"" || next == "'" || next == "`" {
      readText(next)
    } else if next.isNumber {
      take(.number, String(rest.prefix { $0.isNumber || $0.isLetter || $0 == "." }))
    } else if next.isLetter || next == "_" || next == "$" {
      take(.name, String(rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }))
    } else {
      take(.sign, Self.signs.first { rest.hasPrefix($0) } ?? String(next))
    }
  }

  private mutating func take(_ kind: ScriptToken.Kind, _ text: String) {
    tokens.append(ScriptToken(kind: kind, text: text, line: line))
    rest = rest.dropFirst(text.count)
  }

  private mutating func readComment() {
    while let next = rest.first, !rest.hasPrefix("*/") {
      if next == "\n" { line += 1 }
      rest = rest.dropFirst()
    }
    if rest.isEmpty { failure = (line, "a comment is never closed") }
    rest = rest.dropFirst(2)
  }

  /// A string; the code in a template comes behind its text.
  private mutating func readText(_ quote: Character) {
    let first = line
    var text = ""
    var inner: [ScriptToken] = []
    rest = rest.dropFirst()
    while let next = rest.first, next != quote {
      if quote == "`", rest.hasPrefix("${") {
        rest = rest.dropFirst(2)
        let outer = tokens
        tokens = []
        while let next = rest.first, next != "}" { read(next) }
        inner += tokens
        tokens = outer
        text += "…"
      } else {
        if next == "\n" {
          line += 1
          if quote != "`" { failure = (first, "a string is never closed") }
        }
        text.append(next)
      }
      rest = rest.dropFirst()
    }
    if rest.isEmpty { failure = (first, "a string is never closed") }
    rest = rest.dropFirst()
    tokens.append(ScriptToken(kind: .text, text: text, line: first))
    if !inner.isEmpty {
      let sign = { ScriptToken(kind: .sign, text: $0, line: first) }
      tokens += [sign("+"), sign("(")] + inner + [sign(")")]
    }
  }
}
