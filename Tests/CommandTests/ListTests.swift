// ListTests.swift: what runs is listed, explained and chosen before anything runs.

import Foundation
import TestSupport
import Testing

@Suite("list")
struct ListTests {
  private static let scenarios = "\(FaultlineCommand.repository)/scenarios"

  private func write(_ command: FaultlineCommand) throws {
    for (name, tags) in [("one", "[slow]"), ("two", "[slow, late]"), ("three", "quick")] {
      _ = try command.write(
        """
        title: Number \(name)
        schema: {Dog: {_id: int primary}}
        processes: {app: [ui]}
        tags: \(tags)
        steps:
          - ui: open
          - ui: {write: [{insert: Dog, _id: sequence}]}
        """, to: "\(name).yaml")
    }
  }

  @Test("names, tags and titles, one a line, in the order of the run")
  func list() throws {
    let command = try FaultlineCommand()
    try write(command)
    let result = try command.run(["run", ".", "--list"])
    #expect(result.status == 0, "\(result.output)")
    #expect(
      result.lines == [
        "./one.yaml  [slow]  Number one", "./three.yaml  [quick]  Number three",
        "./two.yaml  [slow, late]  Number two",
      ])
    let chosen = try command.run(["run", ".", "--list", "--tag", "slow", "--without-tag", "late"])
    #expect(chosen.lines == ["./one.yaml  [slow]  Number one"])
    let filtered = try command.run(["run", ".", "--list", "--filter", "t*.yaml"])
    #expect(filtered.lines.count == 2)
  }

  @Test("the list as JSON, to the console and to a file")
  func json() throws {
    let command = try FaultlineCommand()
    let result = try command.run(["run", Self.scenarios, "--list", "--json", "-"])
    let parsed = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
    let entries = try #require(parsed?["scenarios"] as? [[String: Any]])
    #expect(entries.count >= 50 && parsed?["formatVersion"] as? Int == 2)
    #expect(entries.contains { $0["disturbances"] as? [String] == ["killSweep"] })
    let toFile = try command.run(["run", Self.scenarios, "--list", "--json", "l.json"])
    #expect(toFile.status == 0 && toFile.output.isEmpty)
    #expect(try command.text("l.json") == result.output)
  }

  @Test("a dry run explains, and mounts and runs nothing")
  func dryRun() throws {
    let command = try FaultlineCommand()
    try write(command)
    let result = try command.run(["run", ".", "--dry-run", "--filter", "two"])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.lines.first == "./two.yaml  Number two")
    #expect(result.lines.last == "nothing was run")
    #expect(result.output.contains("1. line 6, ui: open the database"), "\(result.output)")
    // A run would need a backend; this one cannot be had, and is not asked for.
    let undoable = try command.run(
      ["run", ".", "--dry-run"], environment: ["TMPDIR": "/nowhere/at/all"])
    #expect(undoable.status == 0, "\(undoable.output)")
  }

  @Test(
    "what does not go together is refused",
    arguments: [
      (["--list", "--dry-run"], "drop one"), (["--list", "--junit", "x"], "leave --junit out"),
      (["--dry-run", "--sarif", "x"], "leave --sarif out"),
      (["--dry-run", "--json", "x"], "--list has a --json form"),
      (["--list", "--tag", "slo"], "nearest is 'slow'"), (["--filter", "zzz"], "fits none of 3"),
      (["--list", "--json", "no/such/place"], "make the directory first"),
    ])
  func refused(arguments: [String], message: String) throws {
    let command = try FaultlineCommand()
    try write(command)
    let result = try command.run(["run", "."] + arguments)
    #expect(result.status == 2, "\(result.output)")
    #expect(result.output.contains(message), "\(result.output)")
  }

  @Test("a reader that goes away ends the command quietly")
  func closedPipe() throws {
    let command = try FaultlineCommand()
    // More than a pipe holds, so that the writer meets the closed end.
    for number in 0..<500 {
      _ = try command.write(
        """
        title: \(String(repeating: "A long title ", count: 12))
        schema: {Dog: {_id: int primary}}
        processes: {app: [ui]}
        steps: [{ui: open}]
        """, to: "\(number).yaml")
    }
    let shell = "{ '\(FaultlineCommand.program)' run . --list; echo status $? >&2; } | head -1"
    let result = try runShell(shell, in: command.directory.path)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 2, "\(result.output.suffix(2000))")
    #expect(lines.contains("status 0"), "\(lines)")
    let full = try runShell(
      "'\(FaultlineCommand.program)' run . --list > /dev/full", in: command.directory.path)
    #expect(full.output.contains("cannot write to standard output: No space"), "\(full.output)")
  }

  @Test(
    "a run whose reader goes away stops, unmounts and says nothing",
    .requires(.fuse))
  func closedPipeOfRun() throws {
    let command = try FaultlineCommand()
    let program = FaultlineCommand.program
    let shell =
      "{ '\(program)' run '\(Self.scenarios)/durability' --budget 100 --json r.json; "
      + "echo status $? >&2; } | head -1"
    let result = try runShell(shell, in: command.directory.path)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 2 && lines.contains("status 130"), "\(result.output.suffix(2000))")
    #expect(try command.report("r.json").isInterrupted)
  }

  @Test(
    "a run writes SARIF, times and the chosen scenarios only",
    .requires(.fuse))
  func run() throws {
    let command = try FaultlineCommand()
    try write(command)
    let result = try command.run([
      "run", ".", "--tag", "slow", "--report", "out", "--sarif", "s.sarif",
    ])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("scenarios=2 of 3"), "\(result.output)")
    #expect(result.hasLine("time by scenario, slowest first: "), "\(result.output)")
    let report = try command.report("out/report.json")
    #expect(report.cases.map(\.name) == ["./one.yaml", "./two.yaml"])
    #expect(report.cases.allSatisfy { ($0.seconds ?? 0) > 0 })
    #expect(try command.text("s.sarif") == command.text("out/report.sarif"))
    #expect(try command.text("s.sarif").contains("\"version\" : \"2.1.0\""))
  }
}
