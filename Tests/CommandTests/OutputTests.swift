// OutputTests.swift: live on a terminal, plain elsewhere, and in the form that GitHub understands.

import Foundation
import TestSupport
import Testing

@Suite(
  "output",
  .requires(.fuse))
struct OutputTests {
  private static let workload = "echo hello > file; echo saved"
  private static let check =
    "grep -q saved \"$FAULTLINE_OUTPUT\" && ! grep -q hello file && { echo lost: it; exit 1; }; :"

  /// Runs an exploration on a terminal of its own.
  private func onTerminal(_ environment: String) throws -> String {
    let command = try FaultlineCommand()
    let script = try command.write(
      """
      exec '\(FaultlineCommand.program)' explore --workload '\(Self.workload)' \\
        --check '\(Self.check)'
      """, to: "run.sh")
    let result = try runShell(
      "env -u CI -u NO_COLOR -u GITHUB_ACTIONS \(environment) script -qec 'sh \(script)' /dev/null",
      in: command.directory.path)
    return result.output
  }

  @Test("a terminal gets progress and colour", .requires(.script))
  func terminal() throws {
    let output = try onTerminal("TERM=xterm")
    #expect(output.contains("\u{1B}[2Krecording"), "\(output)")
    #expect(output.contains("states, "), "\(output)")
    #expect(output.contains("\u{1B}[31m"), "\(output)")
  }

  @Test("NO_COLOR takes the colour and leaves the progress", .requires(.script))
  func noColor() throws {
    let output = try onTerminal("TERM=xterm NO_COLOR=1")
    #expect(!output.contains("\u{1B}[31m") && !output.contains("\u{1B}[1m"), "\(output)")
    #expect(output.contains("recording"))
  }

  @Test(
    "a dumb terminal and CI get plain lines", .requires(.script),
    arguments: ["TERM=dumb", "TERM=xterm CI=true"])
  func plainTerminal(environment: String) throws {
    let output = try onTerminal(environment)
    #expect(!output.contains("\u{1B}"), "\(output)")
    #expect(output.contains("verdict: broken, 1 finding"))
  }

  @Test("a pipe gets plain lines")
  func pipe() throws {
    let result = try FaultlineCommand().explore(workload: Self.workload, check: Self.check)
    #expect(result.status == 1)
    #expect(!result.output.contains("\u{1B}"))
    #expect(!result.output.contains("recording"))
    #expect(!result.output.contains("::error"))
  }

  @Test("GitHub gets one annotation for each finding, in one line")
  func gitHub() throws {
    let command = try FaultlineCommand()
    let result = try command.run(
      FaultlineCommand.exploration(
        workload: Self.workload, check: Self.check.replacing("lost: it", with: "lost: 100%")),
      environment: ["GITHUB_ACTIONS": "true"])
    #expect(result.status == 1, "\(result.output)")
    let annotations = result.lines.filter { $0.hasPrefix("::error") }
    #expect(annotations.count == 1, "\(result.output)")
    #expect(annotations.first?.contains("lost: 100%25") == true, "\(annotations)")
    #expect(result.lines.last?.hasPrefix("replay: ") == true)
  }

  @Test("GitHub is told of a planted bug that was not found")
  func gitHubNegative() throws {
    let command = try FaultlineCommand()
    let path = try command.write(
      """
      title: Nothing is planted
      schema: {Dog: {_id: int primary}}
      processes: {app: [ui]}
      steps:
        - ui: open
        - ui: {write: [{insert: Dog, _id: sequence}]}
      crash: {model: strict, explore: all}
      negative: {expect: [durability], because: nothing was planted}
      """, to: "s.yaml")
    let result = try command.run(["run", path], environment: ["GITHUB_ACTIONS": "true"])
    #expect(result.status == 1, "\(result.output)")
    #expect(result.lines.contains { $0.hasPrefix("::error file=") && $0.contains("s.yaml") })
  }
}
