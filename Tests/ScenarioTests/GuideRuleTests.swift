// GuideRuleTests.swift: the fault rules that how-to pages show are rules.

import FaultFS
import Foundation
import Scenarios
import Testing

@Suite("fault rules of how-to pages")
struct GuideRuleTests {
  private static let page = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "docs/how-to/inject-faults-into-a-server.md")

  @Test("are read without an error and without a warning")
  func rules() throws {
    let text = try String(contentsOf: Self.page, encoding: .utf8)
    // Lines of a table whose last cell is code.
    let rules = text.matches(of: /\| `(on: [^`]+)` \|/).map { String($0.1) }
    #expect(rules.count >= 8)
    for rule in rules {
      var warnings: [String] = []
      let parsed = try FaultFile.parse(
        commandLine: rule, file: "rule", allowsAnyErrno: false,
        warn: { warnings.append("\($0)") })
      #expect(parsed.count == 1 && warnings == [], "\(rule): \(warnings)")
    }
  }
}
