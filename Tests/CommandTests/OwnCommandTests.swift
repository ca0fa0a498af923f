// OwnCommandTests.swift: a program under test that calls `faultline fault` and goes on when that
// fails: the run says so, and only then.

import Foundation
import TestSupport
import Testing

@Suite("a program's own lab commands", .requires(.fuse))
struct OwnCommandTests {
  private static let faultline = "'\(FaultlineCommand.program)'"

  private func explore(_ workload: String, _ more: [String] = []) throws -> CommandResult {
    try FaultlineCommand().explore(
      workload: "echo a > t; sync t; \(workload) echo saved", check: "true",
      ["--budget", "5"] + more)
  }

  @Test(
    "a rule or mark that was refused is said, though the workload exits with 0",
    arguments: [
      ("fault add \"$FAULTLINE_DIR\" 'on: sync, error: EIO'", "no control socket"),
      ("fault add \"$FAULTLINE_DIR\" 'on: sync, eror: EIO'", "has one effect"),
      ("fault mark \"$FAULTLINE_DIR\" 'phase two'", "no control socket"),
      ("fault clear /nowhere", "no faulty file system is mounted"),
      ("fault ad \"$FAULTLINE_DIR\"", "fault ad"),
    ])
  func failed(command: String, cause: String) throws {
    let result = try explore("\(Self.faultline) \(command) 2> /dev/null;")
    #expect(result.status == 0, "\(result.output)")
    let words = command.split(separator: " ").prefix(2).joined(separator: " ")
    let said = "  skipped: what the program's own 'faultline \(words)' was to do: it failed ("
    let line = try #require(result.lines.first { $0.hasPrefix(said) }, "\(result.output)")
    #expect(line.contains(cause))
    #expect(result.output.contains("1 part skipped"))
  }

  @Test(
    "questions, what was done in the end, and other programs' words are no failure",
    arguments: [
      "\(faultline) fault list \"$FAULTLINE_DIR\";",
      "\(faultline) inspect nothing;", "\(faultline) fault --help;",
      "echo 'faultline: fault add failed' >&2;",
    ])
  func fine(workload: String) throws {
    let result = try explore(workload)
    #expect(result.status == 0 && !result.output.contains("skipped"), "\(result.output)")
  }

  @Test("a command that is tried until it works has worked")
  func retried() throws {
    let command = try FaultlineCommand()
    let place = command.directory.file("mnt")
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    let add = "\(Self.faultline) fault add '\(place)' 'on: sync, file: no, error: EIO'"
    let result = try command.explore(
      workload: """
        \(add) 2> /dev/null && exit 9
        \(Self.faultline) mount '\(place)' > /dev/null 2>&1 &
        until \(add) > /dev/null 2>&1; do sleep 0.1; done
        kill $!; wait; echo a > t; echo saved
        """, check: "true", ["--budget", "5"])
    #expect(result.status == 0 && !result.output.contains("skipped"), "\(result.output)")
  }

  @Test("certify, stress and an exploration of the medium say it, too")
  func others() throws {
    let command = try FaultlineCommand()
    let add = "\(Self.faultline) fault add . 'on: sync, error: EIO' 2> /dev/null"
    let program = ["--workload", "echo a > t; \(add); echo saved", "--check", "true"]
    let damaged = try command.run(["explore", "--media", "bitFlip"] + program)
    #expect(damaged.hasLine("  skipped: what the program's own 'faultline fault add'"))
    let certified = try command.run(["certify"] + program + ["--json", "c.json"])
    #expect(certified.hasLine("  skipped: what the program's own 'faultline fault add'"))
    #expect(try command.text("c.json").contains("fault add"), "\(certified.output)")
    let stressed = try command.run(["stress", "--cuts", "2"] + program)
    #expect(stressed.hasLine("  skipped: what the program's own 'faultline fault add'"))
  }
}
