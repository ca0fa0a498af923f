// WorkloadPlanTests.swift: the same scenario and seed give the same plan.

import Engine
import FoundationEssentials
import Testing

@testable import LabCore
@testable import Oracles
@testable import Scenarios
@testable import Workers
@testable import Workload

@Suite struct WorkloadPlanTests {
  static let mixed = """
    title: mixed
    schema:
      Dog: {_id: int primary, name: string, age: int}
      Cat: {_id: int primary, lives: int}
    processes: {app: [ui, background]}
    steps:
      - all: open
      - ui:
          repeat: 30
          write:
            - {upsert: Dog, _id: random 1..60, name: {random: letters 0..700}, times: 3}
            - {insert: Dog, _id: sequence, name: random, age: 1..9}
            - {insert: Cat, _id: random 1..1000, lives: random -9..9, times: 2}
      - background: {pin: old}
      - ui: {repeat: 5, write: [{delete: Dog, _id: random 1..2000, times: 4}], cancel: true}
      - ui:
          repeat: 15
          write:
            - {update: Cat, _id: random 1..1000, lives: random}
            - {delete: Cat, _id: 1..1000, times: 2}
      - background: {release: old}
      - expect: {verify: true, count: {Cat: 30}, pinned: {}}
      - ui: reopen
      - ui: verify
    """

  func plan(_ yaml: String, seed: UInt64) throws -> WorkloadPlan {
    try WorkloadPlan(
      ScenarioParser.parse(yaml, file: "t.yaml"), seed: Seed(rawValue: seed))
  }

  @Test("the same seed gives the same plan, byte for byte; another seed another one")
  func determinism() throws {
    let yaml = Self.mixed.replacing(", pinned: {}", with: "")
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let first = try plan(yaml, seed: 7)
    #expect(try encoder.encode(first) == encoder.encode(try plan(yaml, seed: 7)))
    #expect(first != (try plan(yaml, seed: 8)))
    let decoded = try JSONDecoder().decode(WorkloadPlan.self, from: try encoder.encode(first))
    #expect(decoded == first)
    #expect(first.transactions.map(\.number) == Array(0...50))
    #expect(first.commands.map(\.index) == Array(first.commands.indices))
  }

  /// Statements that each pass over all of many rows.
  static let costly = [
    "{repeat: 9, write: [{update: Dog, _id: random 900..90000000000, name: random}]}",
    "{repeat: 9, cancel: true, write: [{update: Dog, _id: 1, name: random}]}",
    "{repeat: 9, write: [{insert: Dog, _id: random 1..1009, name: random}]}",
    "{repeat: 9, write: [{insert: Cat, _id: sequence, friend: random}]}",
    "{repeat: 9, write: [{insert: Cat, _id: sequence}, {delete: Cat, _id: 1..9}]}",
  ]

  @Test("what passes over rows again and again is refused at its place", arguments: costly)
  func work(_ step: String) throws {
    let yaml = """
      title: many
      schema:
        Dog: {_id: int primary, name: string}
        Cat: {_id: int primary, friend: link Dog, next: link Cat}
      processes: {app: [ui]}
      steps:
        - all: open
        - ui:
            write:
              - {insert: Dog, _id: sequence, name: random, times: 1000}
              - {insert: Cat, _id: sequence, times: 500}
        - ui: \(step)
      """
    let scenario = try ScenarioParser.parse(yaml, file: "t.yaml")
    // A row each, then some thousand for each of nine.
    _ = try WorkloadPlan(scenario, seed: Seed(rawValue: 1))
    _ = try WorkloadPlan(scenario, seed: Seed(rawValue: 1), workMax: 20_000)
    let error = #expect(throws: LabError.self) {
      try WorkloadPlan(scenario, seed: Seed(rawValue: 1), workMax: 3000)
    }
    #expect(error?.code == .usage)
    #expect(error?.message.hasPrefix("t.yaml:12:") == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("lower 'repeat' or 'times'") == true)
  }

  @Test("what is pinned is asked of who pinned it, unless that one stands still")
  func pinOwners() throws {
    let head = """
      title: two
      schema: {Dog: {_id: int primary}}
      processes: {app: [ui], viewer: [reader]}
      steps:
        - ui: open
        - reader: open
        - reader: {pin: old}

      """
    let claim = "  - expect: {count: {Dog: 0}, pinned: {old: unchanged}}\n"
    let plan = try plan(head + claim, seed: 1)
    let asked = plan.commands.filter { if case .expect = $0.action { true } else { false } }
    #expect(asked.map(\.actor) == ["ui", "reader"])
    let error = #expect(throws: ScenarioError.self) {
      try ScenarioParser.parse(head + "  - stop: viewer\n" + claim, file: "t.yaml")
    }
    #expect(error?.diagnostics.map(\.message) == ["'viewer' is stopped"])
  }

  @Test("a scenario's own seed goes before the run's")
  func ownSeed() throws {
    let yaml = Self.mixed.replacing(", pinned: {}", with: "") + "\nseed: 99"
    #expect(try plan(yaml, seed: 7) == plan(yaml, seed: 8))
    #expect(try plan(yaml, seed: 7).seed == 99)
  }

  @Test("the plan is known in full: walks, sequences, defaults and kept columns")
  func exact() throws {
    let plan = try plan(
      preamble + """
        steps:
          - ui: open
          - ui: {repeat: 3, write: [{insert: Dog, _id: 1..9, name: a, age: 5..6}]}
          - ui: {write: [{insert: Dog, _id: sequence}, {insert: Dog, _id: 1..9, age: 1}]}
          - ui: {write: [{update: Dog, _id: 2, age: 70}, {delete: Dog, _id: 1..3, times: 2}]}
        """, seed: 1)
    let mutations = plan.transactions.dropFirst().map(\.mutations)
    #expect(
      mutations[0] == [Mutation(.insert, "Dog", key: 1, values: [.string("a"), .int(5)])])
    #expect(mutations[1].first?.values == [.string("a"), .int(6)])
    #expect(mutations[2].first?.values == [.string("a"), .int(5)])
    #expect(
      mutations[3] == [
        Mutation(.insert, "Dog", key: 4, values: [.string(""), .int(0)]),
        Mutation(.insert, "Dog", key: 5, values: [.string(""), .int(1)]),
      ])
    #expect(
      mutations[4] == [
        Mutation(.update, "Dog", key: 2, values: [.string("a"), .int(70)]),
        Mutation(.delete, "Dog", key: 1), Mutation(.delete, "Dog", key: 2),
      ])
    #expect(plan.commands.prefix(2).map(\.action) == [.open, .createTables(plan.tables)])
  }

  @Test("no key is left: the error names the statement and the remedy")
  func exhausted() throws {
    for (statement, needs) in [
      ("insert: Dog, _id: 1..2", "free key in 1..2"),
      ("delete: Dog, _id: 1..2", "existing key in 1..2"),
      ("update: Dog, _id: 7", "existing key in 7..7"),
    ] {
      let yaml = preamble + "steps: [{ui: open}, {ui: {repeat: 3, write: [{\(statement)}]}}]"
      let error = #expect(throws: LabError.self) { try plan(yaml, seed: 1) }
      #expect(error?.code == .usage)
      #expect(error?.message.hasPrefix("t.yaml:4:46:") == true, "\(error?.message ?? "")")
      #expect(error?.message.contains(needs) == true, "\(error?.message ?? "")")
    }
  }

  @Test("statements that are asked to fail get keys with which they do")
  func failing() throws {
    let plan = try plan(
      preamble + """
        steps:
          - ui: open
          - ui: {write: [{insert: Dog, _id: 5}]}
          - ui: {write: [{insert: Dog, _id: 1..9}], fails: keyExists}
          - ui: {write: [{delete: Dog, _id: 5..9}], fails: keyNotFound}
          - ui: {write: [{insert: Dog, _id: 1..9}], fails: io}
          - ui: {write: [{insert: Dog, _id: 1..9}]}
        """, seed: 1)
    // Key 1 is in doubt after the failed sync, so the last insert takes another one.
    #expect(plan.transactions.dropFirst().map { $0.mutations[0].key } == [5, 5, 6, 1, 2])
  }

  @Test("the model and the engine agree after every commit", arguments: 1...12)
  func agreement(seed: UInt64) throws {
    let yaml = Self.mixed.replacing(", count: {Cat: 30}, pinned: {}", with: "")
    let plan = try plan(yaml, seed: seed)
    let backend = ImageBackend()
    let database = try Database.open(backend: backend)
    var model = ReferenceModel(tables: plan.tables, hasTables: false)
    let session = WorkerSession(open: { (_) throws(EngineError) -> Database in database })
    _ = session.run(WorkerCommand(index: 0, actor: "ui", action: .open))
    for transaction in plan.transactions {
      let action: WorkerAction =
        transaction.number == 0 ? .createTables(plan.tables) : .transaction(transaction)
      let answer = session.run(WorkerCommand(index: 0, actor: "ui", action: action))
      #expect(model.apply(transaction) == nil)
      guard case .done = answer else {
        Issue.record("\(answer)")
        return
      }
      let snapshot = try database.snapshot()
      #expect(try snapshot.contentHash() == model.contentHash(), "seed \(seed)")
      for table in plan.tables {
        #expect(try snapshot.count(of: table.name) == model.count(of: table.name))
        var rows = model.sortedRows(of: table.name)[...]
        try snapshot.forEach(in: table.name) { key, values in
          let row = rows.popFirst()
          if row?.key != key || row?.values != values.compactMap({ PlannedValue($0) }) {
            Issue.record("seed \(seed), table \(table.name), key \(key)")
          }
        }
      }
      snapshot.release()
    }
    try database.verify()
  }

  @Test("the model refuses what the engine refuses")
  func refusals() {
    let dog = TableDeclaration(
      name: "Dog", key: "_id", columns: [ColumnDeclaration(name: "age", type: .int)])
    var model = ReferenceModel(tables: [dog])
    #expect(model.apply(Mutation(.update, "Dog", key: 1, values: [.int(1)])) == "keyNotFound")
    #expect(model.apply(Mutation(.delete, "Dog", key: 1)) == "keyNotFound")
    #expect(model.apply(Mutation(.upsert, "Dog", key: 1, values: [.int(1)])) == nil)
    #expect(model.apply(Mutation(.insert, "Dog", key: 1, values: [.int(2)])) == "keyExists")
    let before = model
    let half = PlannedTransaction(
      number: 3,
      mutations: [
        Mutation(.delete, "Dog", key: 1), Mutation(.delete, "Dog", key: 1),
      ])
    #expect(model.apply(half) == "keyNotFound")
    #expect(model == before)
    #expect(model.contentBytes == 16)
  }
}
