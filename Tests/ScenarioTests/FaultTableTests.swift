// FaultTableTests.swift: the keys of fault rules are described in one place, the tables of
// docs/reference/faults.md; editors show the same words, from scenarios/schema.json.

import Foundation
import Testing

@testable import Scenarios
@testable import Workload

/// The tables of docs/reference/faults.md, by the key of each row.
private struct FaultTable {
  private(set) var meanings: [String: String] = [:]

  init(_ page: String) {
    var isOfKeys = false
    for line in page.components(separatedBy: "\n") {
      if line.hasPrefix("| key |") { isOfKeys = true }
      if !line.hasPrefix("|") { isOfKeys = false }
      guard isOfKeys, let row = line.firstMatch(of: /^\| `(\w+)[^|]*\| ([^|]+) \|/) else {
        continue
      }
      meanings[String(row.1)] = String(row.2.replacing("`", with: ""))
    }
  }
}

@Suite("the table of fault rules")
struct FaultTableTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let schemaFile = root.appending(path: "scenarios/schema.json")

  private func schema() throws -> [String: Any] {
    let object = try JSONSerialization.jsonObject(with: Data(contentsOf: Self.schemaFile))
    return try #require((object as? [String: Any])?["$defs"] as? [String: Any])
  }

  private func table() throws -> FaultTable {
    let page = Self.root.appending(path: "docs/reference/faults.md")
    return FaultTable(try String(contentsOf: page, encoding: .utf8))
  }

  @Test("has every key of the language, and nothing else")
  func keys() throws {
    let keys = Set(GrammarObject.fault.keys)
    #expect(keys.count > 40)
    #expect(Set(try table().meanings.keys) == keys)
  }

  @Test("is what schema.json says; `make pages` copies it there")
  func descriptions() throws {
    let meanings = try table().meanings
    if ProcessInfo.processInfo.environment["FAULTLINE_RECORD"] != nil { try record(meanings) }
    let definitions = try schema()
    let fault = try #require(definitions["fault"] as? [String: Any])
    let properties = try #require(fault["properties"] as? [String: [String: Any]])
    for (key, meaning) in meanings.sorted(by: { $0.key < $1.key }) {
      let property = try #require(properties[key], "\(key)")
      #expect(property["description"] as? String == meaning, "\(key): run `make pages`")
    }
  }

  /// Writes the descriptions into the schema's text, one line each, and leaves all else.
  private func record(_ meanings: [String: String]) throws {
    var lines = try String(contentsOf: Self.schemaFile, encoding: .utf8)
      .components(separatedBy: "\n")
    let start = try #require(lines.firstIndex(of: "    \"fault\": {"))
    for (key, meaning) in meanings.sorted(by: { $0.key < $1.key }) {
      let end = try #require(lines[(start + 1)...].firstIndex { $0.hasPrefix("    }") })
      let first = try #require(lines[start..<end].firstIndex(of: "        \"\(key)\": {"), "\(key)")
      let last = try #require(lines[first..<end].firstIndex { $0.hasPrefix("        }") })
      let encoded = String(decoding: try JSONEncoder().encode(meaning), as: UTF8.self)
        .replacing("\\/", with: "/")
      let text = "          \"description\": \(encoded)"
      if let place = lines[first..<last].firstIndex(where: {
        $0.hasPrefix("          \"description\":")
      }) {
        lines[place] = text + (lines[place].hasSuffix(",") ? "," : "")
      } else {
        lines[first] += "\n" + text + ","
        lines = lines.joined(separator: "\n").components(separatedBy: "\n")
      }
    }
    try lines.joined(separator: "\n").write(to: Self.schemaFile, atomically: true, encoding: .utf8)
  }

  @Test("is read by its key, without marks")
  func reading() {
    let table = FaultTable(
      "| key | effect | kinds |\n|---|---|---|\n| `a: 1` | Does `b` | x |\n\n| `c` | no | x |")
    #expect(table.meanings == ["a": "Does b"])
  }
}
