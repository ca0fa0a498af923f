// Rule+Glossary.swift: words that the house has another word for, as far as an
// identifier shows it without doubt. Common words (page, lock, flush, error) are left to reviewers.

private let rejected: [(word: String, instead: String)] = [
  ("superblock", "file header"), ("metapage", "root slot"), ("rootpointer", "top ref"),
  ("freelistpage", "free list"), ("txid", "version"), ("readertable", "reader slot"),
  ("microop", "pending unit"), ("refcount", "pin"),
]
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
