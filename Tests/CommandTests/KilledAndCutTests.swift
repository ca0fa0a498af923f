// KilledAndCutTests.swift: power that fails in a run in which a process was killed.

import Foundation
import TestSupport
import Testing

@Suite(
  "kill and power cut in one run",
  .requires(.fuse))
struct KilledAndCutTests {
  /// The creator is killed before it syncs the folder; `fault` is what goes wrong besides.
  private func scenario(_ fault: String) -> String {
    """
    title: what others commit after a kill survives a cut
    schema: {Dog: {_id: int primary, age: int}}
    processes: {app: [ui], sync: [writer]}
    steps:
      - ui: open
      - writer: open
      - writer: {write: [{upsert: Dog, _id: 1..3, age: random}]}
    crash: {model: btrfs, explore: all, budget: {states: 1}}
    killSweep: {process: app, at: 11, side: before, crashStates: 200}
    \(fault)
    """
  }

  @Test("a right engine holds, and the killed run's states are counted")
  func holds() throws {
    let command = try FaultlineCommand()
    let path = try command.write(scenario(""), to: "right.yaml")
    let run = try command.run(["run", path, "--json", "report.json"])
    #expect(run.status == 0, "\(run.output)")
    let explorations = try #require(try command.report("report.json").cases.first?.explorations)
    #expect(explorations.map(\.model) == ["btrfs", "kill", "btrfs"])
    #expect(try #require(explorations.last).exploredCount > 20)
  }

  @Test("a folder that is never synced loses what others committed, and the token brings it back")
  func findsAndReplays() throws {
    let command = try FaultlineCommand()
    let path = try command.write(
      scenario("faults: [{on: syncDirectory, ignore: true}]"), to: "ignored.yaml")
    let run = try command.run(["run", path])
    #expect(run.status == 1, "\(run.output)")
    #expect(run.output.contains("there is no file"), "\(run.output)")
    let token = try #require(run.replayToken, "\(run.output)")
    let replay = try command.run(["replay", token, "--keep", "crashed"])
    #expect(replay.status == 1, "\(replay.output)")
    #expect(replay.output.contains("there is no file"), "\(replay.output)")
    #expect(replay.output.contains("verdict: broken, reproduced"))
    let steps = try command.run(["replay", token, "--step"])
    #expect(steps.output.contains("power fails after"), "\(steps.output)")
  }
}
