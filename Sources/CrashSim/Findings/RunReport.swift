// RunReport.swift: the result of a `faultline run` or `faultline explore` as a value; the JSON
// report is this value, encoded with sorted keys.

import CrashStates
import Foundation
import LabCore

/// Everything that one run reports.
package struct RunReport: JSONReport, Codable, Sendable {
  /// Format of the JSON; increases when a field changes its meaning.
  package var formatVersion = 1
  /// The version of faultline that wrote it, with its commit.
  package var version: String? = LabVersion.full
  /// Seed of the run.
  package var seed: UInt64
  /// True when Faultline was asked to stop: the report has what was known then.
  package var isInterrupted = false
  /// The part that was run; nil if everything was run.
  package var shard: ShardLabel?
  /// The options that determine the states and their distribution to shards: `name=value`.
  package var options: [String]?
  /// One entry for each scenario or explored program.
  package var cases: [CaseReport]

  /// Names of the fields in JSON.
  package enum CodingKeys: String, CodingKey {
    case formatVersion, version, seed, isInterrupted, shard, options, cases
  }

  /// Makes a report.
  package init(seed: UInt64, cases: [CaseReport] = []) {
    self.seed = seed
    self.cases = cases
  }

  /// The worst outcome of all cases.
  package var outcome: CaseReport.Outcome {
    if cases.contains(where: { $0.outcome == .labFailed }) { return .labFailed }
    if cases.contains(where: { $0.outcome == .broken }) { return .broken }
    let isCutShort = isInterrupted || cases.contains { $0.outcome == .interrupted }
    return isCutShort ? .interrupted : .held
  }

  /// The exit code of the command: an interruption has its own code, whatever was found.
  package var exitCode: ExitCode {
    if isInterrupted { return .interrupted }
    switch outcome {
    case .held: return .held
    case .broken: return .broken
    case .labFailed: return .labFailed
    case .interrupted: return .interrupted
    }
  }
}

/// Identifies the shard of a report.
public struct ShardLabel: Codable, Sendable, Hashable, CustomStringConvertible {
  /// Number of the part, from 1.
  public var index: Int
  /// Number of parts.
  public var count: Int

  /// Labels a part; nil for the only one.
  public init?(_ shard: Shard) {
    guard shard.count > 1 else { return nil }
    index = shard.index + 1
    count = shard.count
  }

  /// For example `2/4`.
  public var description: String { "\(index)/\(count)" }
}

/// One scenario, or one explored program.
public struct CaseReport: Codable, Sendable {
  /// How a case ended.
  public enum Outcome: String, Codable, Sendable {
    /// Every promise held; for a negative case, the planted bug was found.
    case held
    /// A promise was broken; for a negative case, the planted bug was not found.
    case broken
    /// Faultline could not finish the case.
    case labFailed
    /// Faultline was asked to stop before the case was decided.
    case interrupted
  }

  /// Name of a case that is an explored program.
  public static let exploredName = "explore"
  /// Name of a case that is a stress run.
  public static let stressedName = "stress"

  /// File of the scenario, or `explore` or `stress`.
  public var name: String
  /// Title of the scenario, or the workload's command.
  public var title: String
  /// How it ended.
  public var outcome: Outcome
  /// True when Faultline was asked to stop during this case.
  public var isInterrupted = false
  /// Whether the case plants a bug that must be found.
  public var isNegative = false
  /// The explorations, one for each model or kind of crash.
  public var explorations: [ExplorationReport] = []
  /// Errors other than findings: a step that failed, a planted bug that was not found.
  public var complaints: [String] = []
  /// The token that reproduces a violation without a crash.
  public var runToken: String?
  /// For a negative case in a shard that did not find the planted bug: the complaint if no other
  /// shard did.
  public var pendingComplaint: String?
  /// Parts of the case that could not run here, each with its requirement.
  public var skipped: [String] = []
  /// The fault rules during the recording of a program; nil if there were none.
  public var rules: [RuleOutcome]?
  /// The workload's operations, for each recording.
  public var timelines: [Timeline] = []
  /// The messages between nodes; nil for a case without nodes.
  public var messages: MessageChart?
  /// Line of the scenario file that identifies the case.
  public var line: Int?
  /// Statistics of the histories drawn for it; nil for a case without them.
  public var histories: HistoryCounts?
  /// Wall time of the whole case, including recording and explaining; for shards, the sum.
  ///
  /// For display; no decision may depend on it.
  public var seconds: Double?

  /// Makes a report.
  public init(name: String, title: String, outcome: Outcome = .held) {
    self.name = name
    self.title = title
    self.outcome = outcome
  }

  /// The steps of the engine's commits hit by each disturbance; nil for none.
  public var commitCoverage: CommitCoverage?

  /// Combines the coverage of the explorations and of the recording itself.
  package mutating func noteCoverage(_ recorded: CommitCoverage) {
    var all = recorded
    all.add(commitCoverage)
    for exploration in explorations { all.add(exploration.commitCoverage) }
    commitCoverage = all.isEmpty ? nil : all
  }

  /// All findings of the case.
  public var findings: [Finding] { explorations.flatMap(\.findings) }

  /// Whether a time budget ran out before all states were judged.
  public var isOutOfTime: Bool { explorations.contains { $0.isOutOfTime == true } }

  /// The findings in one recording.
  package func findings(of recording: Int) -> [Finding] {
    explorations.filter { $0.recording == recording }.flatMap(\.findings)
  }

  /// Records in each finding which other explorations of the case found the same.
  package mutating func noteCommonFindings() {
    for index in explorations.indices {
      for place in explorations[index].findings.indices {
        guard let key = explorations[index].findings[place].classKey else { continue }
        let others = explorations.indices.filter { other in
          other != index && explorations[other].findings.contains { $0.classKey == key }
        }
        guard !others.isEmpty else { continue }
        explorations[index].findings[place].alsoSeen = others.map { explorations[$0].model }
      }
    }
  }
}
