// ScheduleSearchTests.swift: a search in a process of its own finds what a search in this one
// finds, and an engine that traps under a schedule costs that process only.

import Foundation
import TestSupport
import Testing

@testable import LabCore
@testable import Scenarios
@testable import Workload

@Suite("Schedules: a process of their own") struct ScheduleSearchTests {
  private static let text = """
    title: t
    schema: {Dog: {_id: int primary, name: string}}
    processes: {app: [ui, background]}
    steps:
      - all: open
      - together:
          - ui: {repeat: 2, write: [{upsert: Dog, _id: 1, name: a}]}
          - background: {repeat: 2, write: [{upsert: Dog, _id: 2, name: b}]}

    """

  private static func job() throws -> ScheduleJob {
    let scenario = try ScenarioParser.parse(text, file: "t.yaml")
    var declaration = ScheduleDeclaration()
    declaration.runs = 100
    return ScheduleJob(
      plan: try WorkloadPlan(scenario, seed: Seed(rawValue: 1)), rules: [],
      declaration: declaration, seed: 7, runsMax: 100, recordingsMax: 4, silenceSeconds: 60)
  }

  private static func answer(_ job: ScheduleJob) throws -> ScheduleSearch.Answer {
    let directory = try TemporaryDirectory()
    return try ScheduleSearch(job: job, actors: job.scheduled().actors, directory: directory.path)
      .run()
  }

  @Test("the same runs, the same recordings and the same counts as in this process")
  func same() throws {
    let job = try Self.job()
    guard case .searched(let searched) = try Self.answer(job) else {
      Issue.record("the search did not end")
      return
    }
    let scheduled = job.scheduled()
    let explored = try ScheduleExplorer(
      run: { (chooser) throws(LabError) in try scheduled.run(chooser) },
      actors: scheduled.actors, ruleCount: 0, declaration: job.declaration,
      seed: Seed(rawValue: job.seed), runsMax: 100, recordingsMax: 4
    ).explore()
    #expect(searched.counts == explored.counts && searched.counts.runCount == 100)
    #expect(searched.recordings == explored.recordings.map(\.record.schedule.text))
    #expect(searched.recordings.count == 4 && searched.failure == nil)
  }

  @Test("a trap is a finding that has the schedule under which it came", arguments: [1, 40])
  func trap(_ run: Int) throws {
    var job = try Self.job()
    job.plantedTrapRun = run
    guard case .fatal(let fatal) = try Self.answer(job) else {
      Issue.record("nobody noticed the trap")
      return
    }
    guard case .signalled = fatal.ending else {
      Issue.record("\(fatal.ending)")
      return
    }
    #expect(fatal.schedule.decisionCount > 10 && fatal.schedule.actors == ["ui", "background"])
    #expect(fatal.result.oracles == [.structure])
    #expect(fatal.result.headline.contains("planted: the engine traps"), "\(fatal.result.headline)")
    // The schedule is one that this process can run to its end.
    let again = try job.scheduled().run(ReplayChooser(fatal.schedule))
    #expect(again.record.schedule == fatal.schedule && again.record.ending == .finished)
  }

  @Test("one schedule is run when one is given; a text that is none is an error of its kind")
  func one() throws {
    var job = try Self.job()
    job.schedule = "faultline schedule 1\nactors ui background\nui 2\nbackground 3\n"
    guard case .ran = try Self.answer(job) else {
      Issue.record("it was not run")
      return
    }
    job.schedule = "nonsense"
    let error = #expect(throws: LabError.self) { try Self.answer(job) }
    #expect(error?.code == .usage && error?.message.contains("begins no schedule") == true)
  }
}
