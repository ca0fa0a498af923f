// ScenarioProgramTests.swift: scenarios as programs: under power cuts one after the other, on real
// file systems, and with mapped pages written back.

import Foundation
import Scenarios
import TestSupport
import Testing

@Suite(
  "scenarios as programs",
  .requires(.fuse), .serialized)
struct ScenarioProgramTests {
  private static func scenario(_ name: String) -> String {
    "\(FaultlineCommand.repository)/scenarios/\(name).yaml"
  }

  @Test("stress SCENARIO: each round says what is drawn around it, and a right engine holds")
  func stress() throws {
    let command = try FaultlineCommand()
    let result = try command.run([
      "stress", Self.scenario("durability/commits"), "--cuts", "12", "--json", "r.json",
    ])
    #expect(result.status == 0, "\(result.output)")
    #expect(
      result.hasLine("options from round 0: kills=2 within=40 model=strict"), "\(result.output)")
    #expect(result.hasLine("options from round 11: kills="), "\(result.output)")
    let item = try #require(try command.report("r.json").cases.first)
    #expect(item.findings.isEmpty && item.complaints.isEmpty)
    let exploration = try #require(item.explorations.first)
    #expect(exploration.exploredCount == 12 && exploration.markCount > 20)
  }

  @Test("stress SCENARIO finds a planted bug, and its token brings it back")
  func plantedBug() throws {
    let command = try FaultlineCommand()
    let result = try command.run([
      "stress", Self.scenario("negative/second-sync-ignored"), "--cuts", "40", "--fail-fast",
      "--no-thinning", "--kills", "0", "--json", "r.json",
    ])
    #expect(result.status == 1, "\(result.output)")
    let finding = try #require(try command.report("r.json").cases.first?.findings.first)
    #expect(finding.headline.hasPrefix("durability: "), "\(finding.headline)")
    let replayed = try command.run(["replay", finding.token])
    #expect(replayed.status == 1, "\(replayed.output)")
    #expect(replayed.hasLine("verdict: broken, reproduced"), "\(replayed.output)")
  }

  @Test("steps that cannot go on after a failure meet none, and are not asked to")
  func noFailures() throws {
    let command = try FaultlineCommand()
    // Its updates name rows that an earlier transaction has to have written.
    let path = Self.scenario("atomicity/index-of-many-pairs")
    let loaded = try ScenarioRunner.load([path])[0]
    #expect(!loaded.goesOnAfterFailures)
    #expect(
      try ScenarioRunner.load([Self.scenario("disk-faults/failing-syncs")])[0]
        .goesOnAfterFailures)
    let result = try command.run(["stress", path, "--cuts", "4", "--seed", "1"])
    #expect(result.status == 0, "\(result.output)")
    for name in ["write-error", "sync-error", "full-disk"] {
      #expect(!result.output.contains(name), "\(result.output)")
    }
    let refused = try command.run(["stress", path, "--faults", "on: sync, nth: 1, error: EIO"])
    #expect(refused.status == 2 && refused.output.contains("do not continue after a failure"))
  }

  @Test(
    "what cannot be such a program is refused",
    arguments: [
      (["--workload", "true", "--check", "true"], "cannot be combined with"),
      (["--no-swarm"], "cannot be combined with"),
    ])
  func refused(more: [String], words: String) throws {
    let path = Self.scenario("durability/commits")
    let result = try FaultlineCommand().run(["stress", path] + more)
    #expect(result.status == 2 && result.output.contains(words), "\(result.output)")
  }

  @Test(
    "scenarios that are no program are refused",
    arguments: ["processes/database-removed", "isolation/grouped-writers"])
  func noProgram(name: String) throws {
    let path = Self.scenario(name)
    try #require(FileManager.default.fileExists(atPath: path), "\(path)")
    let result = try FaultlineCommand().run(["stress", path])
    #expect(result.status == 2 && result.output.contains("use faultline run"), "\(result.output)")
  }

  @Test("writeBack: is in the recording, and every run of the same seed records the same")
  func writeBack() throws {
    let command = try FaultlineCommand()
    let path = Self.scenario("durability/written-back")
    var shapes: Set<String> = []
    for _ in 0..<2 {
      let result = try command.run(["run", path, "--budget", "60", "--json", "r.json"])
      #expect(result.status == 0, "\(result.output)")
      let item = try #require(try command.report("r.json").cases.first)
      shapes.insert(
        item.explorations.map { "\($0.operationCount) \($0.distinctCount)" }.description)
    }
    #expect(shapes.count == 1, "\(shapes)")
    let skipped = try command.run(["run", path, "--backend", "in-process"])
    #expect(skipped.output.contains("a FUSE mount"), "\(skipped.output)")
  }
}

@Suite(
  "scenarios on real file systems", .serialized,
  .requires(.ext4))
struct ScenarioSystemTests {
  @Test("on: the engine's promises hold on ext4, and barriers that are missing are found")
  func ext4() throws {
    let command = try FaultlineCommand()
    let text = """
      title: commits
      schema: {Dog: {_id: int primary, age: int}}
      processes: {app: [ui]}
      steps:
        - ui: open
        - ui: {repeat: 4, write: [{insert: Dog, _id: sequence, age: 1..99}]}

      """
    let good = try command.write(text + "crash: {on: ext4, budget: {states: 60}}\n", to: "a.yaml")
    let held = try command.run(["run", good])
    #expect(held.status == 0 && held.hasLine("  on ext4: "), "\(held.output)")
    let bad = try command.write(
      text + "crash: {on: \"ext4:barrier=0\", budget: {states: 60}}\n", to: "b.yaml")
    let found = try command.run(["run", bad, "--json", "r.json"])
    #expect(found.status == 1, "\(found.output)")
    let findings = try #require(try command.report("r.json").cases.first?.findings)
    #expect(
      findings.contains { $0.headline.hasPrefix("structure:") || $0.headline.hasPrefix("durab") })
    // Models know nothing of mount options.
    let models = try command.run(["run", bad, "--model", "ext4-ordered"])
    #expect(models.status == 0 && models.hasLine("  ext4-ordered: "), "\(models.output)")
  }
}
