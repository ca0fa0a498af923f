// RuleOutcome.swift: what became of a fault rule in a recording, as reports say it.

import FaultFS
import LabCore

/// A fault rule that was in force while a program was recorded, and how often it hit.
public struct RuleOutcome: Codable, Sendable, Hashable {
  /// The rule's number, from 1 in the order in which they were given.
  public var number: Int
  /// The rule as text.
  public var rule: String
  /// Operations that the rule's conditions fit.
  public var matchCount: Int
  /// Those of them that got the effect.
  public var hitCount: Int
  /// Of a rule that did nothing: what to look at.
  public var complaint: String?

  /// What the file system counted.
  package init(_ status: RuleStatus) {
    number = status.id
    rule = "\(status.rule)"
    matchCount = status.hits.matchCount
    hitCount = status.hits.hitCount
    complaint = status.complaint
  }

  /// The rule and its counts on one line.
  package var line: String { "rule \(number)  hits=\(hitCount) matches=\(matchCount)  \(rule)" }

  /// The rules in lines: each with its counts, then those that did nothing.
  package static func lines(of rules: [RuleOutcome]) -> [String] {
    rules.map(\.line) + rules.compactMap(\.complaint)
  }
}
