// DeterminismTests.swift: the same command says the same, whatever random bytes the program writes.

import Foundation
import TestSupport
import Testing

@Suite(
  "explore: determinism",
  .requires(.fuse))
struct DeterminismTests {
  /// Keys whose values depend on the clock, or are random bytes that the program wrote.
  private static let differing = ["seconds", "bytesIssued", "bytesSurvived", "differingAt"]

  /// The report without what depends on the clock.
  private func timeless(_ command: FaultlineCommand, _ name: String) throws -> [String] {
    try command.text(name)
      // git names its temporary files at random, and the report names files, in root causes with
      // runs of digits as one N.
      .replacing(/tmp_obj_[A-Za-z0-9]{1,6}/, with: "tmp_obj_")
      .split(separator: "\n").map(String.init)
      .filter { line in !Self.differing.contains { line.contains("\"\($0)\"") } }
  }

  private func expectSame(_ arguments: [String], status: Int32) throws {
    let command = try FaultlineCommand()
    var reports: [[String]] = []
    // The second run has one checker only: their number must not show either.
    for jobs in ["2", "1"] {
      let file = "r\(jobs).json"
      let result = try command.run(arguments + ["--json", file, "--jobs", jobs])
      #expect(result.status == status, "\(result.output)")
      reports.append(try timeless(command, file))
    }
    let difference = zip(reports[0], reports[1]).first { $0 != $1 }
    #expect(reports[0] == reports[1], "first difference: \(String(describing: difference))")
  }

  @Test(
    "SQLite, whose journals hold random bytes",
    .requires(.sqlite3),
    arguments: ["DELETE OFF", "DELETE FULL", "WAL NORMAL"])
  func sqlite(mode: String) throws {
    let journal = String(mode.prefix { $0 != " " })
    let arguments = FaultlineCommand.example(
      "sqlite", setup: journal, workload: "\(mode) 3")
    try expectSame(arguments + ["--budget", "50"], status: 1)
  }

  @Test(
    "git, whose temporary files have random names",
    .requires(.git))
  func git() throws {
    try expectSame(FaultlineCommand.example("git") + ["--budget", "25"], status: 1)
  }

  @Test("a small program under all models")
  func small() throws {
    let arguments = FaultlineCommand.example("safe-replace", workload: "none")
    try expectSame(arguments + ["--model", "all", "--budget", "30"], status: 1)
  }

  @Test("a scenario with a planted bug")
  func scenario() throws {
    let path = "\(FaultlineCommand.repository)/scenarios/negative/first-sync-ignored.yaml"
    try expectSame(["run", path, "--budget", "60"], status: 0)
  }
}
