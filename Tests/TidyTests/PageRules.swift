// PageRules.swift: what the prose of pages is held to: no phrase that a reader has to decode, and
// in pages that one reads from top to bottom short sentences and paragraphs, and few semicolons.

/// Rules of prose.
enum PageRules {
  /// Words of a sentence, lines of a paragraph, semicolons in 1,000 words.
  static let sentenceWordsMax = 35
  static let paragraphLinesMax = 8
  static let semicolonsPerThousandMax = 8

  /// Phrases that native technical writers do not use, each with what they write instead.
  static let banned: [(phrase: String, instead: String)] = [
    ("befall", "happens to, affects"),
    ("is told", "is reported, returned or set"),
    ("are told", "are reported, returned or set"),
    ("was told", "was reported, returned or set"),
    ("were told", "were reported, returned or set"),
    ("be told", "be reported, returned or set"),
    ("as told", "as requested"),
    ("nobody may live", "no process may survive"),
    ("whoever", "the process that, the user who"),
    ("begins anew", "starts again"),
    ("begin anew", "start again"),
    ("begun anew", "started again"),
    ("made anew", "made again"),
    ("from which all choices follow", "the same seed reproduces the run"),
    ("for want of", "without"),
    ("one's own", "your own"),
    ("stands twice", "occurs twice"),
    ("brings it back", "reproduces it"),
  ]

  /// What is wrong with the words of a text, whatever it is.
  static func phrases(_ text: String, at path: String, line: Int) -> [Violation] {
    let lowered = text.lowercased().replacing("told apart", with: "distinguished")
    return banned.filter { lowered.contains($0.phrase) }.map {
      Violation(path: path, line: line, message: "\"\($0.phrase)\": write \($0.instead)")
    }
  }

  /// What is wrong with a page that is read from top to bottom.
  static func readability(_ page: Page) -> [Violation] {
    var found: [Violation] = []
    for paragraph in page.paragraphs {
      if paragraph.lines.count > paragraphLinesMax {
        found.append(
          Violation(
            path: page.path, line: paragraph.line,
            message: "\(paragraph.lines.count) lines in a paragraph; divide it"))
      }
      for sentence in paragraph.sentences where sentence.count > sentenceWordsMax {
        let start = sentence.prefix(6).joined(separator: " ")
        found.append(
          Violation(
            path: page.path, line: paragraph.line,
            message: "\(sentence.count) words in the sentence \"\(start) …\"; divide it"))
      }
    }
    // One is not a habit.
    if page.semicolonCount > 1,
      page.semicolonCount * 1000 > page.wordCount * semicolonsPerThousandMax
    {
      found.append(
        Violation(
          path: page.path, line: 1,
          message: "\(page.semicolonCount) semicolons in \(page.wordCount) words; write sentences"))
    }
    return found
  }
}
