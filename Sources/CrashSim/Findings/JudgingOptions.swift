// JudgingOptions.swift: what a user says about a program that is judged without a checker, and what
// such a judgement says besides its findings.

import LabCore

/// How crash states are judged without a checker.
public struct JudgingOptions: Codable, Sendable, Hashable {
  /// Globs over files that are not judged: caches, logs.
  public var ignored: [String]
  /// Whether each line of output promises that all before it is durable, though no sync shows it.
  public var isDurable: Bool

  /// Makes options.
  public init(ignored: [String] = [], isDurable: Bool = false) {
    self.ignored = ignored
    self.isDurable = isDurable
  }
}

/// What is worth knowing of states that break no promise: a warning or a note.
public struct JudgingRemark: Codable, Sendable, Hashable {
  /// `warning` or `note`.
  public var level: String
  /// What was seen.
  public var text: String
  /// In how many states.
  public var stateCount: Int
  /// What `faultline replay` takes to come to the first of them.
  public var token: String

  package init(level: String, text: String, stateCount: Int, token: String) {
    self.level = level
    self.text = text
    self.stateCount = stateCount
    self.token = token
  }

  /// The remark in one line, as on the console.
  package var line: String {
    "\(level): \(text) (\(Formatting.counted(stateCount, "state")))"
  }

  /// The remarks of several shards, each once, warnings first.
  ///
  /// The states of one are counted together, and its words are those of the first that has it.
  package static func joined(_ parts: [[JudgingRemark]?]) -> [JudgingRemark]? {
    var result: [JudgingRemark] = []
    var places: [String: Int] = [:]
    for remark in parts.flatMap({ $0 ?? [] }) {
      let key = "\(remark.level): \(remark.text.withNumbersReplaced)"
      if let place = places[key] {
        result[place].stateCount += remark.stateCount
      } else {
        places[key] = result.count
        result.append(remark)
      }
    }
    result = result.filter { $0.level == "warning" } + result.filter { $0.level != "warning" }
    return result.isEmpty ? nil : result
  }
}
