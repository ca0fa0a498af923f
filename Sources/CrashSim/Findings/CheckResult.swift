// CheckResult.swift: what a checker, a program or the oracles, said about one crash state.

import LabCore

/// What a checker said about one state.
public struct CheckResult: Sendable, Hashable, Codable {
  /// How the checker ended; exit status 0 means that the state keeps its promises.
  package let ending: ProcessEnding
  /// What it printed, its standard output first, each at most `CommandChecker.outputLimitBytes`.
  public let output: String
  /// What was promised, where the checker knows it.
  public let promised: String?
  /// The oracles that failed, where the checker is made of oracles.
  public let oracles: [OracleName]

  /// The rule that judged it, where there was no checker.
  package let rule: String?

  /// Makes a result.
  package init(
    ending: ProcessEnding, output: String, promised: String? = nil, oracles: [OracleName] = [],
    rule: String? = nil
  ) {
    self.rule = rule
    self.ending = ending
    self.output = output
    self.promised = promised
    self.oracles = oracles
  }

  /// The first line that says something, or how the checker ended.
  public var headline: String {
    let lines = output.split(whereSeparator: \.isNewline)
      .map { $0.trimmingCharacters(in: .whitespaces) }
    return lines.first { !$0.isEmpty } ?? "the checker ended with \(ending)"
  }

  /// The same, with the same headline and one more line of output.
  package func noting(_ line: String) -> CheckResult {
    let isSilent = output.allSatisfy(\.isWhitespace)
    let text = isSilent ? headline : output
    return CheckResult(
      ending: ending, output: text + (text.hasSuffix("\n") ? "" : "\n") + line,
      promised: promised, oracles: oracles, rule: rule)
  }
}
