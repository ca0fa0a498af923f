// EngineCertificateTests.swift: the engine's certificate over a file in memory that already has its
// name: which syncs of its creation and of its commits are needed.

import Engine
import Testing

@testable import CrashStates
@testable import EngineExploration
@testable import LabCore
@testable import Oracles
@testable import Scenarios
@testable import Workload

@Suite("The engine's certificate in memory")
struct EngineCertificateTests {
  private func plan() throws -> WorkloadPlan {
    let yaml = """
      title: Two commits
      schema: {Dog: {_id: int primary, age: int}}
      processes: {app: [ui]}
      steps:
        - ui: open
        - ui: {repeat: 2, write: [{insert: Dog, _id: sequence, age: 1..99}]}
      """
    let scenario = try ScenarioParser.parse(yaml, file: "t.yaml")
    return try WorkloadPlan(scenario, seed: Seed(rawValue: 1))
  }

  /// Number of states that break a promise when these syncs are ignored.
  private func brokenStates(
    _ recording: EngineRecording, _ plan: WorkloadPlan, _ model: PersistenceModel,
    ignoring syncs: [Int]
  ) throws -> Int {
    let check = try EngineCheck(plan, marks: recording.trace.marks)
    let backend = ImageBackend()
    let enumerator = try CrashStateEnumerator(
      trace: recording.trace, model: model, seed: Seed(rawValue: 1), ignoring: syncs)
    var broken = 0
    try enumerator.visit(enumerator.plan()) { (explored, image) throws(LabError) in
      let isThere = try backend.load(image, at: DatabaseFile.name)
      let violations = check.judge(
        isThere ? backend : nil, marksSeen: explored.state.acknowledgedMarks)
      if !violations.isEmpty { broken += 1 }
      return .goOn
    }
    return broken
  }

  @Test("each sync of a commit is needed, and those of a creation in place but the first")
  func everySync() throws {
    let plan = try plan()
    let recording = try EngineRecording(plan)
    let syncs = recording.trace.workingSyncs
    // The first of a creation's three matters when what another one left is being finished, which
    // this workload does not do.
    let expected = [false] + [Bool](repeating: true, count: 8)
    for model in [PersistenceModel.ext4Ordered, .posix] {
      #expect(try brokenStates(recording, plan, model, ignoring: []) == 0)
      let needed = try syncs.map { try brokenStates(recording, plan, model, ignoring: [$0]) > 0 }
      #expect(needed == expected, "\(model)")
    }
  }
}
