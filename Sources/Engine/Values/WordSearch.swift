// WordSearch.swift: which words a text must and must not contain. A text is searched by images, and
// by the words themselves only where an image is that of several words.

/// The words that a text must and must not contain.
///
/// Terms stand apart by white space. `swift` must occur, `swi*` stands for every word that begins
/// so, `-swift` must not occur. A term of several words, as `full-text`, stands for each of them,
/// and its star belongs to the last one. Upper and lower case are the same, and so are letters with
/// and without marks.
public struct WordSearch: Hashable, Sendable {
  /// One required or excluded word.
  struct Term: Hashable, Sendable {
    let word: String
    /// Whether longer words match, too: `swi*`.
    let isPrefix: Bool
    /// Whether the text must not have it: `-swift`.
    let isExcluded: Bool
    /// The images of the words that match.
    let images: ClosedRange<UInt64>
    /// Whether every word with these images matches.
    let isExact: Bool

    init(word: String, isPrefix: Bool, isExcluded: Bool) {
      let image = WordImage(word)
      self.word = word
      self.isPrefix = isPrefix
      self.isExcluded = isExcluded
      images = isPrefix ? image.range : image.value...image.value
      isExact = !image.isCut
    }

    func matches(_ other: String) -> Bool {
      // Scalars are compared, as everywhere; strings are equal by their canonical form.
      isPrefix ? other.utf8.starts(with: word.utf8) : other.utf8.elementsEqual(word.utf8)
    }
  }

  let terms: [Term]

  /// Reads the terms.
  public init(_ text: String) {
    var terms: [Term] = []
    for part in text.unicodeScalars.split(whereSeparator: { $0.properties.isWhitespace }) {
      let words = Words.of(String(String.UnicodeScalarView(part)))
      for (index, word) in words.enumerated() {
        terms.append(
          Term(
            word: word, isPrefix: part.last == "*" && index == words.count - 1,
            isExcluded: part.first == "-"))
      }
    }
    self.terms = terms
  }

  /// Whether a full-text index can find the texts: a word is required.
  package var isIndexable: Bool { terms.contains { !$0.isExcluded } }

  /// Whether a text has every required word, and no excluded one; a search without words matches no
  /// text.
  public func matches(_ text: String) -> Bool {
    guard !terms.isEmpty else { return false }
    let images = Words.images(in: text)
    lazy var words = Words.of(text)
    for term in terms {
      var isThere = Self.hasAny(of: term.images, images)
      if isThere, !term.isExact { isThere = words.contains { term.matches($0) } }
      if isThere == term.isExcluded { return false }
    }
    return true
  }

  private static func hasAny(of range: ClosedRange<UInt64>, _ images: [UInt64]) -> Bool {
    var (low, high) = (0, images.count)
    while low < high {
      let middle = (low + high) / 2
      if images[middle] < range.lowerBound { low = middle + 1 } else { high = middle }
    }
    return low < images.count && images[low] <= range.upperBound
  }
}
