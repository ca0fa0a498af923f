// SourceFile.swift: a Swift file as the rules see it: raw lines, and code and comments apart.
// Invariant: `lines`, `code` and `comments` have one entry per line of the file, so that a line
// number found in one is the line number in all.

/// A Swift file split by lines.
struct SourceFile: Sendable {
  /// Path from the root of the repository, with `/`.
  let path: String
  /// The lines as they stand.
  let lines: [String]
  /// The lines with comments and the text of string literals turned into blanks.
  let code: [String]
  /// Only the text of comments.
  let comments: [String]

  init(path: String, text: String) {
    self.path = path
    var reader = SourceReader(text)
    reader.read()
    lines = SourceFile.splitting(Array(text.utf8))
    code = SourceFile.splitting(reader.code)
    comments = SourceFile.splitting(reader.comments)
  }

  /// The last part of the path.
  var name: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// True for a file in one of the folders, or for the file itself.
  func isIn(_ folders: [String]) -> Bool {
    folders.contains { path == $0 || path.hasPrefix($0 + "/") }
  }

  /// A target's first file before its real ones land: one line, nothing to judge.
  var isPlaceholder: Bool { lines.count <= 1 }

  private static func splitting(_ bytes: [UInt8]) -> [String] {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines.map { String(decoding: $0, as: UTF8.self) }
  }
}

/// True when the byte may stand in an identifier.
func isIdentifierByte(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
    true
  default: false
  }
}

/// Byte positions at which a word stands in a line.
///
/// Where the word begins or ends with an identifier character, none may touch it there.
func positions(of word: String, in line: String) -> [Int] {
  let line = Array(line.utf8)
  let word = Array(word.utf8)
  guard let first = word.first, let last = word.last, line.count >= word.count else { return [] }
  return (0...(line.count - word.count)).filter { start in
    let end = start + word.count
    guard line[start] == first, line[start..<end].elementsEqual(word) else { return false }
    if isIdentifierByte(first), start > 0, isIdentifierByte(line[start - 1]) { return false }
    if isIdentifierByte(last), end < line.count, isIdentifierByte(line[end]) { return false }
    return true
  }
}
