// DryRunTests.swift: what a dry run says is what the scenario comes to.

import Foundation
import Testing

@testable import Exploration
@testable import Scenarios

@Suite struct DryRunTests {
  private func lines(
    _ text: String, _ change: (inout ExplorationSettings) -> Void = { _ in }
  ) throws -> [String] {
    var settings = ExplorationSettings()
    change(&settings)
    return try DryRun(try parsed(text), settings: settings).lines()
  }

  private static let text = """
    title: a test
    tags: [slow]
    schema: {Dog: {_id: int primary, name: string}}
    processes: {app: [ui, background], sync: [writer]}
    database: {commitProtocol: checksummed, key: first}
    steps:
      - ui: open
      - ui: {pin: old}
      - ui: {repeat: 3, write: [{upsert: Dog, _id: sequence, times: 2}]}
      - ui: {write: [{upsert: Dog, _id: 1..9}], cancel: true}
      - expect: {count: {Dog: 6}}
    """

  @Test("processes, steps with their lines, and sums")
  func steps() throws {
    let found = try lines(Self.text)
    #expect(found.contains("  tags       slow"))
    #expect(
      found.contains { $0.contains("one sync for each commit; encrypted with the first key") })
    #expect(found.contains { $0.contains("app: a worker process with 2 threads: ui, background") })
    #expect(found.contains { $0.contains("sync: a worker process with 1 thread: writer") })
    #expect(
      found.contains {
        $0.hasSuffix("3. line 9, ui: 3 transactions, each committed: upsert 2 rows of Dog")
      }, "\(found)")
    #expect(found.contains { $0.contains("5. line 11, expected: Dog has 6 rows") })
    // Transaction 0 creates the tables; four of the scenario; 3 × 2 + 1 statements.
    #expect(
      found.contains { $0.contains("with 5 transactions and 7 statements; 1 are rolled back") },
      "\(found)")
    #expect(found.contains { $0.contains("isolation: ") })
    #expect(!found.contains { $0.contains("durability: ") }, "nothing is opened again")
    #expect(found.last?.contains("it holds when no promise is broken") == true)
  }

  @Test("write-back and file systems of the kernel are said")
  func writtenBack() throws {
    let found = try lines(Self.text + "\nwriteBack: {rate: 3, seed: 8}")
    #expect(
      found.contains { $0.contains("written back before one of 3 file operations on average") })
    let systems = try lines(Self.text + "\ncrash: {on: [ext4, xfs], budget: {states: 50}}")
    #expect(systems.contains { $0.contains("the same steps on a device with ext4, xfs:") })
    #expect(systems.contains { $0.contains("at most 50 states of each, mounted") })
    let models = try lines(Self.text + "\ncrash: {on: ext4}") { $0.modelsAreChosen = true }
    #expect(!models.contains { $0.contains("on a device") }, "--model leaves 'on' out")
  }

  @Test("the most states of a run: budget, models, options, recoveries")
  func states() throws {
    let crash = "\ncrash: {model: [strict, posix], explore: all, budget: {states: 500}}"
    #expect(
      try lines(Self.text + crash).contains {
        $0.contains("at most 500 states for each model, 1,000 in all")
      })
    let chosen = try lines(Self.text + crash) {
      $0.budget = 20
      $0.models = [.posix]
      $0.modelsAreChosen = true
    }
    #expect(chosen.contains { $0.contains("at most 20 states for each model, 20 in all") })
    #expect(chosen.contains { $0.contains("each time under posix:") })
    let deep = try lines(Self.text + "\ncrash: {model: posix, recovery: 2}")
    // 24 states of each recovery, 8 of each recovery from those.
    #expect(deep.contains { $0.contains("at most 2,000 states for each model") })
    #expect(deep.contains { $0.contains("at most 216 states of recovery for each, 2 recoveries") })
    #expect(deep.contains { $0.contains("432,000 in all") })
  }

  @Test("kills, sweeps, faults and planted bugs are said")
  func disturbances() throws {
    let kill = try lines(
      Self.text + "\nkillSweep: {process: sync, at: every sync, side: both}")
    #expect(kill.contains { $0.contains("sync is killed at each sync, once before it takes") })
    #expect(kill.contains { $0.contains("app goes on") })
    #expect(kill.contains { $0.contains("at most 40,000 runs") })
    #expect(kill.contains { $0.contains("liveness: ") && $0.contains("durability") == false })
    let one = try lines(Self.text + "\nkillSweep: {process: sync, at: 7, side: after}")
    #expect(one.contains { $0.contains("at its file operation 7, after it took effect") })
    #expect(one.contains { $0.contains("at most 1 run;") })
    let sweep = try lines(
      Self.text.replacing("  - ui: {pin: old}\n", with: "") + "\nsweep: {on: sync, error: EIO}")
    #expect(
      sweep.contains { $0.contains("another operation fails: {on: [sync], nth: 1, error: EIO") })
    let negative = try lines(
      Self.text + """

        faults: [{on: sync, ofCommit: 1, ignore: true}]
        negative: {expect: [durability], because: the sync is ignored}
        """)
    #expect(negative.contains { $0.contains("line 12: {on: [sync], nth: 1, after: \"begin \"") })
    #expect(negative.last?.contains("it holds only when durability finds it") == true)
  }

  @Test("every shipped scenario is explained, with each of its disturbances")
  func shipped() throws {
    let folder = ScenarioSchemaTests.scenarios.path
    let scenarios = try ScenarioRunner.load([folder])
    #expect(scenarios.count >= 50)
    for scenario in scenarios {
      let found = try DryRun(scenario, settings: ExplorationSettings()).lines()
      let labels = Set(found.map { $0.prefix(13).trimmingCharacters(in: .whitespaces) })
      #expect(labels.contains("cuts") == (scenario.crash != nil), "\(scenario.file)")
      #expect(labels.contains("kills") == (scenario.kill != nil), "\(scenario.file)")
      #expect(labels.contains("sweep") == (scenario.sweep != nil), "\(scenario.file)")
      #expect(labels.contains("medium") == (scenario.media != nil), "\(scenario.file)")
      #expect(found.allSatisfy { !$0.contains("\n") }, "\(scenario.file)")
    }
  }
}
