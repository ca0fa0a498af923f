// HTMLFixture.swift: reports made by hand, and pages read back by an XML parser.

import Foundation
import FoundationXML

@testable import CrashStates
@testable import Findings

/// Reports made by hand.
enum HTMLFixture {
  static func finding(
    _ number: Int = 1, headline: String = "lost: a row", evidence: FindingEvidence? = nil
  ) -> Finding {
    var finding = Finding(
      number: number, promised: "acknowledged rows survive", headline: headline, got: [headline],
      ending: "exit status 1", crash: "after #3", acknowledgedCount: 2, lastAcknowledged: "2",
      lost: ["#1 write"], missingSync: ["fsync of a"], models: ["strict"], stateCount: 4,
      token: "fl1-x")
    finding.evidence = evidence
    return finding
  }

  static func report(
    _ findings: [Finding], timeline: Timeline? = nil, points: [CrashPointCount] = [],
    title: String = "a program", name: String = "explore"
  ) -> RunReport {
    var exploration = ExplorationReport(
      title: "t", model: "strict", seed: 1, operationCount: 3, markCount: 2, crashPointCount: 4,
      candidateCount: 9, distinctCount: 5, exploredCount: 5, bound: "9", seconds: 0.5,
      findings: findings)
    exploration.crashPoints = points
    var item = CaseReport(name: name, title: title, outcome: findings.isEmpty ? .held : .broken)
    item.explorations = [exploration]
    if let timeline {
      item.timelines = [timeline]
      item.explorations[0].recording = 0
    }
    return RunReport(seed: 1, cases: [item])
  }

  /// A program that held, of which one state at two of six crash points was judged.
  static func thin() -> RunReport {
    let points = (1...6).map { point in
      var count = CrashPointCount(
        crashPoint: point, distinct: 3, checked: point < 3 ? 1 : 0, failing: 0)
      count.followsMark = point.isMultiple(of: 2) ? true : nil
      return count
    }
    var report = report([], points: points)
    report.cases[0].explorations[0].budgetOfEachCrashPoint = 1_234
    return report
  }

  /// A log whose record is lost although a later write survived, explored by hand.
  static func overtaken(log: String = "log", mark: String = "done") throws -> RunReport {
    var recording = Recording(files: [log: "----", "page": "1"])
    recording.write(log, "rec1")
    recording.write("page", "2")
    recording.mark(mark)
    let table = try UnitTable(trace: recording.trace, model: .posix)
    let state = try table.state(at: 2, keeping: [1])
    let missing = Explainer(table: table).explain(state).missing
    let evidence = try EvidenceMaker(table: table).evidence(of: state, missing: missing)
    let finding = finding(evidence: evidence)
    return report(
      [finding], timeline: Timeline(recording.trace, findings: [finding]),
      points: [
        CrashPointCount(crashPoint: 1, distinct: 2, checked: 2, failing: 0),
        CrashPointCount(crashPoint: 2, distinct: 4, checked: 3, failing: 1),
        CrashPointCount(crashPoint: 3, distinct: 1, checked: 0, failing: 0),
      ])
  }
}

/// A page as an XML parser reads it.
final class ParsedPage: NSObject, XMLParserDelegate {
  struct Element {
    let name: String
    let attributes: [String: String]
    /// All text in it.
    var text = ""
    var classes: [String] { (attributes["class"] ?? "").split(separator: " ").map(String.init) }
  }

  private(set) var elements: [Element] = []
  private(set) var error: String?
  private var open: [Int] = []

  init(_ source: String) {
    super.init()
    let parser = XMLParser(data: Data(source.utf8))
    parser.delegate = self
    if !parser.parse() {
      error = "line \(parser.lineNumber): \(String(describing: parser.parserError))"
    }
  }

  func all(_ name: String) -> [Element] { elements.filter { $0.name == name } }
  func all(class name: String) -> [Element] { elements.filter { $0.classes.contains(name) } }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String]
  ) {
    open.append(elements.count)
    elements.append(Element(name: name, attributes: attributes))
  }

  func parser(
    _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    open.removeLast()
  }

  func parser(_ parser: XMLParser, foundCharacters text: String) {
    for place in open { elements[place].text += text }
  }
}
