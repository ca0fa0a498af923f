// ScheduleDeclaration.swift: which schedules of its concurrent steps a scenario asks for.

/// Which schedules are run.
public enum DeclaredStrategy: String, Codable, Sendable, Hashable, CaseIterable {
  /// One schedule, as a person wrote it.
  case scripted
  /// Anybody at each point.
  case random
  /// Priorities that change at drawn points.
  case pct
  /// All within a bound of preemptions.
  case exhaustive
}

/// The schedules that a scenario asks for.
public struct ScheduleDeclaration: Codable, Sendable, Hashable {
  /// Which.
  public var strategy = DeclaredStrategy.pct
  /// Depth of bugs that `pct` looks for: one more than the preemptions that they need.
  public var depth = 3
  /// Most preemptions of an `exhaustive` search.
  public var preemptions = 2
  /// Most schedules.
  public var runs = 300
  /// The lines of a script, for `scripted`.
  public var script: [String] = []

  /// Most of each.
  package static let depthMax = 8
  package static let preemptionsMax = 8
  package static let runsMax = 1_000_000
  package static let scriptLinesMax = 10_000

  /// 300 schedules by priorities with two changes.
  public init() {}

  /// What reports call it, for example `schedule pct depth 3`.
  package var name: String {
    switch strategy {
    case .scripted: "schedule scripted"
    case .random: "schedule random"
    case .pct: "schedule pct depth \(depth)"
    case .exhaustive: "schedule exhaustive preemptions \(preemptions)"
    }
  }
}
