// TextSearch.swift: which strings of a leaf contain a text, begin or end with it, or are equal
// to it, without the differences of case or marks if so wanted. An ASCII string is compared as it
// lies in the leaf; only another one is folded as a String, by the same rules as everywhere.

/// A text to be found in strings.
package struct TextSearch: Sendable {
  /// Where in a string the text has to be.
  package enum Place: Sendable {
    case start
    case end
    case anywhere
    /// All of the string.
    case whole
  }

  /// The text, folded as the strings are.
  private let wanted: [UInt8]
  private let place: Place
  private let ignoresCase: Bool
  private let ignoresMarks: Bool

  /// A search.
  /// - Parameters:
  ///   - text: The text to find.
  ///   - place: Where it has to be.
  ///   - ignoresCase: Whether upper and lower case are the same (`FoldedText`).
  ///   - ignoresMarks: Whether letters with marks are the letters without.
  package init(_ text: String, at place: Place, ignoresCase: Bool, ignoresMarks: Bool) {
    self.place = place
    self.ignoresCase = ignoresCase
    self.ignoresMarks = ignoresMarks
    wanted = Array(
      Self.folded(text, ignoresCase: ignoresCase, ignoresMarks: ignoresMarks).utf8)
  }

  private static func folded(_ text: String, ignoresCase: Bool, ignoresMarks: Bool) -> String {
    let text = ignoresMarks ? FoldedText.withoutMarks(text) : text
    return ignoresCase ? FoldedText.withoutCase(text) : text
  }

  /// Whether a string matches.
  /// - Complexity: O(bytes × bytes of the text), without allocation for ASCII and exact searches.
  func matches(_ text: RawBytes) -> Bool {
    if !ignoresCase, !ignoresMarks { return isFound(in: text) { $0 } }
    guard text.isASCII else { return matchesFolded(text) }
    // No ASCII letter has a mark.
    return ignoresCase
      ? isFound(in: text) { $0 &- UInt8(ascii: "A") < 26 ? $0 | 0x20 : $0 }
      : isFound(in: text) { $0 }
  }

  @inline(never)
  private func matchesFolded(_ text: RawBytes) -> Bool {
    let folded = Array(
      Self.folded(
        String(decoding: text.array, as: UTF8.self), ignoresCase: ignoresCase,
        ignoresMarks: ignoresMarks
      ).utf8)
    return RawBytes.over(folded) { bytes in isFound(in: bytes) { $0 } }
  }

  @inline(__always)
  private func isFound(in text: RawBytes, _ fold: (UInt8) -> UInt8) -> Bool {
    let last = text.count - wanted.count
    guard last >= 0 else { return false }
    switch place {
    case .start: return isFound(in: text, at: 0, fold)
    case .end: return isFound(in: text, at: last, fold)
    case .whole: return last == 0 && isFound(in: text, at: 0, fold)
    case .anywhere:
      guard let first = wanted.first else { return true }
      for start in 0...last
      where fold(text.uint8(start)) == first && isFound(in: text, at: start, fold) {
        return true
      }
      return false
    }
  }

  @inline(__always)
  private func isFound(in text: RawBytes, at start: Int, _ fold: (UInt8) -> UInt8) -> Bool {
    for index in wanted.indices where fold(text.uint8(start + index)) != wanted[index] {
      return false
    }
    return true
  }
}

extension StringsView {
  /// Calls `body` with the row of each string that a search matches, in order.
  /// - Complexity: O(bytes × bytes of the text).
  func forEachMatch(
    _ search: TextSearch, _ reader: NodeReader, newest: Version, _ body: (Int) -> Void
  ) throws(EngineError) {
    for row in 0..<ends.count {
      let (entry, isExternal) = try entry(row)
      let text = isExternal ? try reader.stringBytes(self, row, newest: newest) : entry
      if search.matches(text) { body(row) }
    }
  }
}
