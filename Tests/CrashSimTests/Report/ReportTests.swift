// ReportTests.swift: the reports say what was found, and are well-formed whatever the checker
// printed.

import Foundation
import Testing

@testable import CrashStates
@testable import Findings
@testable import Reports

@Suite struct ReportTests {
  private func report(headline: String) -> RunReport {
    let finding = Finding(
      number: 1, promised: "p", headline: headline, got: [headline], ending: "exit status 1",
      crash: "after #3", acknowledgedCount: 2, lastAcknowledged: "2", lost: ["#1 write"],
      missingSync: ["fsync of a"], models: ["strict"], stateCount: 4, token: "fl1-x")
    var item = CaseReport(name: "explore", title: "<work> & \"play\"", outcome: .broken)
    item.explorations = [
      ExplorationReport(
        title: "t", model: "strict", seed: 1, operationCount: 3, markCount: 2,
        crashPointCount: 4, candidateCount: 9, distinctCount: 5, exploredCount: 5, bound: "9",
        seconds: 0.5, findings: [finding])
    ]
    return RunReport(seed: 1, cases: [item])
  }

  @Test("hostile checker output leaves the JUnit report well-formed")
  func junit() throws {
    let text = JUnit.xml(report(headline: "a < b & \"c\" \u{0} \u{1B}[31m ]]> ü"))
    let parser = XMLCounter(text)
    #expect(parser.isWellFormed)
    #expect(parser.elements["testcase"] == 1)
    #expect(parser.elements["failure"] == 1)
    // The parser forgives an ampersand that stands alone; others do not.
    #expect(text.contains("a &lt; b &amp; &quot;c&quot; "))
  }

  @Test("the JSON report decodes to the same findings")
  func json() throws {
    let original = report(headline: "lost: a row")
    let text = try original.json()
    let decoded = try JSONDecoder().decode(RunReport.self, from: Data(text.utf8))
    #expect(decoded.cases[0].findings == original.cases[0].findings)
    #expect(decoded.outcome == .broken)
  }

  @Test("the JSON and JUnit reports say what a verdict rests on")
  func coverage() throws {
    func exploration(_ report: RunReport) throws -> [String: Any] {
      let whole = try JSONSerialization.jsonObject(with: Data(try report.json().utf8))
      let cases = try #require((whole as? [String: Any])?["cases"] as? [[String: Any]])
      return try #require((cases[0]["explorations"] as? [[String: Any]])?[0])
    }
    var thin = HTMLFixture.thin()
    let written = try exploration(thin)
    var basis = try #require(written["basis"] as? [String: Any])
    let caution = try #require(thin.cases[0].explorations[0].caution)
    #expect(basis.removeValue(forKey: "caution") as? String == caution)
    let counts = ["crashPointCount": 6, "seenCount": 2, "markCount": 3, "seenMarkCount": 1]
    #expect(basis as? [String: Int] == counts)
    #expect(JUnit.xml(thin).contains("<system-out>strict: \(caution)</system-out>"))
    // Of a shard it is not known what the others look at.
    thin.shard = ShardLabel(Shard(index: 0, of: 2))
    let basisOfShard = try #require(try exploration(thin)["basis"] as? [String: Any])
    #expect(basisOfShard["caution"] == nil && basisOfShard.count == 4)
    #expect(!JUnit.xml(thin).contains("system-out"))
    let whole = try exploration(report(headline: "lost"))
    #expect(whole["basis"] == nil)
  }

  @Test("a finding's lines end with the command that replays it")
  func lines() {
    let finding = report(headline: "lost").cases[0].findings[0]
    #expect(Console.lines(of: finding).last?.hasSuffix("faultline replay fl1-x") == true)
  }
}

/// Counts elements by a tiny scan: every tag closed, no raw markup in text.
private struct XMLCounter {
  var elements: [String: Int] = [:]
  var isWellFormed = true

  init(_ text: String) {
    var open: [String] = []
    for part in text.split(separator: "<", omittingEmptySubsequences: true) {
      guard let end = part.firstIndex(of: ">") else {
        isWellFormed = false
        return
      }
      let tag = part[..<end]
      let name = String(tag.prefix { !$0.isWhitespace && $0 != "/" })
      if tag.hasPrefix("?") { continue }
      if tag.hasPrefix("/") {
        isWellFormed = isWellFormed && open.popLast() == String(tag.dropFirst())
      } else {
        elements[name, default: 0] += 1
        if !tag.hasSuffix("/") { open.append(name) }
      }
    }
    isWellFormed = isWellFormed && open.isEmpty
    isWellFormed = isWellFormed && !text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" }
  }
}
