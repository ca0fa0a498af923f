// IsolationOracleTests.swift: [U] a pinned version that changes is noticed, and only such a one.
// The planted bug is an engine that writes over a node which a pin still reaches.

import Engine
import Testing

@testable import LabCore
@testable import Oracles
@testable import Scenarios
@testable import Workers
@testable import Workload

@Suite struct IsolationOracleTests {
  private func session(on backend: ImageBackend) throws -> (WorkerSession, WorkloadPlan) {
    let scenario = try ScenarioParser.parse(
      """
      title: a pin
      schema: {Dog: {_id: int primary, name: string}}
      processes: {app: [ui]}
      steps:
        - ui: open
        - ui: {write: [{insert: Dog, _id: 1, name: needle}]}
        - ui: {pin: old}
        - ui: {repeat: 3, write: [{update: Dog, _id: 1, name: other}]}
        - ui: {release: old}
      """, file: "t.yaml")
    let plan = try WorkloadPlan(scenario, seed: Seed(rawValue: 1))
    let session = WorkerSession(open: { (_) throws(EngineError) -> Database in
      try Database.open(backend: backend)
    })
    return (session, plan)
  }

  /// Runs the plan; `change` is called before the pin is released.
  private func release(_ change: (ImageBackend) throws -> Void) throws -> WorkerAnswer? {
    let backend = ImageBackend()
    backend.load([])
    let (session, plan) = try session(on: backend)
    defer { session.end() }
    var last: WorkerAnswer?
    for command in plan.commands {
      if case .release = command.action { try change(backend) }
      last = session.run(command)
    }
    return last
  }

  @Test("a pinned version that nobody touches passes")
  func unchanged() throws {
    let answer = try release { _ in }
    guard case .done = answer else {
      Issue.record("\(String(describing: answer))")
      return
    }
  }

  @Test("a node of a pinned version that is written over is a broken isolation")
  func overwritten() throws {
    let answer = try release { backend in
      let bytes = backend.bytes
      let needle = Array("needle".utf8)
      let place = try #require(
        bytes.indices.dropLast(needle.count).first {
          bytes[$0..<$0 + needle.count].elementsEqual(needle)
        })
      try unsafe Array("nEEdle".utf8).withUnsafeBytes { changed in
        try unsafe backend.write(changed, at: UInt64(place))
      }
    }
    guard case .broken(let violation) = answer else {
      Issue.record("\(String(describing: answer))")
      return
    }
    #expect(violation.oracle == .isolation)
  }
}
