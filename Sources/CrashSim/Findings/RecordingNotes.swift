// RecordingNotes.swift: information about a recording besides its trace. It determines which
// findings may be made of it and is part of the report, so a resumed run needs it, too.

/// Information about a recording besides its trace.
package struct RecordingNotes: Codable, Sendable, Hashable {
  /// The fault rules that were in force, and their effect.
  package var rules: [RuleOutcome] = []
  /// How the workload ended, if it failed, as it may under faults; lines for display.
  package var ending: [String] = []
  /// Why sync(2) and syncfs(2) of the workload were not intercepted (an errno); 0 if they were.
  package var syncsError: Int32 = 0
  /// Modes of fallocate(2) that the workload was refused because its files were on a FUSE mount.
  package var refusedModes: Int32 = 0
  /// How many processes the workload left running.
  package var strayCount = 0
  /// Failed `faultline` commands that the program ran.
  package var ownFailures: [String] = []

  /// No notes.
  package init() {}

  /// The lines that the console prints after a recording.
  package var lines: [String] { RuleOutcome.lines(of: rules) + ending }
}
