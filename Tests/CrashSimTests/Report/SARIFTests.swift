// SARIFTests.swift: the structure that code scanning reads, and fingerprints that stay.

import Foundation
import Testing

@testable import CrashStates
@testable import Findings
@testable import LabCore
@testable import Reports

@Suite struct SARIFTests {
  typealias Object = [String: Any]

  private func report(_ headline: String, key: String? = nil, line: Int? = 9) -> RunReport {
    var finding = HTMLFixture.finding(headline: headline)
    finding.classKey = key
    var report = HTMLFixture.report([finding], name: "scenarios/a b/ü%.yaml")
    report.cases[0].line = 2
    report.cases[0].explorations[0].line = line
    return report
  }

  /// The one run of a log.
  private func run(_ report: RunReport) throws -> Object {
    let text = try SARIF(report, arguments: ["run", "x"]).json()
    let log = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? Object)
    #expect(log["version"] as? String == "2.1.0")
    #expect((log["$schema"] as? String)?.hasSuffix("sarif-schema-2.1.0.json") == true)
    let runs = try #require(log["runs"] as? [Object])
    #expect(runs.count == 1)
    return runs[0]
  }

  private func results(_ report: RunReport) throws -> [Object] {
    try #require(try run(report)["results"] as? [Object])
  }

  private func fingerprint(_ report: RunReport) throws -> String {
    let prints = try #require(try results(report)[0]["partialFingerprints"] as? [String: String])
    return try #require(prints["faultlineFinding/v1"])
  }

  @Test("a finding is a result with its rule, its line and its replay command")
  func finding() throws {
    let run = try run(report("durability: version 17 was acked"))
    let tool = try #require(run["tool"] as? Object)
    let driver = try #require(tool["driver"] as? Object)
    #expect(driver["name"] as? String == "faultline")
    #expect(driver["semanticVersion"] as? String == LabVersion.text)
    let rules = try #require(driver["rules"] as? [Object])
    let ids = rules.compactMap { $0["id"] as? String }
    #expect(Set(ids).count == rules.count && ids.count == OracleName.allCases.count + 4)
    #expect(OracleName.allCases.allSatisfy { ids.contains($0.rawValue) })
    for rule in rules {
      #expect((rule["shortDescription"] as? Object)?["text"] is String)
      #expect((rule["help"] as? Object)?["text"] is String)
    }
    let results = try #require(run["results"] as? [Object])
    let result = try #require(results.first)
    #expect(results.count == 1 && result["level"] as? String == "error")
    #expect(result["ruleId"] as? String == "durability")
    #expect(ids[try #require(result["ruleIndex"] as? Int)] == "durability")
    let message = try #require((result["message"] as? Object)?["text"] as? String)
    #expect(message.hasPrefix("durability: version 17"))
    #expect(message.contains("faultline replay fl1-x"), "\(message)")
    let location = try #require((result["locations"] as? [Object])?.first)
    let physical = try #require(location["physicalLocation"] as? Object)
    #expect(
      physical["artifactLocation"] as? [String: String]
        == ["uri": "scenarios/a%20b/%C3%BC%25.yaml", "uriBaseId": "%SRCROOT%"])
    #expect(physical["region"] as? [String: Int] == ["startLine": 9])
    let invocation = try #require((run["invocations"] as? [Object])?.first)
    #expect(invocation["exitCode"] as? Int == 1)
    #expect(invocation["executionSuccessful"] as? Bool == true)
    #expect(invocation["commandLine"] as? String == "faultline run x")
  }

  @Test("a program's finding has its checker as rule and no file")
  func program() throws {
    let result = try results(HTMLFixture.report([HTMLFixture.finding()]))[0]
    #expect(result["ruleId"] as? String == "checker")
    let location = try #require((result["locations"] as? [Object])?.first)
    #expect(location["physicalLocation"] == nil)
    let logical = try #require(location["logicalLocations"] as? [[String: String]])
    #expect(logical == [["name": "explore", "fullyQualifiedName": "a program"]])
  }

  @Test("fingerprints stay over numbers and lines, and tell findings apart")
  func fingerprints() throws {
    let first = try fingerprint(report("durability: version 17 was acked"))
    #expect(try first == fingerprint(report("durability: version 4 was acked", line: 30)))
    #expect(try first != fingerprint(report("durability: a row was acked")))
    #expect(try first != fingerprint(report("atomicity: version 17 was acked")))
    let keyed = try fingerprint(report("structure: a", key: "k"))
    #expect(try keyed == fingerprint(report("structure: b", key: "k")))
    #expect(try keyed != fingerprint(report("structure: b", key: "other")))
    var elsewhere = report("durability: version 17 was acked")
    elsewhere.cases[0].name = "scenarios/other.yaml"
    #expect(try first != fingerprint(elsewhere))
  }

  @Test("planted bugs: found ones are no results, one that was not found is")
  func planted() throws {
    var report = report("durability: x")
    report.cases[0].isNegative = true
    report.cases[0].outcome = .held
    #expect(try results(report).isEmpty)
    report.cases[0].outcome = .broken
    report.cases[0].complaints = ["the planted bug was not found: \u{1B}[31m\u{0}"]
    let result = try #require(try results(report).first)
    #expect(result["ruleId"] as? String == "plantedBug")
    let location = try #require((result["locations"] as? [Object])?.first)
    let region = (location["physicalLocation"] as? Object)?["region"] as? [String: Int]
    #expect(region == ["startLine": 2])
  }

  @Test("what the lab could not do is a notification and no result")
  func notifications() throws {
    var report = HTMLFixture.report([], name: "s.yaml")
    report.cases[0].outcome = .labFailed
    report.cases[0].complaints = ["the lab failed: no mount"]
    report.cases[0].skipped = ["killSweep needs a FUSE mount"]
    report.shard = ShardLabel(Shard(index: 1, of: 4))
    let run = try run(report)
    #expect((run["results"] as? [Object])?.isEmpty == true)
    let invocation = try #require((run["invocations"] as? [Object])?.first)
    #expect(invocation["executionSuccessful"] as? Bool == false)
    #expect(invocation["exitCode"] as? Int == 3)
    let notes = try #require(invocation["toolExecutionNotifications"] as? [Object])
    #expect(notes.compactMap { $0["level"] as? String } == ["warning", "error"])
    let id = (run["automationDetails"] as? [String: String])?["id"]
    #expect(id == "faultline/shard-2-of-4/")
  }

  @Test("times: slowest first, the rest in one line, and nothing for one scenario")
  func times() throws {
    var report = HTMLFixture.report([], name: "0.yaml")
    report.cases[0].seconds = 0.25
    #expect(Console.times(of: report).isEmpty)
    for number in 1...12 {
      var item = report.cases[0]
      item.name = "\(number).yaml"
      item.seconds = Double(number)
      report.cases.append(item)
    }
    report.cases.append(CaseReport(name: "untimed.yaml", title: "t"))
    let lines = Console.times(of: report)
    #expect(lines.count == 12)
    #expect(lines[0] == "time by scenario, slowest first: 78.2 s for 13")
    #expect(lines[1] == "     12.0 s  12.yaml" && lines[10] == "      3.0 s  3.yaml")
    #expect(lines[11] == "      3.2 s  3 more")
    #expect(JUnit.xml(report).contains("classname=\"7.yaml\" name=\"a program\" time=\"7.000\""))
  }
}
