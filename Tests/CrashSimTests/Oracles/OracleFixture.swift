// OracleFixture.swift: plans, images and marks that the oracle tests share.

import Engine
import Testing

@testable import Findings
@testable import LabCore
@testable import Oracles
@testable import Recording
@testable import Scenarios
@testable import Workers
@testable import Workload

/// A run of a plan over a file in memory, with the file's bytes after each mark.
struct RecordedRun {
  let plan: WorkloadPlan
  var marks: [Mark] = []
  /// The file when this many marks were seen.
  var images: [[UInt8]] = []
  let violations: [Violation]

  init(_ plan: WorkloadPlan) throws {
    self.plan = plan
    let backend = ImageBackend()
    let session = WorkerSession(open: { (_) throws(EngineError) -> Database in
      try Database.open(backend: backend)
    })
    var client = WorkerClient(plan)
    var violations: [Violation] = []
    images.append(backend.bytes)
    for command in plan.commands {
      for entry in client.entriesBefore(command) {
        marks.append(entry.mark)
        images.append(backend.bytes)
      }
      let answer = session.run(command)
      for entry in client.entriesAfter(command, answer) {
        marks.append(entry.mark)
        images.append(backend.bytes)
      }
      violations += try client.judge(command, answer)
    }
    session.end()
    self.violations = violations
  }

  init(yaml: String, seed: UInt64 = 8412) throws {
    let scenario = try ScenarioParser.parse(yaml, file: "t.yaml")
    try self.init(try WorkloadPlan(scenario, seed: Seed(rawValue: seed)))
  }

  /// A run of ten commits with a cancelled transaction in the middle.
  static func ordinary() throws -> RecordedRun {
    try RecordedRun(
      yaml: """
        title: ordinary
        schema:
          Dog: {_id: int primary, name: string, age: int}
          Cat: {_id: int primary, lives: int}
        processes: {app: [ui]}
        steps:
          - ui: open
          - ui:
              repeat: 5
              write:
                - {insert: Dog, _id: sequence, name: {random: letters 0..900}, times: 4}
                - {upsert: Cat, _id: 1..3, lives: 1..9}
          - ui: {write: [{insert: Dog, _id: sequence, name: gone, age: 1}], cancel: true}
          - ui: {repeat: 5, write: [{update: Dog, _id: 1..9, age: 7}, {delete: Dog, _id: 10..20}]}
          - ui: verify
        """)
  }

  func check(_ options: EngineCheck.Options = .init()) throws -> EngineCheck {
    try EngineCheck(plan, marks: marks, options: options)
  }

  /// Number of marks seen when the commit of this transaction had been acknowledged.
  func marksSeen(afterCommit number: Int) throws -> Int {
    let prefix = "commit \(number) "
    return try #require(marks.firstIndex { $0.text.hasPrefix(prefix) }) + 1
  }
}

/// Judges bytes.
func judge(_ check: EngineCheck, _ bytes: [UInt8], marksSeen: Int) -> [Violation] {
  let backend = ImageBackend()
  backend.load(bytes)
  return check.judge(backend, marksSeen: marksSeen)
}
