// RuleOutcome.swift: the effect of a fault rule on a recording, for reports.

import FaultFS
import LabCore

/// A fault rule that was in force while a program was recorded, and how often it hit.
public struct RuleOutcome: Codable, Sendable, Hashable {
  /// The rule's number, from 1 in the order of the options.
  public var number: Int
  /// The rule as text.
  public var rule: String
  /// Operations that the rule's conditions fit.
  public var matchCount: Int
  /// Those of them to which the effect was applied.
  public var hitCount: Int
  /// For a rule without effect: what to check.
  public var complaint: String?

  /// The counts of the file system.
  package init(_ status: RuleStatus) {
    number = status.id
    rule = "\(status.rule)"
    matchCount = status.hits.matchCount
    hitCount = status.hits.hitCount
    complaint = status.complaint
  }

  /// The rule and its counts on one line.
  package var line: String { "rule \(number)  hits=\(hitCount) matches=\(matchCount)  \(rule)" }

  /// The rules as lines: each with its counts, then those without effect.
  package static func lines(of rules: [RuleOutcome]) -> [String] {
    rules.map(\.line) + rules.compactMap(\.complaint)
  }
}
