// DiffStepTests.swift: the step `diff`: what the engine says changed since a pin is held against
// both contents.

import Engine
import LabCore
import Testing

@testable import Scenarios
@testable import Workers
@testable import Workload

@Suite("The step diff")
struct DiffStepTests {
  private static let steps = """
    steps:
      - ui: open
      - ui: {write: [{insert: Dog, _id: 1..9, name: random, times: 9}]}
      - ui: pin
      - ui: {pin: old}
      - ui: {write: [{delete: Dog, _id: 3}, {update: Dog, _id: 4, name: random}]}
      - ui: diff
      - ui: {diff: old}
      - ui: {write: [{insert: Dog, _id: sequence, name: random}]}
      - ui: {diff: old}
      - ui: {release: old}
      - ui: release

    """

  @Test("reads a pin's name, or takes the actor's, and holds on a right engine")
  func holds() throws {
    let scenario = try ScenarioParser.parse(preamble + Self.steps, file: "t.yaml")
    #expect(scenario.steps[5].action.told == .diff("ui"))
    #expect(scenario.steps[6].action.told == .diff("old"))
    let plan = try WorkloadPlan(scenario, seed: Seed(rawValue: 1))
    let worker = try PipedWorker()
    let (_, violations) = try worker.run(plan)
    #expect(violations == [])
    #expect(try worker.end() == 0)
  }

  @Test(
    "needs a pin of the actor's own, and tables",
    arguments: [
      ("- ui: diff", "nothing is pinned as 'ui'"),
      ("- ui: {diff: olf}", "nothing is pinned as 'olf'; nearest"),
      ("- background: {diff: old}", "the pin 'old' belongs to 'ui', not to 'background'"),
      ("- background: {diff: [old]}", "the name of a pin"),
    ])
  func refused(step: String, message: String) {
    let found = diagnostics(
      preamble + "steps:\n  - all: open\n  - ui: {pin: old}\n  \(step)\n")
    #expect(found.contains { $0.contains(message) }, "\(found)")
  }

  @Test("over objects points at observers")
  func objects() {
    let found = diagnostics(
      """
      title: t
      schema: objects
      processes: {app: [ui]}
      steps: [{ui: open}, {ui: pin}, {ui: diff}, {ui: release}]
      """)
    #expect(found.contains { $0.contains("reported to its observers") }, "\(found)")
  }

  @Test("an answer that leaves something out, or has it wrong, is a violation")
  func wrongAnswers() throws {
    let versions = try versions()
    for (index, newer) in versions.enumerated() {
      for (place, older) in versions.enumerated() where place <= index {
        let contents = try VersionContents(older: older, newer: newer)
        let right = try newer.changes(since: older)
        #expect(contents.violation(of: right, since: "p") == nil)
        // Every other pair of versions differs in something else.
        for (last, other) in versions.enumerated() {
          for (first, begin) in versions.enumerated() where first <= last {
            let changes = try other.changes(since: begin)
            let isSame = (first, last) == (place, index) || first == last && place == index
            #expect(
              (contents.violation(of: changes, since: "p") == nil) == isSame,
              "\(first)..\(last) for \(place)..\(index)")
          }
        }
      }
    }
    let contents = try VersionContents(older: versions[0], newer: versions[3])
    let violation = contents.violation(
      of: try versions[3].changes(since: versions[2]), since: "old")
    #expect(violation?.oracle == .referenceModel)
    #expect(violation?.promised == "what changed since 'old' is what the two contents differ in")
    #expect(
      violation?.got == "table 'T', from version 2 to 5: inserted rows are [4], "
        + "and the engine says []")
  }

  /// Versions of which each has one more change: a row added, a column of a row, another column of
  /// it, a row deleted, a table added.
  private func versions() throws -> [Snapshot] {
    let database = try Database.open(inMemory: "DiffStepTests")
    var found: [Snapshot] = []
    func commit(_ body: (WriteTransaction) throws -> Void) throws {
      let write = try database.beginWrite()
      try body(write)
      try write.commit()
      found.append(try database.snapshot())
    }
    let columns = [
      ColumnSchema(name: "n", type: .int), ColumnSchema(name: "s", type: .string),
    ]
    try commit { write in
      try write.createTable(TableSchema(name: "T", columns: columns))
      for key in 1...3 { try write.insert(into: "T", key: Int64(key), [.int(0), .string("a")]) }
    }
    try commit { try $0.insert(into: "T", key: 4, [.int(0), .string("a")]) }
    try commit { try $0.update(in: "T", key: 2, [.int(1), .string("a")]) }
    try commit { try $0.update(in: "T", key: 2, [.int(1), .string("b")]) }
    try commit { try $0.delete(from: "T", key: 1) }
    try commit { write in
      try write.createTable(TableSchema(name: "U", columns: columns))
      try write.insert(into: "U", key: 1, [.int(0), .string("a")])
    }
    return found
  }
}
