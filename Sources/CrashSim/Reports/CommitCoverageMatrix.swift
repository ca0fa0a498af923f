// CommitCoverageMatrix.swift: the steps of the engine's commits, and the number of scenarios that
// hit each of them with each disturbance.

import Engine
import Findings

/// The matrix over all scenarios of a run.
package struct CommitCoverageMatrix: Sendable {
  /// Pairs that cannot occur, each with the reason.
  package static let impossible: [(step: CommitStep, disturbance: CommitDisturbance, why: String)] =
    [
      (.moveOutOfTail, .noSpace, "it reads nodes and plans in memory; a read needs no space"),
      (.encodeTrees, .inputOutputError, "it works in memory and makes no call that could fail"),
      (.encodeTrees, .noSpace, "it works in memory and makes no call that could fail"),
      (.releaseOldTop, .noSpace, "it reads two nodes; a read needs no space"),
      (.encodeTop, .inputOutputError, "it works in memory and makes no call that could fail"),
      (.encodeTop, .noSpace, "it works in memory and makes no call that could fail"),
    ]

  private let covered: [CommitCoverage]

  /// Counts the cases of a run that are judged by promises, that is, without planted bugs.
  package init(_ report: RunReport) {
    covered = report.cases.compactMap { $0.isNegative ? nil : $0.commitCoverage }
  }

  /// Number of scenarios that hit a pair.
  package func count(_ step: CommitStep, _ disturbance: CommitDisturbance) -> Int {
    covered.count { $0.has(step.description, disturbance) }
  }

  /// Why a pair cannot occur; nil if it can.
  package static func reason(_ step: CommitStep, _ disturbance: CommitDisturbance) -> String? {
    impossible.first { $0.step == step && $0.disturbance == disturbance }?.why
  }

  /// The pairs that can occur but did not.
  package var missing: [(step: CommitStep, disturbance: CommitDisturbance)] {
    CommitStep.allCases.flatMap { step in
      CommitDisturbance.allCases.compactMap { disturbance in
        let isOpen = count(step, disturbance) == 0 && Self.reason(step, disturbance) == nil
        return isOpen ? (step, disturbance) : nil
      }
    }
  }

  /// The matrix entry for a pair: a number, or `-` for an impossible pair.
  func text(_ step: CommitStep, _ disturbance: CommitDisturbance) -> String {
    let count = count(step, disturbance)
    return count == 0 && Self.reason(step, disturbance) != nil ? "-" : "\(count)"
  }

  /// The matrix as lines of text.
  package var lines: [String] {
    func row(_ name: String, _ cells: [String]) -> String {
      name.padding(toLength: 18, withPad: " ", startingAt: 0)
        + cells.map { String(repeating: " ", count: max(1, 8 - $0.count)) + $0 }.joined()
    }
    var lines = [
      "steps of the engine's commits and what hit them: scenarios that met each pair, - where it "
        + "cannot be met"
    ]
    lines.append(row("", CommitDisturbance.allCases.map(\.rawValue)))
    for step in CommitStep.allCases {
      lines.append(row(step.description, CommitDisturbance.allCases.map { text(step, $0) }))
    }
    let missing = missing.map { "\($0.step) × \($0.disturbance.rawValue)" }
    let all = CommitStep.allCases.count * CommitDisturbance.allCases.count
    let possible = all - Self.impossible.count
    lines.append(
      "met \(possible - missing.count) of \(possible) pairs that can be met"
        + (missing.isEmpty ? "" : "; not met: \(missing.joined(separator: ", "))"))
    return lines
  }
}
