// RecordingNotes.swift: what is known of a recording besides its trace. It decides what findings
// may be made of it and is part of the report, so a resumed run needs it, too.

/// What is known of a recording besides its trace.
package struct RecordingNotes: Codable, Sendable, Hashable {
  /// The fault rules that were in force, and what became of them.
  package var rules: [RuleOutcome] = []
  /// How the workload ended, if it failed as it may under faults, in lines for a person.
  package var ending: [String] = []
  /// Why sync(2) and syncfs(2) of the workload were not seen (an errno); 0 when they were.
  package var syncsError: Int32 = 0
  /// How many processes the workload left running.
  package var strayCount = 0
  /// What the program's use of the lab's own commands was to do, and did not.
  package var ownFailures: [String] = []

  /// Nothing to say.
  package init() {}

  /// What the console prints behind a recording.
  package var lines: [String] { RuleOutcome.lines(of: rules) + ending }
}
