// CheckResult.swift: the result of a checker, a program or the oracles, for one crash state.

import LabCore

/// A checker's result for one state.
public struct CheckResult: Sendable, Hashable, Codable {
  /// How the checker ended; exit status 0 means that the state keeps its promises.
  package let ending: ProcessEnding
  /// Its output, standard output first, each at most `CommandChecker.outputLimitBytes`.
  public let output: String
  /// The promise, if the checker knows it.
  public let promised: String?
  /// The oracles that failed, if the checker consists of oracles.
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

  /// The first line with text, or how the checker ended.
  public var headline: String {
    let lines = output.split(whereSeparator: \.isNewline)
      .map { $0.trimmingCharacters(in: .whitespaces) }
    return lines.first { !$0.isEmpty } ?? "the checker ended with \(ending)"
  }

  /// The same, with the same headline and another line of output.
  package func noting(_ line: String) -> CheckResult {
    let isSilent = output.allSatisfy(\.isWhitespace)
    let text = isSilent ? headline : output
    return CheckResult(
      ending: ending, output: text + (text.hasSuffix("\n") ? "" : "\n") + line,
      promised: promised, oracles: oracles, rule: rule)
  }
}
