// Page.swift: a page of the documentation as its prose: paragraphs and sentences, without code,
// tables, headings and comments. Rule of reading: a page that somebody reads to learn something
// has short sentences and short paragraphs (docs/README.md; CONTRIBUTING.md, Words).

import Foundation

/// A page of Markdown, split into what is read as running text.
struct Page {
  /// A paragraph, or one item of a list.
  struct Paragraph: Equatable {
    /// Counted from 1.
    var line: Int
    var lines: [String]

    /// Its sentences, in words; code counts as one word.
    var sentences: [[Substring]] {
      var sentences: [[Substring]] = [[]]
      for word in Page.plain(lines.joined(separator: " ")).split(separator: " ") {
        // What has no letter and no digit is a dash or a bar.
        guard word.contains(where: { $0.isLetter || $0.isNumber }) else { continue }
        sentences[sentences.count - 1].append(word)
        let last = word.last { !"\")*".contains($0) }
        if let last, ".?!:".contains(last) {
          sentences.append([])
        }
      }
      return sentences.filter { !$0.isEmpty }
    }
  }

  /// Path from the root of the repository.
  let path: String
  private(set) var paragraphs: [Paragraph] = []

  init(path: String, text: String) {
    self.path = path
    var current: Paragraph?
    var isCode = false
    func end(_ paragraphs: inout [Paragraph]) {
      if let current { paragraphs.append(current) }
      current = nil
    }
    for (number, line) in text.components(separatedBy: "\n").enumerated() {
      let bare = line.trimmingCharacters(in: .whitespaces)
      if bare.hasPrefix("```") {
        end(&paragraphs)
        isCode.toggle()
      } else if isCode || bare.isEmpty || bare.hasPrefix("|") || bare.hasPrefix("#")
        || bare.hasPrefix("<!--") || bare.hasPrefix("![")
      {
        end(&paragraphs)
      } else {
        if bare.hasPrefix("- ") || bare.hasPrefix("* ") || bare.prefixMatch(of: /\d+\.\s/) != nil {
          end(&paragraphs)
        }
        if current == nil { current = Paragraph(line: number + 1, lines: []) }
        current?.lines.append(bare)
      }
    }
    end(&paragraphs)
  }

  /// Words in running text.
  var wordCount: Int { paragraphs.reduce(0) { $0 + $1.sentences.reduce(0) { $0 + $1.count } } }

  /// Semicolons in running text.
  var semicolonCount: Int {
    paragraphs.reduce(0) { sum, paragraph in
      sum + Self.plain(paragraph.lines.joined(separator: " ")).count { $0 == ";" }
    }
  }

  /// Text without code, and links without what they lead to.
  static func plain(_ text: String) -> String {
    text.replacing(/`[^`]*`/, with: "code")
      .replacing(/\]\([^)]*\)/, with: "]")
      .replacing(/\b(?:e\.g|i\.e|etc|et al|vs)\./, with: "such")
  }
}
