// ReadmeSamples.swift: what a newcomer does with README.md: its commands run as they stand, and its
// code that explores a program finds what it is there to find.

import CrashStates
import Exploration
import Findings
import Foundation
import LabCore
import TestSupport
import Testing

@Suite("README", .requires(.fuse))
struct ReadmeSamples {
  /// The commands below a comment `run: NAME` of the README.
  private static func commands(_ name: String) throws -> String {
    let text = try String(
      contentsOfFile: FaultlineCommand.repository + "/README.md", encoding: .utf8)
    let parts = text.components(separatedBy: "<!-- run: \(name) -->\n```sh\n")
    try #require(parts.count == 2, "README.md has one block 'run: \(name)'")
    return try #require(parts[1].components(separatedBy: "\n```\n").first)
  }

  @Test("the example loses its settings, and holds with the two syncs")
  func example() throws {
    // The program is elsewhere in a debug build.
    let folder = FaultlineCommand.folder.path
    let broken = try Self.commands("broken").replacing("$PWD/.build/release", with: folder)
    let directory = try TemporaryDirectory()
    let script = """
      export TMPDIR='\(directory.path)'
      \(broken)
      echo "status $?"
      \(try Self.commands("held"))
      echo "status $?"
      """
    let clean = ["/usr/bin/env", "-u", "CI", "-u", "GITHUB_ACTIONS"]
    let result = try RunningProgram(clean + ["/bin/sh", "-c", script], in: directory.path).wait()
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.contains("FINDING 1: saved, but the old settings are back"), "\(result.output)")
    #expect(lines.contains("  lost       #3 rename of 'settings.tmp' over 'settings'"))
    #expect(lines.contains("verdict: broken, 1 finding") && lines.contains("status 1"))
    #expect(lines.suffix(2) == ["verdict: held, 0 findings", "status 0"], "\(result.output)")
  }

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
