// ReadmeSamples.swift: the code of README.md that explores a program.

import CrashStates
import Exploration
import Findings
import LabCore
import TestSupport
import Testing

@Suite("samples of the README: exploration", .requires(.fuse))
struct ReadmeSamples {
  @Test("the explorer as a library finds the file that was never synced")
  func explorer() throws {
    // sample: explorer
    let program = ProgramUnderTest(
      workload: "echo new > config.new && mv config.new config",
      check: "grep -qx -e old -e new config", setup: "echo old > config && sync")
    var settings = ExplorationSettings()
    settings.models = [.posix]
    let explorer = try ProgramExplorer(
      program: program, settings: settings, keepingTrace: nil, console: .silent)
    for finding in try explorer.explore().findings { print(finding.headline) }
    // end
    #expect(try explorer.explore().findings.isEmpty == false)
  }
}
