// TableTests.swift: the table of docs/reference/documents-api.md: each row that says "same" names a
// test that exists, and the tests use the names of the row.

import Foundation
import Testing

@Suite("the table of the API")
struct TableTests {
  private struct Row {
    let names: String
    let state: String
    let note: String
  }

  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

  private static func rows(_ text: String) -> [Row] {
    text.components(separatedBy: "\n").filter { $0.hasPrefix("| ") }.compactMap { line in
      let cells = line.dropFirst(2).components(separatedBy: "|").map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      guard cells.count >= 3, ["same", "differs", "absent"].contains(cells[1]) else { return nil }
      return Row(names: cells[0], state: cells[1], note: cells[2])
    }
  }

  /// What stands between backticks.
  private static func quoted(_ text: String) -> [String] {
    text.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
  }

  /// What is wrong with a row; nil when nothing is.
  private static func fault(of row: Row, _ tests: String) -> String? {
    guard row.state == "same" else {
      return row.state == "differs" && row.note.isEmpty ? "says nothing of the difference" : nil
    }
    let words = quoted(row.note).first?.split(separator: ".") ?? []
    guard words.count == 2, tests.contains("struct \(words[0]) {"),
      tests.contains("func \(words[1])(")
    else { return "names no test" }
    for name in quoted(row.names) {
      let word = name.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "@" }
      if !tests.contains(word) { return "no test uses \(word)" }
    }
    return nil
  }

  @Test("is held by tests")
  func rows() throws {
    let root = Self.folder.deletingLastPathComponent().deletingLastPathComponent()
    let page = root.appending(path: "docs/reference/documents-api.md")
    let rows = Self.rows(try String(contentsOf: page, encoding: .utf8))
    let tests = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
      .filter { $0.hasSuffix(".swift") && $0 != "TableTests.swift" }
      .map { try String(contentsOf: Self.folder.appending(path: $0), encoding: .utf8) }
      .joined(separator: "\n")
    #expect(rows.filter { $0.state == "same" }.count > 25)
    for row in rows {
      let fault = Self.fault(of: row, tests)
      #expect(fault == nil, "\(row.names)")
    }
    let wrong = Row(names: "`foo()`", state: "same", note: "`DatabaseTests.life`")
    #expect(Self.fault(of: wrong, tests) == "no test uses foo")
    #expect(Self.fault(of: Row(names: "", state: "same", note: "`A.b`"), tests) != nil)
  }
}
