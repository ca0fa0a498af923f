// CoverageTests.swift: the matrix of commit steps has exactly the pairs that a run brings about.

import Engine
import Foundation
import TestSupport
import Testing

@Suite(
  "coverage",
  .requires(.fuse))
struct CoverageTests {
  private static let head = """
    title: Two commits
    schema: {Dog: {_id: int primary, name: string}}
    processes: {app: [ui], late: [third]}
    steps:
      - ui: open
      - ui: {repeat: 2, write: [{upsert: Dog, _id: 1..9, name: random}]}
      - third: open
      - third: {write: [{upsert: Dog, _id: 1..9, name: random}]}

    """
  /// The steps of a commit that neither grows the file nor has anything to clear or move.
  private static let plain = [
    "encode trees", "release old top", "encode top", "write nodes", "sync nodes",
    "write root slot", "sync root slot",
  ]

  /// A commit that fails, and its handle closed.
  private static let refused =
    "{write: [{upsert: Dog, _id: 1..9, name: random}], fails: io}\n  - ui: close"

  /// The steps that a scenario's disturbances met.
  private func met(
    _ end: String, change: (String) -> String = { $0 }
  ) throws -> [String: [String]] {
    let command = try FaultlineCommand()
    let path = try command.write(change(Self.head) + end, to: "s.yaml")
    let result = try command.run(["run", path, "--json", "r.json", "--coverage"])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.hasLine("steps of the engine's commits and what hit them"))
    return try command.report("r.json").cases[0].commitCoverage?.steps ?? [:]
  }

  @Test("kills before each step meet each step, and kills between commands meet none")
  func kills() throws {
    let steps = try met("killSweep: {process: app, at: every commit step}\n")
    #expect(steps == ["kill": steps["kill"] ?? []])
    #expect(Set(Self.plain).isSubset(of: steps["kill"] ?? []), "\(steps)")
    let commands = try met("killSweep: {process: app, at: every command}\n")
    #expect(commands.isEmpty, "\(commands)")
    let syncs = try met("killSweep: {process: app, at: every sync, side: after}\n")
    #expect(syncs == ["kill": ["sync nodes", "sync root slot"]], "\(syncs)")
  }

  @Test("power cuts meet the steps of the commits that were recorded")
  func cuts() throws {
    let steps = try met("crash: {model: posix, explore: all, budget: {states: 2000}}\n")
    #expect(Set(Self.plain).isSubset(of: steps["cut"] ?? []), "\(steps)")
    #expect(steps.keys.sorted() == ["cut"] && steps["cut"]?.contains("give tail back") == false)
  }

  @Test("failing operations meet the steps that ask for them")
  func failures() throws {
    let syncs = try met("sweep: {on: sync, file: data.realm, error: EIO}\n")
    #expect(syncs == ["EIO": ["sync nodes", "sync root slot"]], "\(syncs)")
    let writes = try met("sweep: {on: write, file: data.realm, error: ENOSPC}\n")
    #expect(writes == ["ENOSPC": ["write nodes", "write root slot"]], "\(writes)")
    let names = try met("sweep: {on: rename, error: EIO}\n")
    #expect(names.isEmpty, "\(names)")
    let fault = try met("faults: [{on: sync, ofCommit: 2, commit: 1, error: EIO}]\n") {
      $0.replacing(
        "{repeat: 2, write: [{upsert: Dog, _id: 1..9, name: random}]}", with: Self.refused)
    }
    #expect(fault == ["EIO": ["sync root slot"]], "\(fault)")
  }

  @Test("a fault during a step hits that step alone", arguments: ["write nodes", "sync root slot"])
  func during(step: String) throws {
    let scope = "after: \"begin 1\", until: failed"
    let fault = try met(
      "faults: [{on: [write, sync], during: \(step), \(scope), error: EIO}]\n"
    ) {
      $0.replacing(
        "{repeat: 2, write: [{upsert: Dog, _id: 1..9, name: random}]}", with: Self.refused)
    }
    #expect(fault == ["EIO": [step]], "\(fault)")
  }

  @Test("without a mount there are cuts and failures in the recording, and no more")
  func inProcess() throws {
    let command = try FaultlineCommand()
    let path = try command.write(
      Self.head.replacing(", late: [third]", with: "").replacing("third", with: "ui")
        .replacing("  - ui: open\n  - ui: {write", with: "  - ui: {write")
        + "crash: {model: posix, explore: all, budget: {states: 2000}}\n", to: "s.yaml")
    let result = try command.run(["run", path, "--json", "r.json", "--backend", "in-process"])
    #expect(result.status == 0, "\(result.output)")
    let steps = try command.report("r.json").cases[0].commitCoverage?.steps ?? [:]
    #expect(Set(Self.plain).isSubset(of: steps["cut"] ?? []), "\(steps)")
  }
}
