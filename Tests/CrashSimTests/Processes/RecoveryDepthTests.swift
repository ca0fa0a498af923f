// RecoveryDepthTests.swift: a job that asks for recoveries in a row explores them, and their states
// are found again by their keys.

import Foundation
import TestSupport
import Testing

@testable import EngineExploration
@testable import LabCore
@testable import Recording
@testable import Scenarios
@testable import Workload

@Suite struct RecoveryDepthTests {
  private let directory: TemporaryDirectory
  private let job: EngineJob

  init() throws {
    directory = try TemporaryDirectory()
    let scenario = try ScenarioParser.parse(
      """
      title: Two commits
      schema: {Dog: {_id: int primary, name: string}}
      processes: {app: [ui]}
      steps:
        - ui: open
        - ui: {repeat: 2, write: [{insert: Dog, _id: sequence, name: random}]}
      """, file: "commits.yaml")
    let plan = try WorkloadPlan(scenario, seed: Seed(rawValue: 3))
    let recording = try EngineRecording(plan)
    try #require(recording.violations.isEmpty)
    let path = directory.file("trace.sqlite")
    try TraceFile.save(recording.trace, to: path)
    job = EngineJob(tracePath: path, plan: plan, model: "ext4-ordered", seed: 1)
  }

  /// States of recoveries that are judged from the last crash point.
  private func recoveryStates(_ budgets: [Int]) throws -> Int {
    var job = job
    job.recoveryBudgets = budgets
    let enumerator = try job.enumerator()
    let judge = try EngineJudge(job, enumerator: enumerator)
    var count = 0
    try enumerator.visit(try enumerator.plan()) { (explored, image) throws(LabError) in
      guard explored.state.crashPoint == enumerator.table.crashPointCount - 1 else { return .goOn }
      if let failure = try judge.judge(explored, image, beginning: { _ in count += 1 }) {
        throw .lab("\(failure)")
      }
      return .stop
    }
    return count
  }

  @Test("each level goes on from every state of the one before")
  func levels() throws {
    #expect(try recoveryStates([]) == 0)
    #expect(try recoveryStates([3]) == 3)
    #expect(try recoveryStates([3, 2]) == 3 + 3 * 2)
    #expect(try recoveryStates([3, 2, 2]) == 3 + 3 * 2 + 3 * 2 * 2)
  }

  @Test("a state of a recovery in a recovery is judged and built by its keys")
  func keys() throws {
    let enumerator = try job.enumerator()
    let judge = try EngineJudge(job, enumerator: enumerator)
    var last = ""
    try enumerator.visit(try enumerator.plan()) { explored, _ in
      last = enumerator.key(of: explored.state).description
      return .goOn
    }
    let model = try #require(last.split(separator: ":").first)
    // Power failed before the recovery did anything, so the file is as it was.
    let early = "\(model):p0:lost=none"
    let before = try judge.tree(key: last, second: nil)
    let after = try judge.tree(key: last, second: "\(early)>\(early)")
    #expect(try judge.judge(key: last, second: "\(early)>\(early)") == [])
    let bytes = [before, after].map { tree in
      tree.inodes.values.filter { $0.type == .regular && $0.sizeBytes > 0 }.map(\.extents)
    }
    #expect(bytes[0] == bytes[1])
    #expect(throws: LabError.self) {
      try judge.judge(key: last, second: "\(early)>\(model):p9999:lost=none")
    }
  }
}
