// RemarkReportTests.swift: warnings and notes of a judgement without a checker, in every report,
// with the names of files that a program chose.

import Foundation
import FoundationXML
import Testing

@testable import Findings
@testable import Reports

@Suite("Remarks in reports")
struct RemarkReportTests {
  private static let hostile = "'a<b>\"&[x](http://e)\u{1B}[31m\u{202E}]]>\n::error::' is old"

  private func report(_ remarks: [JudgingRemark]) -> RunReport {
    var report = HTMLFixture.report([])
    report.cases[0].explorations[0].remarks = remarks
    return report
  }

  private var both: RunReport {
    report([
      JudgingRemark(level: "warning", text: Self.hostile, stateCount: 2, token: "fl1-w"),
      JudgingRemark(level: "note", text: "'c' is new", stateCount: 1, token: "fl1-n"),
    ])
  }

  @Test("SARIF has a result for each, of its level, and a name makes no link")
  func sarif() throws {
    let text = try SARIF(both, arguments: []).json()
    let log = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    let run = try #require((log?["runs"] as? [[String: Any]])?.first)
    let results = try #require(run["results"] as? [[String: Any]])
    #expect(results.compactMap { $0["level"] as? String } == ["warning", "note"])
    #expect(results.allSatisfy { $0["ruleId"] as? String == "remark" })
    let message = (results[0]["message"] as? [String: String])?["text"]
    #expect(message?.contains("](") == false)
    let properties = results[0]["properties"] as? [String: String]
    #expect(properties?["replay"] == "faultline replay fl1-w")
    let driver = (run["tool"] as? [String: Any])?["driver"] as? [String: Any]
    let rule = (driver?["rules"] as? [[String: Any]])?.last
    #expect(rule?["defaultConfiguration"] as? [String: String] == ["level": "note"])
  }

  @Test("JUnit has each as one line of the test case's output, and no failure")
  func junit() throws {
    let text = JUnit.xml(both)
    let document = try XMLDocument(data: Data(text.utf8))
    let output = try #require(try document.nodes(forXPath: "//system-out").first?.stringValue)
    let lines = output.split(separator: "\n").filter { $0.contains(" state") }
    #expect(lines.count == 2 && lines[1] == "strict: note: 'c' is new (1 state)", "\(output)")
    #expect(!output.contains("\n::error"))
    #expect(try document.nodes(forXPath: "//failure").isEmpty)
  }

  @Test("the page lists them, warnings with their token, and stays well-formed")
  func page() throws {
    let text = HTMLReport(both, arguments: []).text
    let document = try XMLDocument(data: Data(text.utf8))
    let path = "//*[local-name()='details' and @class='remarks']//*[local-name()='li']"
    let items = try document.nodes(forXPath: path).compactMap(\.stringValue)
    #expect(items.count == 2)
    #expect(items[0].contains("faultline replay fl1-w") && items[0].contains("a<b>"))
    #expect(!items[1].contains("fl1-n") && !text.contains("\u{202E}"))
  }

  @Test("remarks of shards are joined by their words")
  func joined() {
    let one = JudgingRemark(level: "note", text: "a ends after 3", stateCount: 1, token: "x")
    let two = JudgingRemark(level: "note", text: "a ends after 7", stateCount: 4, token: "y")
    let other = JudgingRemark(level: "warning", text: "b", stateCount: 1, token: "z")
    let joined = JudgingRemark.joined([[one], nil, [two, other]])
    #expect(joined?.map(\.level) == ["warning", "note"])
    #expect(joined?.map(\.stateCount) == [1, 5] && joined?.last?.token == "x")
    #expect(JudgingRemark.joined([nil, nil]) == nil)
  }
}
