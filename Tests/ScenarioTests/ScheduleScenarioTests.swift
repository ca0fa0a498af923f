// ScheduleScenarioTests.swift: scenarios whose steps run side by side: what the parser takes and
// refuses, what a run comes to, and that tokens carry schedules.

import Foundation
import TestSupport
import Testing

@testable import CrashSim

private let opening = """
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
  private static let steps = """
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
      opening + Self.steps + "schedule: {strategy: exhaustive, preemptions: 1, runs: 50}\n"
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
        "nobody knows which write fails with io"
      ),
      ("- ui: reopen\n      - background: verify", "only write, pin, release and verify"),
      (
        "- ui: {write: [{upsert: Cat, _id: 1}]}\n" + ScheduleScenarioTests.dog,
        "'dog' links to 'Dog'"
      ),
      ("- expect: {verify: true}\n      - background: verify", "'expect' cannot stand in"),
      ("- together: [{ui: verify}]\n      - background: verify", "a 'together' in a 'together'"),
    ])
  func refused(_ block: String, _ message: String) {
    let text = opening + "steps:\n  - all: open\n  - together:\n      " + block + "\n"
    let found = complaints(text)
    #expect(found.contains { $0.contains(message) && $0.hasPrefix("t.yaml:") }, "\(found)")
  }

  @Test(
    "a schedule that makes no sense is refused",
    arguments: [
      ("{strategy: best}", "'best' is no strategy"), ("{runs: 3}", "lacks the key 'strategy'"),
      ("{strategy: random, depth: 2}", "'depth' does not go with the strategy random"),
      ("{strategy: scripted}", "lacks the key 'script'"),
      ("{strategy: scripted, script: [ui jumps]}", "no turn of a script"),
      ("{strategy: scripted, script: [cat 3]}", "no actor 'cat'"),
      ("{strategy: scripted, script: [ui until store pni]}", "nearest valid key 'store pin'"),
      ("{strategy: pct, depth: 99}", "out of range"),
    ])
  func schedules(_ schedule: String, _ message: String) {
    let found = complaints(opening + Self.steps + "schedule: \(schedule)\n")
    #expect(found.contains { $0.contains(message) }, "\(found)")
    #expect(
      complaints(opening + "steps: [{ui: open}]\nschedule: {strategy: random}\n")
        .contains { $0.contains("no steps that run side by side") })
  }

  @Test("together does not go with kill, sweep, media or a second process")
  func others() {
    for key in [
      "kill: {process: app, at: every sync}", "sweep: {on: write, error: EIO}", "media: {}",
    ] {
      let found = complaints(opening + Self.steps + key + "\n")
      #expect(found.contains { $0.contains("'together' does not go with") }, "\(key): \(found)")
    }
    let two = opening.replacing("[ui, background]}", with: "[ui], other: [background]}")
    #expect(complaints(two + Self.steps).contains { $0.contains("several processes") })
  }

  // MARK: - Runs

  private func run(_ text: String, budget: Int? = nil) throws -> CaseReport {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/t.yaml"
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    var settings = ExplorationSettings()
    settings.jobs = 1
    settings.budget = budget
    let runner = try ScenarioRunner(settings: settings, console: .silent, door: .inProcess)
    defer { try? runner.end() }
    return try runner.run(try ScenarioRunner.load([path])[0])
  }

  @Test("a correct engine holds under every schedule with one preemption, and the counts say so")
  func held() throws {
    let item = try run(
      opening + Self.steps + "schedule: {strategy: exhaustive, preemptions: 1, runs: 5000}\n")
    #expect(item.outcome == .held, "\(item.complaints) \(item.findings)")
    let counts = try #require(item.explorations.first?.schedules)
    #expect(counts.isComplete && counts.runCount > 30 && counts.repeatedCount > 0)
    #expect(counts.actorCount == 2 && counts.recordingCount >= 1)
  }

  @Test("the same seed gives the same report, and without a schedule it is pct of depth 3")
  func deterministic() throws {
    func counts() throws -> ScheduleCounts? {
      let item = try run(opening + Self.steps, budget: 30)
      #expect(item.explorations.first?.model == "schedule pct depth 3")
      return item.explorations.first?.schedules
    }
    let first = try counts()
    #expect(first != nil && first?.runCount == 30)
    #expect(try counts() == first)
  }

  @Test("a fault that no schedule comes to is refused")
  func idleFault() throws {
    let text = opening + Self.steps + "faults: [{on: sync, nth: 9999, error: EIO}]\n"
    let error = #expect(throws: LabError.self) { try run(text, budget: 5) }
    #expect(error?.code == .usage && error?.message.contains("hit no operation") == true)
  }

  // MARK: - Determinism and replay

  private func plan(_ text: String) throws -> ScheduledPlan {
    let scenario = try ScenarioParser.parse(text, file: "t.yaml")
    return ScheduledPlan(try WorkloadPlan(scenario, seed: Seed(rawValue: 1)), rules: [])
  }

  @Test(
    "a drawn schedule of the engine gives the same run 20 of 20 times", arguments: [false, true])
  func replay(_ isGrouped: Bool) throws {
    let database = isGrouped ? "database: {grouped: true}\n" : ""
    let steps = Self.steps.replacing(
      "      - background: pin", with: Self.dog + "\n      - background: pin")
    let plan = try plan(opening + database + steps)
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

  @Test("a token carries its schedule and comes back; another engine's schedule is refused")
  func token() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/t.yaml"
    let text = opening + Self.steps
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    let outcome = try plan(text).run(UsualChooser())
    let runner = try ScenarioRunner(
      settings: ExplorationSettings(), console: .silent, door: .inProcess)
    defer { try? runner.end() }
    func recipe(_ schedule: String) throws -> ScenarioRecipe {
      let recipe = ScenarioRecipe(path: path, seed: 1, place: .schedule(schedule), door: .inProcess)
      let token = ReplayToken.encode(.scenario(recipe))
      guard case .scenario(let decoded) = try ReplayToken.decode(token) else {
        throw LabError.lab("the token is of something else")
      }
      #expect(decoded == recipe)
      return decoded
    }
    let schedule = outcome.record.schedule
    let keep = "\(directory.path)/kept"
    #expect(try runner.replay(try recipe(schedule.text), keepingImageIn: keep) == nil)
    #expect(FileManager.default.fileExists(atPath: "\(keep)/data.realm"))
    var turns = schedule.turns
    turns[0].count += 1
    let other = Schedule(actors: schedule.actors, turns: turns).text
    let error = #expect(throws: LabError.self) {
      try runner.replay(try recipe(other), keepingImageIn: nil)
    }
    #expect(error?.code == .nondeterminism)
  }
}
