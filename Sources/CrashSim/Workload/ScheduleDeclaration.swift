// ScheduleDeclaration.swift: which schedules of its concurrent steps a scenario asks for.

/// Which schedules are run.
package enum DeclaredStrategy: String, Codable, Sendable, Hashable, CaseIterable {
  /// One schedule, as a person wrote it.
  case scripted
  /// Anybody at each point.
  case random
  /// Priorities that change at drawn points.
  case pct
  /// All within a bound of preemptions.
  case exhaustive
}

/// The points of a schedule.
package enum DeclaredPoints: String, Codable, Sendable, Hashable, CaseIterable {
  /// Steps of commits, of pins and of the queue of writers.
  case steps
  /// Those, and each access to a word that handles of all processes share.
  case shared
}

/// The schedules that a scenario asks for.
package struct ScheduleDeclaration: Codable, Sendable, Hashable {
  /// Which.
  package var strategy = DeclaredStrategy.pct
  /// Depth of bugs that `pct` looks for: one more than the preemptions that they need.
  package var depth = 3
  /// Most preemptions of an `exhaustive` search.
  package var preemptions = 2
  /// Most schedules.
  package var runs = 300
  /// Before what the scheduler decides who goes on.
  package var points = DeclaredPoints.steps
  /// The lines of a script, for `scripted`.
  package var script: [String] = []

  /// Most of each.
  package static let depthMax = 8
  package static let preemptionsMax = 8
  package static let runsMax = 1_000_000
  package static let scriptLinesMax = 10_000

  /// 300 schedules by priorities with two changes.
  package init() {}

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
