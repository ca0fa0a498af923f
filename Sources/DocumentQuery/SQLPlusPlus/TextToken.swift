// TextToken.swift: the words of SQL++ with their places.

/// A word of a query.
struct TextToken {
  enum Kind: Equatable {
    /// A name or a word of the language.
    case word(String)
    /// A name between backticks: never a word of the language.
    case name(String)
    case text(String)
    case integer(Int64)
    case unsigned(UInt64)
    case real(Double)
    case parameter(String)
    case symbol(String)
    case end
  }

  let kind: Kind
  let place: QueryPlace

  /// The token as an error shows it.
  var shownText: String {
    switch kind {
    case .word(let text), .name(let text), .text(let text), .symbol(let text): shown(text)
    case .integer(let number): "\(number)"
    case .unsigned(let number): "\(number)"
    case .real(let number): "\(number)"
    case .parameter(let name): shown("$" + name)
    case .end: "the end"
    }
  }
}
