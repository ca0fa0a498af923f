// Rule+EngineFolders.swift: the folders of the engine in one order, as
// docs/explanation/architecture.md has it. Inside of a module the compiler lets every file name
// every type, so this rule is what keeps the folders apart: a file names no type that is declared
// in a folder above its own.

/// The engine's folders and the types that each declares.
private enum EngineFolders {
  static let root = "Sources/Engine/"

  /// The lowest first.
  static let order = [
    "Bytes", "Errors", "Hooks", "Storage", "Encryption", "Format", "Values", "Nodes", "Space",
    "Tree", "Tables", "Coordination", "Transactions", "Reading", "Diff", "Inspection",
  ]

  /// Where a file stands; nil for one that is in no folder of the order.
  static func rank(of file: SourceFile) -> Int? {
    guard let folder = file.path.dropFirst(root.count).split(separator: "/").first else {
      return nil
    }
    return order.firstIndex { $0 == folder }
  }

  /// Where the types that other files can name are declared: at the left margin, and not private.
  static let ranks: [String: Int] = {
    var ranks: [String: Int] = [:]
    guard let files = try? SourceTree.swiftFiles() else { return ranks }
    for file in files where file.path.hasPrefix(root) {
      guard let rank = rank(of: file) else { continue }
      for line in file.code
      where line.utf8.first.map(isIdentifierByte) ?? false || line.hasPrefix("@") {
        let words = words(of: line)
        guard let keyword = words.firstIndex(where: { declaring.contains($0.text) }),
          keyword + 1 < words.count,
          !words[..<keyword].contains(where: { ["private", "fileprivate"].contains($0.text) })
        else { continue }
        ranks[words[keyword + 1].text] = rank
      }
    }
    return ranks
  }()

  static let declaring: Set<String> = [
    "struct", "class", "enum", "protocol", "actor", "typealias", "associatedtype",
  ]

  /// A word of a line, with what stands beside it.
  struct Word {
    let text: String
    let before: UInt8?
    let after: UInt8?
  }

  /// The identifiers and keywords of a line of code.
  static func words(of line: String) -> [Word] {
    let bytes = Array(line.utf8)
    var words: [Word] = []
    var end = 0
    while let start = bytes[end...].firstIndex(where: isIdentifierByte) {
      end = bytes[start...].firstIndex { !isIdentifierByte($0) } ?? bytes.count
      words.append(
        Word(
          text: String(decoding: bytes[start..<end], as: UTF8.self),
          before: start > 0 ? bytes[start - 1] : nil, after: end < bytes.count ? bytes[end] : nil))
    }
    return words
  }

  /// The names that a file gives to types and parameters of its own.
  static func ownNames(_ lines: [[Word]]) -> Set<String> {
    var names: Set<String> = []
    for words in lines {
      for (index, word) in words.enumerated() {
        if declaring.contains(word.text), index + 1 < words.count {
          names.insert(words[index + 1].text)
        }
        if word.before == UInt8(ascii: "<"), word.after == UInt8(ascii: ":") {
          names.insert(word.text)
        }
      }
    }
    return names
  }

  static func check(_ file: SourceFile) -> [Violation] {
    guard file.path.hasPrefix(root) else { return [] }
    guard let own = rank(of: file) else {
      return [
        Violation(
          path: file.path, line: 1,
          message: "stands in no folder of the engine's order: \(order.joined(separator: ", "))")
      ]
    }
    let lines = file.code.map(words)
    let names = ownNames(lines)
    var violations: [Violation] = []
    for (line, words) in lines.enumerated() {
      for word in words where word.before != UInt8(ascii: ".") && !names.contains(word.text) {
        guard let rank = ranks[word.text], rank > own else { continue }
        violations.append(
          Violation(
            path: file.path, line: line + 1,
            message: "\(order[own]) names \(word.text), which is declared above it, in "
              + "\(order[rank])"))
      }
    }
    return violations
  }
}

extension Rule {
  static let engineFolders = Rule("Folders of the engine name no type of a folder above them") {
    [
      Planted("let writer: CommitWriter?\n", at: "Sources/Engine/Tree/Planted.swift"),
      Planted("extension Snapshot {}\n", at: "Sources/Engine/Tables/Planted.swift"),
      Planted("let all: [Value] = []\n", at: "Sources/Engine/Storage/Planted.swift"),
      Planted("func f() throws(EngineError) {}\n", at: "Sources/Engine/Bytes/Planted.swift"),
      Planted(
        "let text = \"\\(FileInspection.self)\"\n", at: "Sources/Engine/Transactions/P.swift"),
      Planted("let number = 1\n", at: "Sources/Engine/Planted.swift"),
      Planted("let number = 1\n", at: "Sources/Engine/Elsewhere/Planted.swift"),
    ]
  } innocent: {
    [
      Planted("// As CommitWriter does.\n", at: "Sources/Engine/Tree/Planted.swift"),
      Planted("let name = \"CommitWriter\"\n", at: "Sources/Engine/Tree/Planted.swift"),
      Planted("let value: Ref? = nil\n", at: "Sources/Engine/Inspection/Planted.swift"),
      Planted("let tree: MutableTree\n", at: "Sources/Engine/Tree/Planted.swift"),
      Planted("let kind = Kind.Value\n", at: "Sources/Engine/Bytes/Planted.swift"),
      Planted("struct Box<Value: Sendable> {\n}\n", at: "Sources/Engine/Bytes/Planted.swift"),
      Planted(
        "struct A {\n  enum Value { case a }\n  let v: Value\n}\n",
        at: "Sources/Engine/Bytes/Planted.swift"),
      Planted("let writer: CommitWriter?\n", at: "Sources/Query/Planted.swift"),
    ]
  } check: {
    EngineFolders.check($0)
  }
}
