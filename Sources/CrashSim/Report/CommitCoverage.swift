// CommitCoverage.swift: which steps of the engine's commits were met by which disturbance. A pair
// counts only when the disturbance hit while a worker was in that step, as the worker itself said
// (FaultFS/CommitStepLog.swift), and only when what came of it was judged.

import Engine

/// What can hit a step of a commit.
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

  /// The disturbance that a rule's effect is; nil for others.
  init?(_ effect: FaultRule.Effect) {
    switch effect {
    case .error(let number), .errorOncePerOpenFile(let number), .failSync(let number, _):
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

/// Which steps were met by which disturbance.
public struct CommitCoverage: Codable, Sendable, Hashable {
  /// Names of steps in the engine's order, by the name of the disturbance.
  public private(set) var steps: [String: [String]] = [:]

  /// Nothing was met.
  public init() {}

  /// Whether nothing was met.
  public var isEmpty: Bool { steps.isEmpty }

  /// Whether a pair was met.
  public func has(_ step: CommitStep, _ disturbance: CommitDisturbance) -> Bool {
    steps[disturbance.rawValue]?.contains(step.description) ?? false
  }

  /// Adds a pair; a number that is no step's adds nothing.
  public mutating func add(_ step: Int, _ disturbance: CommitDisturbance) {
    guard let step = CommitStep(rawValue: step) else { return }
    add(step, disturbance)
  }

  /// Adds a pair.
  public mutating func add(_ step: CommitStep, _ disturbance: CommitDisturbance) {
    guard !has(step, disturbance) else { return }
    let known = (steps[disturbance.rawValue] ?? []) + [step.description]
    steps[disturbance.rawValue] = CommitStep.allCases.map(\.description).filter(known.contains)
  }

  /// Adds the pairs of another part.
  public mutating func add(_ other: CommitCoverage?) {
    guard let other else { return }
    for disturbance in CommitDisturbance.allCases {
      for step in CommitStep.allCases where other.has(step, disturbance) { add(step, disturbance) }
    }
  }

  /// Adds what rules did, each in the steps in which it hit.
  mutating func add(_ hits: [RuleHits], of rules: [FaultRule]) {
    for (hits, rule) in zip(hits, rules) {
      guard let disturbance = CommitDisturbance(rule.what) else { continue }
      for step in hits.hitsInSteps.keys { add(step, disturbance) }
    }
  }

  /// Adds the power cuts at crash points: each hits the steps that last over it.
  /// - Parameters:
  ///   - trace: The recorded run.
  ///   - isJudged: Whether a state of a crash point was judged.
  mutating func addCuts(of trace: Trace, at isJudged: (_ crashPoint: Int) -> Bool) {
    for (index, entry) in trace.steps.enumerated() {
      guard let step = entry.step else { continue }
      let next = trace.steps[(index + 1)...].first { $0.process == entry.process }
      let last = next?.position ?? trace.events.count
      if (entry.position...max(entry.position, last)).contains(where: isJudged) {
        add(step, .cut)
      }
    }
  }
}

/// The matrix over all scenarios of a run.
public struct CommitCoverageMatrix: Sendable {
  /// Pairs that cannot be met, each with the reason.
  public static let impossible: [(step: CommitStep, disturbance: CommitDisturbance, why: String)] =
    [
      (.moveOutOfTail, .noSpace, "it reads nodes and plans in memory; a read needs no space"),
      (.encodeTrees, .inputOutputError, "it works in memory and makes no call that could fail"),
      (.encodeTrees, .noSpace, "it works in memory and makes no call that could fail"),
      (.releaseOldTop, .noSpace, "it reads two nodes; a read needs no space"),
      (.encodeTop, .inputOutputError, "it works in memory and makes no call that could fail"),
      (.encodeTop, .noSpace, "it works in memory and makes no call that could fail"),
    ]

  private let covered: [CommitCoverage]

  /// Counts the cases of a run that were judged by promises, that is, not those that plant a bug.
  public init(_ report: RunReport) {
    covered = report.cases.compactMap { $0.isNegative ? nil : $0.commitCoverage }
  }

  /// Number of scenarios that met a pair.
  public func count(_ step: CommitStep, _ disturbance: CommitDisturbance) -> Int {
    covered.count { $0.has(step, disturbance) }
  }

  /// Why a pair cannot be met; nil when it can.
  public static func reason(_ step: CommitStep, _ disturbance: CommitDisturbance) -> String? {
    impossible.first { $0.step == step && $0.disturbance == disturbance }?.why
  }

  /// The pairs that can be met and were not.
  public var missing: [(step: CommitStep, disturbance: CommitDisturbance)] {
    CommitStep.allCases.flatMap { step in
      CommitDisturbance.allCases.compactMap { disturbance in
        let isOpen = count(step, disturbance) == 0 && Self.reason(step, disturbance) == nil
        return isOpen ? (step, disturbance) : nil
      }
    }
  }

  /// What stands in the matrix for a pair: a number, or `-` where nothing can be.
  func text(_ step: CommitStep, _ disturbance: CommitDisturbance) -> String {
    let count = count(step, disturbance)
    return count == 0 && Self.reason(step, disturbance) != nil ? "-" : "\(count)"
  }

  /// The matrix as lines of text.
  public var lines: [String] {
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
