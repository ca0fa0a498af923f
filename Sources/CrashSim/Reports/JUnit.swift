// JUnit.swift: a run as JUnit XML for CI systems, one test case for each scenario and one for each
// of its skipped parts.

import Findings
import LabCore

/// Writes JUnit XML.
package enum JUnit {
  /// The report of a run.
  package static func xml(_ report: RunReport) -> String {
    let failures = report.cases.count { $0.outcome == .broken }
    let errors = report.cases.count { [.labFailed, .interrupted].contains($0.outcome) }
    let skipped = report.cases.reduce(0) { $0 + $1.skipped.count }
    let counts =
      "tests=\"\(report.cases.count + skipped)\" failures=\"\(failures)\" errors=\"\(errors)\""
    var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>"]
    lines.append("<testsuites \(counts)>")
    lines.append("  <testsuite name=\"faultline\" \(counts) skipped=\"\(skipped)\">")
    for item in report.cases {
      var notes = RuleOutcome.lines(of: item.rules ?? [])
      notes += item.explorations.compactMap { exploration in
        report.caution(about: exploration, of: item).map { "\(exploration.model): \($0)" }
      }
      notes += item.explorations.flatMap { exploration in
        (exploration.remarks ?? []).map { "\(exploration.model): \($0.line.visibleLine)" }
      }
      lines += testCase(item, notes) + item.skipped.flatMap { skip($0, of: item) }
    }
    return (lines + ["  </testsuite>", "</testsuites>", ""]).joined(separator: "\n")
  }

  /// One test case: its outcome, then further notes for the user.
  private static func testCase(_ item: CaseReport, _ notes: [String]) -> [String] {
    let seconds = item.seconds ?? item.explorations.reduce(0) { $0 + $1.seconds }
    let head =
      "    <testcase classname=\"\(escaped(item.name))\" name=\"\(escaped(item.title))\""
      + " time=\"\(Formatting.fixed(seconds, 3))\""
    var lines: [String] = []
    switch item.outcome {
    case .held: break
    case .broken:
      lines += item.findings.map(failure)
      lines += item.complaints.map { "      <failure message=\"\(escaped($0))\"/>" }
    case .labFailed, .interrupted:
      let complaints = item.outcome == .interrupted ? ["interrupted"] : item.complaints
      let message = escaped(complaints.joined(separator: "; "))
      lines.append("      <error message=\"\(message)\"/>")
    }
    if !notes.isEmpty {
      lines.append("      <system-out>\(escaped(notes.joined(separator: "\n")))</system-out>")
    }
    return lines.isEmpty ? [head + "/>"] : [head + ">"] + lines + ["    </testcase>"]
  }

  private static func skip(_ part: String, of item: CaseReport) -> [String] {
    [
      "    <testcase classname=\"\(escaped(item.name))\" name=\"\(escaped(item.title)), "
        + "skipped part\" time=\"0\">",
      "      <skipped message=\"\(escaped(part))\"/>", "    </testcase>",
    ]
  }

  private static func failure(_ finding: Finding) -> String {
    let text = Console.lines(of: finding).joined(separator: "\n")
    let count = Formatting.counted(finding.rootCauseStateCount, "crash state")
    let message = escaped("\(finding.headline) (\(count))")
    return "      <failure message=\"\(message)\">\(escaped(text))</failure>"
  }

  /// Text as XML: markup escaped, characters replaced that are forbidden in XML 1.0 or that a
  /// terminal obeys.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\n", "\t": result.unicodeScalars.append(scalar)
      default:
        let isForbidden =
          scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
          || (0xFFFE...0xFFFF).contains(scalar.value)
        result.unicodeScalars.append(isForbidden ? "\u{FFFD}" : scalar)
      }
    }
    return result
  }
}
