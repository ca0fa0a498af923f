// DocumentScheduleTests.swift: actors side by side on documents, without a mount: the order of
// SQLite's calls is the lab's, and what readers see is judged.

import Foundation
import TestSupport
import Testing

@testable import DocumentLab
@testable import LabCore
@testable import Scenarios
@testable import Workload

@Suite("actors side by side on documents", .serialized) struct DocumentScheduleTests {
  /// Runs a scenario's schedules until one fails.
  static func explore(
    _ together: String, runs: Int, _ strategy: String = "strategy: exhaustive, preemptions: 1"
  ) throws -> (runs: Int, outcomes: [ScheduledOutcome], failure: ScheduledOutcome?) {
    let text = """
      title: t
      documents:
        before:
          - {save: a, body: {number: 1}}
          - {index: byNumber, on: number}
        together: \(together)
      schedule: {\(strategy), runs: \(runs)}
      """
    let scenario = try ScenarioParser.parse(text, file: "test.yaml")
    let plan = try DocumentPlan(try #require(scenario.documents), file: "test.yaml")
    let directory = try TemporaryDirectory()
    let program = try DocumentScheduledPlan(
      plan, points: .steps, limits: ScheduleLimits(), in: directory.path)
    let declaration = try #require(scenario.schedule)
    var chooserOf = declaration.makeStrategy(
      seed: Seed(rawValue: 1), actors: program.actors, decisions: 60, runs: runs)
    var outcomes: [ScheduledOutcome] = []
    while let chooser = chooserOf.nextRun() {
      let outcome = try program.run(chooser)
      chooserOf.take(outcome.record)
      outcomes.append(outcome)
      if !outcome.violations.isEmpty {
        let again = try program.run(ReplayChooser(outcome.record.schedule))
        #expect(again.fingerprint == outcome.fingerprint)
        return (outcomes.count, outcomes, outcome)
      }
    }
    return (outcomes.count, outcomes, nil)
  }

  @Test("a schedule that is run again does the same, and orders commits differently from others")
  func replayed() throws {
    let found = try Self.explore(
      "{one: [{save: b, body: {number: 2}}], two: [{increment: a}, look]}", runs: 12,
      "strategy: pct, depth: 2")
    #expect(found.failure == nil, "\(String(describing: found.failure?.violations))")
    #expect(Set(found.outcomes.map(\.recordingKey)).count > 1)
    let first = try #require(found.outcomes.first)
    let text = try #require(DocumentSchedule(first)).text
    let read = try DocumentSchedule(reading: text, actors: ["one", "two"])
    #expect(read.schedule == first.record.schedule)
    #expect(throws: LabError.self) { try DocumentSchedule(reading: "0x1/9", actors: ["one"]) }
    #expect(throws: LabError.self) { try DocumentSchedule(reading: "7x1/0.0", actors: ["one"]) }
  }

  @Test("a reader of two snapshots is found, and the reader of one is not")
  func split() throws {
    let writer = "writer: [{save: a, body: {number: 2}}]"
    let planted = try Self.explore("{\(writer), reader: [plantSplitLook]}", runs: 60)
    #expect(planted.failure?.result.headline.hasPrefix("documents: snapshots: ") == true)
    let sound = try Self.explore("{\(writer), reader: [look]}", runs: planted.runs)
    #expect(sound.failure == nil)
  }

  @Test("an increment that does not look at its revision is found as a lost update")
  func lostUpdate() throws {
    let planted = try Self.explore(
      "{one: [{increment: a, blind: true}], two: [{increment: a}]}", runs: 60)
    #expect(planted.failure?.result.headline.hasPrefix("documents: atomic: ") == true)
  }
}
