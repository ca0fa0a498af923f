// ExplorationOnly.swift: explores two programs as `faultline explore` does, from a program of its
// own: one renames a file that it never synced over the good one, the other syncs it first.

import CrashStates
import Exploration
import Findings
import LabCore

@main
struct ExplorationOnly {
  /// The findings that the checker makes of a replaced file, whose new content is synced or not.
  static func findings(isSynced: Bool) throws(LabError) -> [Finding] {
    let sync = isSynced ? "sync config.new && " : ""
    let program = ProgramUnderTest(
      workload: "echo new > config.new && \(sync)mv config.new config",
      check: "grep -qx -e old -e new config", setup: "echo old > config && sync")
    var settings = ExplorationSettings()
    settings.models = [.posix]
    let explorer = try ProgramExplorer(
      program: program, settings: settings, keepingTrace: nil, console: .silent)
    return try explorer.explore().findings
  }

  static func main() throws {
    let (without, with) = (try findings(isSynced: false), try findings(isSynced: true))
    print("without a sync: \(without.first?.headline ?? "held")")
    print("with a sync: \(with.first?.headline ?? "held")")
    precondition(!without.isEmpty && with.isEmpty)
  }
}
