// ScheduleDeclaration.swift: the schedules of concurrent steps that a scenario requests.

/// The strategy for choosing schedules.
package enum DeclaredStrategy: String, Codable, Sendable, Hashable, CaseIterable {
  /// One schedule, written by the user.
  case scripted
  /// A random actor at each point.
  case random
  /// Priorities that change at drawn points.
  case pct
  /// All schedules within a limit of preemptions.
  case exhaustive
}

/// The points of a schedule.
package enum DeclaredPoints: String, Codable, Sendable, Hashable, CaseIterable {
  /// Steps of commits, of pins and of the queue of writers.
  case steps
  /// The same, and each access to a word shared by handles of all processes.
  case shared
}

/// The schedules that a scenario requests.
package struct ScheduleDeclaration: Codable, Sendable, Hashable {
  /// The strategy.
  package var strategy = DeclaredStrategy.pct
  /// Depth of bugs that `pct` looks for: one more than the preemptions that they need.
  package var depth = 3
  /// Most preemptions of an `exhaustive` search.
  package var preemptions = 2
  /// Most schedules.
  package var runs = 300
  /// The points at which the scheduler chooses the next actor.
  package var points = DeclaredPoints.steps
  /// The lines of a script, for `scripted`.
  package var script: [String] = []

  /// The maximum of each.
  package static let depthMax = 8
  package static let preemptionsMax = 8
  package static let runsMax = 1_000_000
  package static let scriptLinesMax = 10_000

  /// 300 schedules by priorities with two changes.
  package init() {}

  /// Its name in reports, for example `schedule pct depth 3`.
  package var name: String {
    switch strategy {
    case .scripted: "schedule scripted"
    case .random: "schedule random"
    case .pct: "schedule pct depth \(depth)"
    case .exhaustive: "schedule exhaustive preemptions \(preemptions)"
    }
  }
}
