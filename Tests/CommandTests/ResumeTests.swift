// ResumeTests.swift: a run that was stopped or killed goes on where it was, and ends with the
// report that it would have had.

import Foundation
import TestSupport
import Testing

@Suite(
  "resume", .requires(.fuse))
struct ResumeTests {
  // Six files without a sync: some hundred states, of which many fail. Each check leaves a byte.
  private static func exploration(_ command: FaultlineCommand, seed: Int = 3) -> [String] {
    FaultlineCommand.exploration(
      workload: "for i in 1 2 3 4 5 6; do echo $i > file$i; echo $i; done",
      check: """
        printf x >> '\(command.directory.file("checks"))'
        sleep 0.01
        for i in $(cat "$FAULTLINE_OUTPUT"); do
          [ "$(cat file$i)" = $i ] || { echo "lost: file $i"; exit 1; }
        done
        """) + ["--seed", "\(seed)", "--budget", "150", "--jobs", "2", "--report", "out"]
  }

  private static func checks(_ command: FaultlineCommand) -> Int {
    (try? command.text("checks").utf8.count) ?? 0
  }

  /// The report without what depends on the clock, or on the directory that the commands name.
  private static func report(_ command: FaultlineCommand) throws -> [String] {
    try command.text("out/report.json").split(separator: "\n")
      .map { String($0).replacing(command.directory.path, with: "DIRECTORY") }
      .filter { !$0.contains("\"seconds\"") && !$0.contains("\"token\"") }
  }

  /// What a run gives that nobody stops: its report, and how often it asked.
  private static let whole = Result {
    let command = try FaultlineCommand()
    let result = try command.run(exploration(command))
    #expect(result.status == 1, "\(result.output)")
    let left = try FileManager.default.contentsOfDirectory(atPath: command.directory.file("out"))
    #expect(left.sorted() == ["report.html", "report.json", "report.sarif", "report.xml"])
    return (report: try report(command), checks: checks(command))
  }

  @Test("an exploration goes on", arguments: [SIGKILL, SIGINT])
  func explorations(signal: Int32) throws {
    let (expected, all) = try Self.whole.get()
    let command = try FaultlineCommand()
    let program = try command.start(Self.exploration(command))
    #expect(waitUntil(seconds: 120) { Self.checks(command) >= 40 })
    kill(program.process, signal)
    let stopped = program.wait()
    if signal == SIGINT {
      #expect(stopped.output.contains("to continue: the same command with --resume"))
    }
    let before = Self.checks(command)
    #expect(before < all)
    let result = try command.run(Self.exploration(command) + ["--resume"])
    #expect(result.status == 1, "\(result.output)")
    let line = try #require(result.lines.first { $0.hasPrefix("resuming: ") })
    let known = try #require(Int(line.split(separator: " ")[1]))
    #expect(known >= 30, "\(line)")
    // Nothing is judged twice but what was at hand when the signal came.
    #expect(Self.checks(command) - before <= all - known)
    #expect(try Self.report(command) == expected)
    let journal = command.directory.file("out/progress.journal")
    #expect(!FileManager.default.fileExists(atPath: journal))
  }

  /// Runs an exploration under a command before it, kills it, and runs the rest.
  private func resumed(
    after prefix: [String], _ command: FaultlineCommand, _ more: [String]
  ) throws -> CommandResult {
    let program = try RunningProgram(
      prefix + [FaultlineCommand.program] + Self.exploration(command) + more,
      in: command.directory.path)
    #expect(waitUntil(seconds: 120) { Self.checks(command) >= 40 })
    kill(program.process, SIGKILL)
    _ = program.wait()
    return try command.run(Self.exploration(command) + more + ["--resume"])
  }

  @Test("that seccomp(2) was refused holds for the run that goes on, too")
  func withoutSeccomp() throws {
    let command = try FaultlineCommand()
    let result = try resumed(
      after: [FaultlineCommand.folder.appending(path: "posix-cases").path, "--without-seccomp"],
      command, [])
    #expect(result.output.contains("resuming: "), "\(result.output)")
    #expect(result.status == 3 && !result.output.contains("FINDING"), "\(result.output)")
    #expect(result.output.contains("seccomp(2) is refused (Operation not permitted"))
  }

  @Test("what became of fault rules is in the report of the run that goes on")
  func rules() throws {
    let command = try FaultlineCommand()
    let more = ["--fault", "on: setTimes, error: EIO"]
    let result = try resumed(after: [], command, more)
    #expect(result.output.contains("resuming: "), "\(result.output)")
    #expect(result.output.contains("  rule 1 never matched"), "\(result.output)")
    #expect(try command.text("out/report.json").contains("\"matchCount\" : 0"))
  }

  @Test("a damaged journal counts as far as it is whole", arguments: [0, 30, 2_000, 4_000])
  func damage(offset: Int) throws {
    let (expected, _) = try Self.whole.get()
    let command = try FaultlineCommand()
    let program = try command.start(Self.exploration(command))
    #expect(waitUntil(seconds: 120) { Self.checks(command) >= 60 })
    kill(program.process, SIGKILL)
    _ = program.wait()
    let path = command.directory.file("out/progress.journal")
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    try #require(offset < bytes.count)
    bytes[offset] ^= 0x20
    try bytes.write(to: URL(fileURLWithPath: path))
    let result = try command.run(Self.exploration(command) + ["--resume"])
    #expect(result.status == 1, "\(result.output)")
    let word = offset < 100 ? "nothing to resume" : "resuming: "
    #expect(result.output.contains(word), "\(result.output)")
    #expect(try Self.report(command) == expected)
  }

  @Test("another run is refused, and nothing of the first one is lost")
  func otherRun() throws {
    let command = try FaultlineCommand()
    let program = try command.start(Self.exploration(command))
    #expect(waitUntil(seconds: 120) { Self.checks(command) >= 10 })
    kill(program.process, SIGKILL)
    _ = program.wait()
    let result = try command.run(Self.exploration(command, seed: 4) + ["--resume"])
    #expect(result.status == 2)
    #expect(result.output.contains("'seed=3' there, 'seed=4' now"), "\(result.output)")
    let again = try command.run(Self.exploration(command) + ["--resume"])
    #expect(again.output.contains("resuming: "), "\(again.output)")
    let alone = try command.run(Self.exploration(command).dropLast(2) + ["--resume"])
    #expect(alone.status == 2)
    #expect(alone.output.contains("needs --report DIR"), "\(alone.output)")
  }

  @Test("scenarios that are done are not run again")
  func scenarios() throws {
    let command = try FaultlineCommand()
    let folder = "\(FaultlineCommand.repository)/scenarios"
    let files = [
      "\(folder)/durability/reopen.yaml", "\(folder)/negative/second-sync-ignored.yaml",
      "\(folder)/durability/commits.yaml",
    ]
    let arguments = ["run"] + files + ["--budget", "150", "--report", "out"]
    #expect(try command.run(arguments).status == 0)
    let expected = try Self.report(command)
    let program = try command.start(arguments)
    let path = command.directory.file("out/progress.journal")
    #expect(
      waitUntil(seconds: 120) {
        (try? command.text("out/progress.journal").contains("reopen.yaml")) == true
      }, "\(path)")
    kill(program.process, SIGKILL)
    _ = program.wait()
    let result = try command.run(arguments + ["--resume"])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("resuming: "), "\(result.output)")
    #expect(try Self.report(command) == expected)
  }
}
