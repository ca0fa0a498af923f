// SearchWords.swift: words of a text, and the words that a TEXT condition asks for.
// A word is a run of letters, digits and marks; words are compared with their case folded.

/// What a text has to have among its words.
struct SearchWords: Hashable, Sendable {
  /// One word that is asked for.
  struct Term: Hashable, Sendable {
    let word: String
    /// Whether words that go on count, too: `swi*`.
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

  /// Whether a text has every word that is asked for, and none that is excluded; a condition
  /// without words is met by no text.
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
