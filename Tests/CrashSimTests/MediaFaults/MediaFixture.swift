// MediaFixture.swift: a recorded run, and a judge of what a medium does to what it left.

import Foundation
import Testing

@testable import EngineExploration
@testable import Exploration
@testable import Findings
@testable import LabCore
@testable import Recording
@testable import Scenarios
@testable import Workload

/// A run of the engine over a file in memory, with its job on disk.
struct MediaFixture {
  let plan: WorkloadPlan
  let trace: Trace
  let job: EngineJob

  static let file = DatabaseFile.name

  /// Records a scenario; its `media` section is the job's.
  init(_ yaml: String, in directory: String) throws {
    let scenario = try ScenarioParser.parse(yaml, file: "t.yaml")
    plan = try WorkloadPlan(scenario, seed: Seed(rawValue: 8412))
    trace = try EngineRecording(plan).trace
    let path = directory + "/trace.sqlite"
    try TraceFile.save(trace, to: path)
    var job = EngineJob(tracePath: path, plan: plan, model: "strict", seed: 8412)
    job.media = scenario.media
    self.job = job
  }

  /// Eight commits over a file in the clear.
  static func yaml(_ database: String = "", _ media: String) -> String {
    """
    title: media
    schema: {Dog: {_id: int primary, name: string, age: int indexed}}
    processes: {app: [ui]}
    \(database)
    steps:
      - ui: open
      - ui:
          repeat: 8
          write: [{upsert: Dog, _id: random 1..30, name: {random: letters 0..900}, times: 5}]
      - ui: close
    media: \(media)
    """
  }

  func plan(_ declaration: MediaDeclaration? = nil) throws -> MediaPlan {
    try MediaPlan(
      trace, try #require(declaration ?? job.media), paths: [Self.file],
      seed: Seed(rawValue: 8412).derived("media"), structure: { try StructureMap($0) })
  }

  /// The history of the whole run.
  func history(sectorBytes: Int = 4096) -> MediumHistory {
    var history = MediumHistory(trace, sectorBytes: sectorBytes)
    history.advance(to: trace.events.count)
    return history
  }

  /// Judges all states of the plan in this process.
  func judged() throws -> (outcome: MediaOutcome, violations: [Violation], count: Int) {
    let plan = try plan()
    let judge = try MediaJudge(job, try #require(job.media))
    var outcome = MediaOutcome()
    var violations: [Violation] = []
    for (ordinal, state) in plan.states.enumerated() {
      let (verdict, found) = try judge.judge(state, ordinal: ordinal)
      outcome.add(verdict)
      violations += found
    }
    return (outcome, violations, plan.states.count)
  }
}
