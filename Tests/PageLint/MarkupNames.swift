// MarkupNames.swift: reads from Swift what the page's elements are called: elements, classes,
// `data-` attributes and custom properties, all of which stand in string literals.
// A class that is made when the program runs (`"class": kind`) can be any plain word of the page's
// files or any case of the layer that the page shows, which is all that `possibleClasses` says.

/// Names in the Swift files that write the page.
struct MarkupNames {
  struct Use {
    let path: String
    let line: Int
  }

  private(set) var elements: Set<String> = []
  /// Classes that stand in a literal behind `"class":`.
  private(set) var classes: [String: Use] = [:]
  private(set) var attributes: [String: Use] = [:]
  private(set) var properties: Set<String> = []
  private(set) var possibleClasses: Set<String> = []

  /// - Parameters:
  ///   - page: The files that write the page.
  ///   - shown: The files that declare what the page shows.
  init(page: [PageText], shown: [PageText]) {
    for file in page { read(file) }
    for file in page + shown { readCases(file) }
  }

  private mutating func read(_ file: PageText) {
    var (isClass, depth) = (false, 0)
    for (line, piece) in Self.pieces(of: file.text) {
      switch piece {
      case .literal(let text):
        let use = Use(path: file.path, line: line)
        if text.hasPrefix("data-") { attributes[text] = attributes[text] ?? use }
        if text.hasPrefix("--") { properties.insert(String(text.prefix { $0 != ":" })) }
        for word in text.split(separator: " ").map(String.init) where Self.isWord(word) {
          if isClass { classes[word] = classes[word] ?? use }
          possibleClasses.insert(word)
        }
        elements.insert(text)
      case .sign(":") where !isClass: break
      case .sign("("), .sign("["): depth += isClass ? 1 : 0
      case .sign(")") where isClass, .sign("]") where isClass:
        depth -= 1
        if depth < 0 { isClass = false }
      case .sign(",") where isClass && depth == 0: isClass = false
      case .classKey: (isClass, depth) = (true, 0)
      case .sign: break
      }
    }
  }

  /// Raw values that a case has without saying so.
  private mutating func readCases(_ file: PageText) {
    for line in file.text.split(separator: "\n") {
      let words = line.split(whereSeparator: { $0 == " " || $0 == "," })
      guard words.first == "case" else { continue }
      for word in words.dropFirst() where Self.isWord(String(word)) {
        possibleClasses.insert(String(word))
      }
    }
  }

  private static func isWord(_ word: String) -> Bool {
    !word.isEmpty && word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
  }

  // MARK: Pieces

  private enum Piece {
    case literal(String)
    /// The literal `"class"` with the colon behind it.
    case classKey
    case sign(Character)
  }

  /// Literals and signs; interpolations are left out of a literal, and comments are passed over.
  private static func pieces(of text: String) -> [(line: Int, piece: Piece)] {
    var pieces: [(line: Int, piece: Piece)] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      var rest = line[...]
      while let next = rest.first, !rest.hasPrefix("//") {
        rest = rest.dropFirst()
        if next == "\"" {
          let literal = takeLiteral(&rest)
          let isKey = literal == "class" && rest.hasPrefix(":")
          pieces.append((index + 1, isKey ? .classKey : .literal(literal)))
        } else {
          pieces.append((index + 1, .sign(next)))
        }
      }
    }
    return pieces
  }

  /// A literal of one line; what is interpolated becomes a space and `…`, which is not a word.
  private static func takeLiteral(_ rest: inout Substring) -> String {
    var (literal, depth) = ("", 0)
    while let next = rest.first {
      if depth == 0, next == "\"" { break }
      if rest.hasPrefix("\\("), depth == 0 {
        literal += "…"
        depth = 1
        rest = rest.dropFirst(2)
        continue
      }
      if depth > 0 {
        depth += next == "(" ? 1 : next == ")" ? -1 : 0
      } else {
        literal.append(next)
        if next == "\\" {
          rest = rest.dropFirst()
          continue
        }
      }
      rest = rest.dropFirst()
    }
    rest = rest.dropFirst()
    return literal
  }
}
