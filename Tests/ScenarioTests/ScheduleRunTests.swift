// ScheduleRunTests.swift: what a run of a scenario with steps side by side comes to, and that
// tokens carry schedules. All runners of a process share one directory, so these tests take turns
// with those of the backends.

import Foundation
import TestSupport
import Testing

@testable import Exploration
@testable import Findings
@testable import LabCore
@testable import Scenarios

extension BackendTests {
  private func runTogether(_ text: String, budget: Int? = nil) throws -> CaseReport {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/t.yaml"
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    var settings = ExplorationSettings()
    settings.jobs = 1
    settings.budget = budget
    let runner = try ScenarioRunner(settings: settings, console: .silent, backend: .inProcess)
    defer { try? runner.end() }
    return try runner.run(try ScenarioRunner.load([path])[0])
  }

  @Test("a correct engine holds under every schedule with one preemption, and the counts say so")
  func togetherHolds() throws {
    let item = try runTogether(
      togetherOpening + ScheduleScenarioTests.steps
        + "schedule: {strategy: exhaustive, preemptions: 1, runs: 5000}\n")
    #expect(item.outcome == .held, "\(item.complaints) \(item.findings)")
    let counts = try #require(item.explorations.first?.schedules)
    #expect(counts.isComplete && counts.runCount > 30 && counts.repeatedCount > 0)
    #expect(counts.actorCount == 2 && counts.recordingCount >= 1)
  }

  @Test("the same seed gives the same report, and without a schedule it is pct of depth 3")
  func togetherIsDeterministic() throws {
    func counts() throws -> ScheduleCounts? {
      let item = try runTogether(togetherOpening + ScheduleScenarioTests.steps, budget: 30)
      #expect(item.explorations.first?.model == "schedule pct depth 3")
      return item.explorations.first?.schedules
    }
    let first = try counts()
    #expect(first != nil && first?.runCount == 30)
    #expect(try counts() == first)
  }

  @Test("a fault that no schedule comes to is refused")
  func togetherIdleFault() throws {
    let text =
      togetherOpening + ScheduleScenarioTests.steps
      + "faults: [{on: sync, nth: 9999, error: EIO}]\n"
    let error = #expect(throws: LabError.self) { try runTogether(text, budget: 5) }
    #expect(error?.code == .usage && error?.message.contains("hit no operation") == true)
  }

  @Test("a fault that keeps the database from opening: nobody runs, and that is not its verdict")
  func togetherNotOpen() throws {
    let text =
      togetherOpening + ScheduleScenarioTests.steps
      + "faults: [{on: sync, nth: 1, error: EIO}]\n"
    let item = try runTogether(text, budget: 5)
    #expect(item.outcome == .held && item.complaints.isEmpty, "\(item.complaints)")
    #expect(item.explorations.first?.schedules?.recordingCount == 1)
  }

  @Test("a crash state of what a schedule recorded is a finding, and comes back by its token")
  func togetherCrash() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/t.yaml"
    let text =
      togetherOpening + ScheduleScenarioTests.steps.replacing("repeat: 2", with: "repeat: 1") + """
        schedule: {strategy: exhaustive, preemptions: 0}
        crash: {model: strict, explore: prefixes, budget: {states: 400}}
        faults: [{on: sync, ofCommit: 2, ignore: true}]

        """
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    var settings = ExplorationSettings()
    settings.jobs = 1
    let runner = try ScenarioRunner(settings: settings, console: .silent, backend: .inProcess)
    defer { try? runner.end() }
    let item = try runner.run(try ScenarioRunner.load([path])[0])
    let finding = try #require(item.findings.first, "\(item.complaints)")
    #expect(item.outcome == .broken && finding.headline.hasPrefix("durability"))
    guard case .scenario(let recipe) = try ReplayRecipe(token: finding.token),
      case .scheduledCrash(let schedule, _, _, _, _) = recipe.place
    else {
      Issue.record("the token is of something else")
      return
    }
    #expect(schedule.hasPrefix(Schedule.header))
    let again = try #require(try runner.replay(recipe, keepingImageIn: nil))
    #expect(again.headline == finding.headline && again.token == finding.token)
  }

  @Test("a token carries its schedule and comes back; another engine's schedule is refused")
  func togetherToken() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/t.yaml"
    let text = togetherOpening + ScheduleScenarioTests.steps
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    let outcome = try ScheduleScenarioTests.plan(text).run(UsualChooser())
    let runner = try ScenarioRunner(
      settings: ExplorationSettings(), console: .silent, backend: .inProcess)
    defer { try? runner.end() }
    func recipe(_ schedule: String) throws -> ScenarioRecipe {
      let recipe = ScenarioRecipe(
        path: path, seed: 1, place: .schedule(schedule), backend: .inProcess)
      let token = ReplayRecipe.scenario(recipe).token
      guard case .scenario(let decoded) = try ReplayRecipe(token: token) else {
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
