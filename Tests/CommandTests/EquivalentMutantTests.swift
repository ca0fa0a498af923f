// EquivalentMutantTests.swift: what Tests/Mutants/equivalents.txt excuses is still in the sources,
// and has a reason. Whether it can be found by a test, only make mutation shows.

import Foundation
import Testing

@Suite struct EquivalentMutantTests {
  private static let repository = FaultlineCommand.repository

  private struct Entry {
    let key: String
    var reason = ""
  }

  private static func entries() throws -> [Entry] {
    let path = "\(repository)/Tests/Mutants/equivalents.txt"
    var entries: [Entry] = []
    for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    where !line.hasPrefix("#") {
      if line.hasPrefix("  ") {
        entries[entries.count - 1].reason += line.dropFirst(2)
      } else {
        entries.append(Entry(key: String(line)))
      }
    }
    return entries
  }

  @Test("each equivalent mutant names text that stands in its file, once, and has a reason")
  func entriesApply() throws {
    let entries = try Self.entries()
    #expect(!entries.isEmpty)
    #expect(Set(entries.map(\.key)).count == entries.count)
    for entry in entries {
      let parts = entry.key.components(separatedBy: " | ")
      guard parts.count == 5 else {
        Issue.record("not file | function | kind | before | after: \(entry.key)")
        continue
      }
      let text = try String(contentsOfFile: "\(Self.repository)/\(parts[0])", encoding: .utf8)
      let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      // Two statements stand with a semicolon between them in the list only.
      for piece in parts[2] == "statements swapped" ? [] : [parts[3]] {
        #expect(words.contains(piece), "\(entry.key): no such text any more")
      }
      #expect(parts[1].isEmpty || words.contains(parts[1]), "\(entry.key): no such function")
      #expect(entry.reason.count > 20, "\(entry.key): no reason")
    }
  }
}
