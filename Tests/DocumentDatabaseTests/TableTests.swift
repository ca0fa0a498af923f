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

  /// A file of tests: each test's text, and what all of them share.
  private struct TestFile {
    var tests: [String: String] = [:]
    var shared = ""
    var isClient = true

    init(_ text: String) {
      isClient = !text.contains("@testable import")
      for (index, piece) in text.components(separatedBy: "\n  @Test(").enumerated() {
        guard index > 0, let end = piece.range(of: "\n  }\n") else {
          shared += piece
          continue
        }
        let name = piece.components(separatedBy: "\n  func ").dropFirst().first?.prefix {
          $0 != "("
        }
        tests[name.map(String.init) ?? ""] = String(piece[..<end.lowerBound])
        shared += piece[end.upperBound...]
      }
    }
  }

  /// The word that a program writes: `data` of `ResultSet.data(as:)`.
  private static func word(_ name: String) -> Substring {
    let word = name.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "@" }
    let rest = name.dropFirst(word.count)
    return rest.hasPrefix(".") ? Self.word(String(rest.dropFirst())) : word
  }

  /// What is wrong with a row; nil when nothing is.
  private static func fault(of row: Row, _ files: [String: TestFile]) -> String? {
    guard row.state == "same" else {
      return row.state == "differs" && row.note.isEmpty ? "says nothing of the difference" : nil
    }
    let words = quoted(row.note).first?.split(separator: ".").map(String.init) ?? []
    guard words.count == 2, let file = files[words[0]], let test = file.tests[words[1]] else {
      return "names no test"
    }
    guard file.isClient else { return "its test sees what programs do not" }
    for name in quoted(row.names).map(word) where !(test + file.shared).contains(name) {
      return "its test does not use \(name)"
    }
    return nil
  }

  @Test("is held by tests, each row by the one that it names")
  func rows() throws {
    let root = Self.folder.deletingLastPathComponent().deletingLastPathComponent()
    let page = root.appending(path: "docs/reference/documents-api.md")
    let rows = Self.rows(try String(contentsOf: page, encoding: .utf8))
    var files: [String: TestFile] = [:]
    let support = Self.folder.appending(path: "Support.swift")
    let helpers = try String(contentsOf: support, encoding: .utf8)
    for name in try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    where name.hasSuffix(".swift") && name != "TableTests.swift" {
      let text = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
      for part in text.components(separatedBy: "\nstruct ").dropFirst() {
        files[String(part.prefix { $0.isLetter })] = TestFile(text + helpers)
      }
    }
    #expect(rows.filter { $0.state == "same" }.count > 25)
    for row in rows {
      let fault = Self.fault(of: row, files)
      #expect(fault == nil, "\(row.names)")
    }
    let wrong = Row(names: "`foo()`", state: "same", note: "`DatabaseTests.life`")
    #expect(Self.fault(of: wrong, files) == "its test does not use foo")
    let elsewhere = Row(names: "`saveBlob()`", state: "same", note: "`DatabaseTests.life`")
    #expect(Self.fault(of: elsewhere, files) == "its test does not use saveBlob")
    #expect(Self.fault(of: Row(names: "", state: "same", note: "`A.b`"), files) != nil)
  }
}
