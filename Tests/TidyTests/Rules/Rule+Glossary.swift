// Rule+Glossary.swift: words that the house has another word for, as far as an identifier shows it
// without doubt: those in code type in the last column of docs/glossary.md. Common words (page,
// lock, flush, error) are left to reviewers.

import Foundation

/// The rejected words with the terms to use, as docs/glossary.md has them.
private let rejected: [(word: String, instead: String)] = {
  let url = SourceTree.root.appending(path: "docs/glossary.md")
  guard let text = try? String(contentsOf: url, encoding: .utf8) else {
    preconditionFailure("docs/glossary.md cannot be read")
  }
  return text.split(separator: "\n").flatMap { line -> [(word: String, instead: String)] in
    let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    guard line.hasPrefix("| "), cells.count == 3 else { return [] }
    return cells[2].matches(of: /`(\w+)`/).map { (word: String($0.1), instead: cells[0]) }
  }
}()
private let rejectedEndings = ["Manager", "Helper", "Helpers", "Utils", "Util"]

extension Rule {
  static let glossary = Rule("glossary") {
    rejected.map { Planted("let old\($0.word.capitalized) = 1\n") }
      + rejectedEndings.map { Planted("struct File\($0) {}\n") }
  } innocent: {
    [Planted("// Like the superblock of ext4.\nlet rootSlot = FileManager.default\n")]
  } check: { file in
    guard file.isIn(["Sources"]) else { return [] }
    return file.code.enumerated().flatMap { index, line in
      messages(line).map { Violation(path: file.path, line: index + 1, message: $0) }
    }
  }

  private static func messages(_ line: String) -> [String] {
    let words = line.utf8.split(whereSeparator: { !isIdentifierByte($0) }).map {
      String(Substring($0))
    }
    let unwanted = words.flatMap { identifier in
      rejected.filter { identifier.lowercased().contains($0.word) }.map {
        "`\(identifier)`: our word is \($0.instead)"
      }
    }
    let declared = zip(words, words.dropFirst()).filter { keyword, name in
      ["struct", "class", "enum", "actor", "protocol"].contains(keyword)
        && rejectedEndings.contains { name.hasSuffix($0) }
    }
    return unwanted + declared.map { "`\($0.1)`: name what it is, not that it helps" }
  }
}
