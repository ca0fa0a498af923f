// SARIF.swift: a run as SARIF 2.1.0 (OASIS), for code scanning: one result for each finding and for
// each planted bug that was not found, and one of a lower level for each remark of a judgement
// without a checker; failures of Faultline are notifications, never results.
// Invariant: a result's fingerprint does not depend on numbers, seeds or times, so that a recurring
// finding keeps its identity.

import CrashStates
import Exploration
import Findings
import Foundation
import LabCore

/// A run in the Static Analysis Results Interchange Format.
package struct SARIF: JSONReport, Sendable {
  /// The version of the format.
  package static let version = "2.1.0"
  /// The address of its schema.
  package static let schema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
  /// Longest message of a result, in characters; viewers cut longer ones.
  static let messageMax = 10_000

  let version = SARIF.version
  let runs: [SARIFRun]

  private enum CodingKeys: String, CodingKey {
    case schema = "$schema"
    case version
    case runs
  }

  /// Makes the report of a run.
  /// - Parameters:
  ///   - report: The run.
  ///   - arguments: The command's arguments.
  package init(_ report: RunReport, arguments: [String]) {
    runs = [SARIFRun(report, arguments: arguments)]
  }

  /// Writes `$schema`, `version` and `runs`.
  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(Self.schema, forKey: .schema)
    try fields.encode(version, forKey: .version)
    try fields.encode(runs, forKey: .runs)
  }
}

/// The rule of a result.
enum SARIFRule: Hashable {
  /// An oracle of the engine's scenarios.
  case oracle(OracleName)
  /// The checker of an explored program.
  case checker
  /// A planted bug that was not found.
  case plantedBug
  /// A step that failed without a crash.
  case step
  /// A warning or a note of a judgement without a checker.
  case remark

  static let all: [SARIFRule] =
    OracleName.allCases.map { .oracle($0) } + [.checker, .plantedBug, .step, .remark]

  /// A headline starts with the name of the oracle that failed.
  init(headline: String) {
    let name = headline.prefix { $0 != ":" }
    self = OracleName(rawValue: String(name)).map { .oracle($0) } ?? .checker
  }

  var id: String {
    switch self {
    case .oracle(let oracle): oracle.rawValue
    case .checker: "checker"
    case .plantedBug: "plantedBug"
    case .step: "step"
    case .remark: "remark"
    }
  }

  /// What viewers show a result of the rule as, unless the result says otherwise.
  private var level: String { self == .remark ? "note" : "error" }

  private var description: String {
    switch self {
    case .oracle(let oracle): oracle.promise
    case .checker: "a checker accepts every directory that a crash may leave"
    case .plantedBug: "a planted bug is found"
    case .step: "without any crash the steps do what the scenario says"
    case .remark: "only the program knows whether a crash may leave this (judging.md)"
    }
  }

  var descriptor: SARIFRun.Rule {
    SARIFRun.Rule(
      id: id, name: id.prefix(1).uppercased() + id.dropFirst(),
      shortDescription: SARIFRun.Text(text: "Promise: \(description)"),
      help: SARIFRun.Text(
        text: "Promise: \(description). The message holds the command that replays the failure; "
          + "docs/reference/scenarios.md lists the oracles."),
      defaultConfiguration: ["level": level])
  }
}

/// One run in SARIF, with the format's names.
struct SARIFRun: Encodable, Sendable {
  struct Text: Encodable, Sendable {
    let text: String
  }

  struct Rule: Encodable, Sendable {
    let id: String
    let name: String
    let shortDescription: Text
    let help: Text
    let defaultConfiguration: [String: String]
  }

  struct Tool: Encodable, Sendable {
    struct Driver: Encodable, Sendable {
      let name = "faultline"
      let semanticVersion = LabVersion.text
      let version = LabVersion.full
      let rules = SARIFRule.all.map(\.descriptor)
    }
    let driver = Driver()
  }

  struct Location: Encodable, Sendable {
    struct Physical: Encodable, Sendable {
      let artifactLocation: [String: String]
      let region: [String: Int]?
    }
    var physicalLocation: Physical?
    var logicalLocations: [[String: String]]?
    var message: Text?
  }

  struct Result: Encodable, Sendable {
    let ruleId: String
    let ruleIndex: Int
    var level = "error"
    let message: Text
    let locations: [Location]
    let relatedLocations: [Location]?
    let partialFingerprints: [String: String]
    let properties: [String: String]
  }

  struct Notification: Encodable, Sendable {
    let level: String
    let message: Text
    let locations: [Location]
  }

  struct Invocation: Encodable, Sendable {
    let commandLine: String
    let executionSuccessful: Bool
    let exitCode: Int32
    let toolExecutionNotifications: [Notification]
  }

  let tool = Tool()
  let automationDetails: [String: String]
  let invocations: [Invocation]
  let columnKind = "unicodeCodePoints"
  let results: [Result]

  init(_ report: RunReport, arguments: [String]) {
    let part = report.shard.map { "shard-\($0.index)-of-\($0.count)/" } ?? ""
    automationDetails = ["id": "faultline/\(part)"]
    results = report.cases.flatMap(Self.results)
    invocations = [
      Invocation(
        commandLine: (["faultline"] + arguments).joined(separator: " "),
        executionSuccessful: report.outcome != .labFailed && !report.isInterrupted,
        exitCode: report.exitCode.rawValue,
        toolExecutionNotifications: report.cases.flatMap(Self.notifications))
    ]
  }

  // MARK: Results

  private static func results(of item: CaseReport) -> [Result] {
    var results: [Result] = []
    if !item.isNegative {
      for exploration in item.explorations {
        results += exploration.findings.map { result(of: $0, exploration, item) }
        results += (exploration.remarks ?? []).map { result(of: $0, exploration, item) }
      }
    }
    guard item.outcome == .broken else { return results }
    let rule = item.isNegative ? SARIFRule.plantedBug : .step
    for complaint in item.complaints {
      results.append(
        Result(
          ruleId: rule.id, ruleIndex: index(of: rule), message: text(complaint),
          locations: [location(of: item, line: item.line)], relatedLocations: nil,
          partialFingerprints: fingerprint(of: [item.name, rule.id, complaint]),
          properties: [:]))
    }
    return results
  }

  private static func result(
    of finding: Finding, _ exploration: ExplorationReport, _ item: CaseReport
  ) -> Result {
    let rule = SARIFRule(headline: finding.headline)
    let lines = Console.lines(of: finding).dropFirst()
    let sites = (finding.callSites ?? []).compactMap(location)
    return Result(
      ruleId: rule.id, ruleIndex: index(of: rule),
      message: text(([finding.headline] + lines).joined(separator: "\n")),
      locations: [location(of: item, line: exploration.line ?? item.line)],
      relatedLocations: sites.isEmpty ? nil : sites,
      partialFingerprints: fingerprint(of: [
        item.name, rule.id, exploration.model, finding.classKey ?? finding.headline,
        finding.rootCause ?? "",
      ]),
      properties: [
        "model": exploration.model, "promised": finding.promised,
        "replay": "faultline replay \(finding.token)", "states": "\(finding.rootCauseStateCount)",
      ])
  }

  private static func result(
    of remark: JudgingRemark, _ exploration: ExplorationReport, _ item: CaseReport
  ) -> Result {
    let rule = SARIFRule.remark
    return Result(
      ruleId: rule.id, ruleIndex: index(of: rule), level: remark.level, message: text(remark.text),
      locations: [location(of: item, line: exploration.line ?? item.line)], relatedLocations: nil,
      partialFingerprints: fingerprint(of: [item.name, rule.id, exploration.model, remark.text]),
      properties: [
        "model": exploration.model, "replay": "faultline replay \(remark.token)",
        "states": "\(remark.stateCount)",
      ])
  }

  private static func index(of rule: SARIFRule) -> Int {
    SARIFRule.all.firstIndex(of: rule) ?? 0
  }

  /// A message; in plain text of SARIF `[words](target)` is a link, which no file name may make.
  private static func text(_ text: String) -> Text {
    Text(text: text.replacing("](", with: "] (").cut(to: SARIF.messageMax))
  }

  /// Without numbers, so that a finding keeps its identity with another seed or line.
  private static func fingerprint(of parts: [String]) -> [String: String] {
    let text = parts.map(\.withNumbersReplaced).joined(separator: "\u{0}")
    return ["faultlineFinding/v1": ContentHash.of(Array(text.utf8)).description]
  }

  // MARK: Notifications

  private static func notifications(of item: CaseReport) -> [Notification] {
    func note(_ level: String, _ words: String) -> Notification {
      Notification(
        level: level, message: text("\(item.name): \(words)"),
        locations: [location(of: item, line: item.line)])
    }
    var result = item.skipped.map { note("warning", "skipped: \($0)") }
    if item.outcome == .labFailed { result += item.complaints.map { note("error", $0) } }
    if item.isInterrupted { result.append(note("warning", "interrupted before it was decided")) }
    if item.isOutOfTime {
      result.append(note("note", "the time budget ended before all selected states were judged"))
    }
    if item.pendingComplaint != nil {
      result.append(note("note", "the planted bug is not in this shard's states"))
    }
    return result
  }

  // MARK: Locations

  /// The scenario's line; an explored program has only a name, without a file.
  private static func location(of item: CaseReport, line: Int?) -> Location {
    guard item.name != CaseReport.exploredName, item.name != CaseReport.stressedName else {
      return Location(logicalLocations: [["fullyQualifiedName": item.title, "name": item.name]])
    }
    return Location(
      physicalLocation: Location.Physical(
        artifactLocation: artifact(item.name), region: line.map { ["startLine": $0] }))
  }

  private static func location(of site: CallSite) -> Location? {
    guard let frame = site.frames.first(where: { $0.file != nil && $0.line != nil }),
      let file = frame.file
    else { return nil }
    return Location(
      physicalLocation: Location.Physical(
        artifactLocation: artifact(file), region: frame.line.map { ["startLine": $0] }),
      message: Text(text: site.text))
  }

  /// A path as the format requires: relative ones below the sources' root, absolute ones as URLs.
  private static func artifact(_ path: String) -> [String: String] {
    var allowed = CharacterSet()
    allowed.insert(
      charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
    let encoded = path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path
    if path.hasPrefix("/") { return ["uri": "file://\(encoded)"] }
    let plain = encoded.hasPrefix("./") ? String(encoded.dropFirst(2)) : encoded
    return ["uri": plain, "uriBaseId": "%SRCROOT%"]
  }
}
