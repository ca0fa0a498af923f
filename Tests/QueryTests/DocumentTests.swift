// DocumentTests.swift: the examples of docs/reference/query-language.md are queries, and bind where
// they say.

import Engine
import Foundation
import Testing

@testable import Query
@testable import QueryReference

@Suite("The document of the query language")
struct DocumentTests {
  private static func document() throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return try String(
      contentsOf: root.appendingPathComponent("docs/reference/query-language.md"), encoding: .utf8)
  }

  @Test("has examples that bind")
  func examples() throws {
    let text = try Self.document()
    let section = try #require(text.components(separatedBy: "## Examples").dropFirst().first)
    let block = try #require(section.components(separatedBy: "```\n").dropFirst().first)
    let lines = block.split(separator: "\n").map(String.init)
    #expect(lines.count > 15)
    for line in lines {
      let query = try ParsedQuery(parsing: line)
      #expect(try ParsedQuery(parsing: query.description) == query)
      // One argument that fits wherever the examples use $0 or $K0.
      let argument: Value =
        line.contains("==[c]") ? .string("a") : line.contains("$K") ? .string("name") : .int(1)
      #expect(throws: Never.self, "\(line)") {
        try query.bound(to: Kennel.schema, table: "Person", arguments: [argument])
      }
    }
  }

  @Test("names every keyword and every operation")
  func keywords() throws {
    let text = try Self.document().lowercased()
    for keyword in Keyword.allCases where ![.ascending, .descending].contains(keyword) {
      #expect(text.contains(keyword.rawValue), "\(keyword)")
    }
    for operation in PathOperation.allCases { #expect(text.contains("@\(operation.rawValue)")) }
  }
}
