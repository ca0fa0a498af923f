// SearchWords.swift: the words of a text, and the words of a TEXT condition. A word is a sequence
// of letters, digits and marks; words are compared with their case folded.

/// The words that a text must and must not contain.
struct SearchWords: Hashable, Sendable {
  /// One required or excluded word.
  struct Term: Hashable, Sendable {
    let word: String
    /// Whether longer words match, too: `swi*`.
    let isPrefix: Bool
    /// Whether the text must not have it: `-swift`.
    let isExcluded: Bool
  }

  let terms: [Term]

  /// Reads terms apart by white space.
  init(_ text: String) {
    var terms: [Term] = []
    for part in text.unicodeScalars.split(whereSeparator: { $0.properties.isWhitespace }) {
      let isExcluded = part.first == "-"
      let isPrefix = part.last == "*"
      let words = Self.words(of: String(String.UnicodeScalarView(part)))
      for (index, word) in words.enumerated() {
        terms.append(
          Term(
            word: word, isPrefix: isPrefix && index == words.count - 1, isExcluded: isExcluded))
      }
    }
    self.terms = terms
  }

  /// Whether a text has every required word, and no excluded one; a condition without words matches
  /// no text.
  func matches(_ text: String) -> Bool {
    guard !terms.isEmpty else { return false }
    let words = Self.words(of: text).map { Array($0.utf8) }
    return terms.allSatisfy { term in
      let wanted = Array(term.word.utf8)
      let isThere = words.contains { term.isPrefix ? $0.starts(with: wanted) : $0 == wanted }
      return isThere != term.isExcluded
    }
  }

  /// The words of a text, folded.
  static func words(of text: String) -> [String] {
    text.unicodeScalars.split { scalar in
      switch scalar.properties.generalCategory {
      case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
        .decimalNumber, .letterNumber, .otherNumber, .nonspacingMark, .spacingMark:
        false
      default: true
      }
    }.map { Text.folded(String(String.UnicodeScalarView($0))) }
  }
}
