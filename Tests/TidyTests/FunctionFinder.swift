// FunctionFinder.swift: finds where functions begin and end by counting braces in blanked code.

/// A function, initialiser or subscript with a body.
struct FunctionSpan {
  /// Line of its keyword, counted from 1.
  let firstLine: Int
  /// Lines from the keyword to the closing brace, both counted.
  let lineCount: Int
}

/// Finds the functions of a file.
struct FunctionFinder {
  private struct Token {
    let text: Substring
    let line: Int
  }

  private static let openers: Set<Substring> = ["func", "init", "deinit", "subscript"]
  private static let otherDeclarations: Set<Substring> = [
    "func", "init", "deinit", "subscript", "var", "let", "case", "struct", "class", "enum",
    "protocol", "extension", "typealias", "associatedtype", "import", "actor",
  ]
  private var tokens: [Token] = []

  init(_ file: SourceFile) {
    for (index, line) in file.code.enumerated() {
      var rest = line[...]
      while let first = rest.utf8.first {
        let word = rest.utf8.prefix(while: isIdentifierByte)
        let length = word.isEmpty ? 1 : word.count
        let text = Substring(rest.utf8.prefix(length))
        if first != UInt8(ascii: " ") { tokens.append(Token(text: text, line: index + 1)) }
        rest = Substring(rest.utf8.dropFirst(length))
      }
    }
  }

  /// All functions, in the order of their keywords; nested ones too.
  func functions() -> [FunctionSpan] {
    tokens.indices.compactMap { start in
      guard FunctionFinder.openers.contains(tokens[start].text),
        start == 0 || tokens[start - 1].text != ".",
        let opening = bodyOpening(after: start), let closing = closing(of: opening)
      else { return nil }
      let first = tokens[start].line
      return FunctionSpan(firstLine: first, lineCount: tokens[closing].line - first + 1)
    }
  }

  /// The brace that opens the body, or nil for a requirement of a protocol.
  private func bodyOpening(after start: Int) -> Int? {
    var depth = 0
    for index in (start + 1)..<tokens.count {
      switch tokens[index].text {
      case "(", "[": depth += 1
      case ")", "]": depth -= 1
      case "{" where depth == 0: return index
      case "}" where depth == 0: return nil
      case let word where depth == 0 && FunctionFinder.otherDeclarations.contains(word): return nil
      default: break
      }
    }
    return nil
  }

  private func closing(of opening: Int) -> Int? {
    var depth = 0
    for index in opening..<tokens.count {
      if tokens[index].text == "{" { depth += 1 }
      if tokens[index].text == "}" { depth -= 1 }
      if depth == 0 { return index }
    }
    return nil
  }
}
