// CommitCoverage.swift: which steps of commits were hit by which disturbance. A pair counts only
// when the disturbance happened while a process was in that step, as announced by the process
// (Recording/Trace/PhaseLog.swift), and only when the result was judged.

import CrashStates
import FaultFS
import LabCore
import Recording

/// A disturbance of a step of a commit.
public enum CommitDisturbance: String, Codable, Sendable, CaseIterable, Comparable {
  /// The process was killed.
  case kill
  /// Power failed.
  case cut
  /// A file operation failed with EIO.
  case inputOutputError = "EIO"
  /// A file operation failed with ENOSPC.
  case noSpace = "ENOSPC"

  /// Orders as reports list them.
  public static func < (a: CommitDisturbance, b: CommitDisturbance) -> Bool {
    (allCases.firstIndex(of: a) ?? 0) < (allCases.firstIndex(of: b) ?? 0)
  }

  /// The disturbance caused by a rule's effect; nil for others.
  init?(_ effect: FaultRule.Effect) {
    switch effect {
    case .error(let number), .errorOncePerOpenFile(let number), .failSync(let number, _, _):
      switch ErrnoTable.name(of: number) {
      case "EIO": self = .inputOutputError
      case "ENOSPC": self = .noSpace
      default: return nil
      }
    case .noSpace: self = .noSpace
    case .kill: self = .kill
    default: return nil
    }
  }
}

/// The steps hit by each disturbance.
public struct CommitCoverage: Codable, Sendable, Hashable {
  /// Names of steps in alphabetical order, by the name of the disturbance.
  public private(set) var steps: [String: [String]] = [:]

  /// Nothing was hit.
  public init() {}

  /// Whether nothing was hit.
  public var isEmpty: Bool { steps.isEmpty }

  /// Whether a pair was hit.
  public func has(_ step: String, _ disturbance: CommitDisturbance) -> Bool {
    steps[disturbance.rawValue]?.contains(step) ?? false
  }

  /// Adds a pair.
  public mutating func add(_ step: String, _ disturbance: CommitDisturbance) {
    guard !has(step, disturbance) else { return }
    steps[disturbance.rawValue] = ((steps[disturbance.rawValue] ?? []) + [step]).sorted()
  }

  /// Adds the pairs of another part.
  public mutating func add(_ other: CommitCoverage?) {
    guard let other else { return }
    for disturbance in CommitDisturbance.allCases {
      for step in other.steps[disturbance.rawValue] ?? [] { add(step, disturbance) }
    }
  }

  /// Adds the hits of rules, each in the phases in which it occurred.
  package mutating func add(_ hits: [RuleHits], of rules: [FaultRule]) {
    for (hits, rule) in zip(hits, rules) {
      guard let disturbance = CommitDisturbance(rule.what) else { continue }
      for step in hits.hitsInPhases.keys.sorted() { add(step, disturbance) }
    }
  }

  /// Adds the power cuts at crash points: each hits the steps in progress at that point.
  /// - Parameters:
  ///   - trace: The recorded run.
  ///   - isJudged: Whether a state of a crash point was judged.
  package mutating func addCuts(of trace: Trace, at isJudged: (_ crashPoint: Int) -> Bool) {
    for (index, entry) in trace.phases.enumerated() {
      guard let step = entry.phase else { continue }
      let next = trace.phases[(index + 1)...].first { $0.process == entry.process }
      let last = next?.position ?? trace.events.count
      if (entry.position...max(entry.position, last)).contains(where: isJudged) {
        add(step, .cut)
      }
    }
  }
}
