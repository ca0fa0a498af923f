// ScheduleScenarioTests.swift: scenarios whose steps run side by side: what the parser takes and
// refuses; and that the engine does the same again under a drawn schedule.

import Foundation
import TestSupport
import Testing

@testable import LabCore
@testable import Scenarios
@testable import Workload

let togetherOpening = """
  title: t
  schema: {Dog: {_id: int primary, name: string}, Cat: {_id: int primary, dog: link Dog}}
  processes: {app: [ui, background]}

  """

private func complaints(_ text: String) -> [String] {
  do throws(ScenarioError) {
    _ = try ScenarioParser.parse(text, file: "t.yaml")
    return []
  } catch { return error.diagnostics.map(\.description) }
}

@Suite("Schedules: scenarios") struct ScheduleScenarioTests {
  static let steps = """
    steps:
      - all: open
      - together:
          - ui: {repeat: 2, write: [{upsert: Dog, _id: 1..5, name: random}]}
          - background: pin
          - background: release
      - ui: verify

    """

  @Test("the block, the strategy and its numbers are read")
  func parsed() throws {
    let text =
      togetherOpening + Self.steps + "schedule: {strategy: exhaustive, preemptions: 1, runs: 50}\n"
    let scenario = try ScenarioParser.parse(text, file: "t.yaml")
    #expect(scenario.steps.map(\.block) == [nil, 0, 0, 0, nil])
    #expect(scenario.schedule?.strategy == .exhaustive && scenario.schedule?.preemptions == 1)
    #expect(scenario.schedule?.runs == 50)
    let plan = try WorkloadPlan(scenario, seed: Seed(rawValue: 1))
    #expect(plan.isConcurrent && plan.commands.count { $0.block == 0 } == 4)
  }

  private static let dog = "      - background: {write: [{upsert: Dog, _id: 1}]}"

  @Test(
    "what cannot run side by side is refused with its place and the remedy",
    arguments: [
      (
        "- ui: {write: [{insert: Dog, _id: sequence}]}\n" + ScheduleScenarioTests.dog,
        "'background' writes to 'Dog' in the same block"
      ),
      (
        "- ui: {write: [{upsert: Dog, _id: 1}]}\n      - ui: pin\n      - ui: release",
        "only 'ui' has steps in this block"
      ),
      (
        "- ui: {write: [{upsert: Dog, _id: 1}], fails: io}\n      - background: verify",
        "which write fails with io is unknown"
      ),
      (
        "- ui: reopen\n      - background: verify",
        "only write, pin, release, diff, verify and compact"
      ),
      (
        "- ui: {write: [{upsert: Cat, _id: 1}]}\n" + ScheduleScenarioTests.dog,
        "'dog' links to 'Dog'"
      ),
      ("- expect: {verify: true}\n      - background: verify", "'expect' cannot be in"),
      ("- together: [{ui: verify}]\n      - background: verify", "a 'together' in a 'together'"),
    ])
  func refused(_ block: String, _ message: String) {
    let text = togetherOpening + "steps:\n  - all: open\n  - together:\n      " + block + "\n"
    let found = complaints(text)
    #expect(found.contains { $0.contains(message) && $0.hasPrefix("t.yaml:") }, "\(found)")
  }

  @Test(
    "a schedule that makes no sense is refused",
    arguments: [
      ("{strategy: best}", "'best' is not a strategy"), ("{runs: 3}", "lacks the key 'strategy'"),
      ("{strategy: random, depth: 2}", "'depth' does not go with the strategy random"),
      ("{strategy: scripted}", "lacks the key 'script'"),
      ("{strategy: scripted, script: [ui jumps]}", "not a turn of a script"),
      ("{strategy: scripted, script: [cat 3]}", "no actor 'cat'"),
      ("{strategy: scripted, script: [ui until store pni]}", "nearest valid key 'store pin'"),
      ("{strategy: pct, depth: 99}", "out of range"),
    ])
  func schedules(_ schedule: String, _ message: String) {
    let found = complaints(togetherOpening + Self.steps + "schedule: \(schedule)\n")
    #expect(found.contains { $0.contains(message) }, "\(found)")
    #expect(
      complaints(togetherOpening + "steps: [{ui: open}]\nschedule: {strategy: random}\n")
        .contains { $0.contains("no steps that run side by side") })
  }

  @Test("together does not go with kill, sweep, media or a second process")
  func others() {
    for key in [
      "killSweep: {process: app, at: every sync}", "sweep: {on: write, error: EIO}", "media: {}",
    ] {
      let found = complaints(togetherOpening + Self.steps + key + "\n")
      #expect(found.contains { $0.contains("'together' does not go with") }, "\(key): \(found)")
    }
    let two = togetherOpening.replacing("[ui, background]}", with: "[ui], other: [background]}")
    #expect(complaints(two + Self.steps).contains { $0.contains("several processes") })
  }

  // MARK: - Determinism and replay

  static func plan(_ text: String) throws -> ScheduledPlan {
    let scenario = try ScenarioParser.parse(text, file: "t.yaml")
    return ScheduledPlan(try WorkloadPlan(scenario, seed: Seed(rawValue: 1)), rules: [])
  }

  @Test(
    "a drawn schedule of the engine gives the same run 20 of 20 times", arguments: [false, true])
  func replay(_ isGrouped: Bool) throws {
    let database = isGrouped ? "database: {grouped: true}\n" : ""
    let steps = Self.steps.replacing(
      "      - background: pin", with: Self.dog + "\n      - background: pin")
    let plan = try Self.plan(togetherOpening + database + steps)
    var strategy = RandomStrategy(seed: Seed(rawValue: 5), runsMax: 4)
    while let chooser = strategy.nextRun() {
      let first = try plan.run(chooser)
      #expect(first.violations.isEmpty && first.record.ending == .finished)
      let schedule = try Schedule.parse(first.record.schedule.text)
      for _ in 0..<20 {
        #expect(try plan.run(ReplayChooser(schedule)).fingerprint == first.fingerprint)
      }
    }
  }
}
