// ObjectScenarioTests.swift [U]: scenarios over the lab's classes: what can be said, what is
// refused and where, and that the model and the object database agree under any seed.

import Foundation
import ObjectDatabase
import TestSupport
import Testing

@testable import FaultFS
@testable import Findings
@testable import LabCore
@testable import Scenarios
@testable import Workers
@testable import Workload

private let start = """
  title: a test
  schema: objects
  processes: {app: [ui, background], sync: [worker]}

  """

/// A realm on its way to a thread that must not use it.
private struct Handed: @unchecked Sendable {
  let realm: Realm
}

@Suite struct ObjectScenarioTests {
  @Test("every key is read")
  func keys() throws {
    let scenario = try parsed(
      start + """
        database: {schemaVersion: 1}
        steps:
          - ui: {open: {seed: first}}
          - ui: {write: [{insert: Person, _id: 1, home: random, dogs: {random: items 2..3}}]}
          - ui: refresh
          - ui: invalidate
          - ui: {query: "age > 3", of: Dog, finds: [1, 2]}
          - ui: {query: "age > 3", of: Dog, finds: 2}
          - background: {open: {schemaVersion: 2, migration: full}}
          - ui: {misuse: background}
          - worker: {try: open, with: {deleteIfNeeded: true}, fails: schemaVersion}
        """)
    #expect(scenario.tables.map(\.name) == ["Person", "Dog", "Crate"])
    #expect(scenario.steps[0].database?.objects?.seed == "first")
    #expect(scenario.steps[2].action.told == .refresh)
    #expect(scenario.steps[3].action.told == .invalidate)
    var query = ObjectQuery(text: "age > 3", table: "Dog", keys: [1, 2])
    #expect(scenario.steps[4].action.told == .query(query))
    query.keys = nil
    query.count = 2
    #expect(scenario.steps[5].action.told == .query(query))
    #expect(scenario.steps[6].database?.objects?.schemaVersion == 2)
    #expect(scenario.steps[6].database?.objects?.migration == .full)
    #expect(scenario.steps[7].action.told == .misuse(of: "background"))
    #expect(scenario.steps[8].database?.objects?.deletesIfNeeded == true)
  }

  @Test(
    "what has no meaning is refused at its place",
    arguments: [
      ("- ui: {open: {schemaVersion: 3}}", "schema version"),
      ("- ui: {open: {migration: some}}", "'some' is not a migration"),
      ("- ui: {query: a, of: Cat, finds: 1}", "no table 'Cat'"),
      ("- ui: {query: a, finds: 1}", "'query' needs the class in 'of'"),
      ("- ui: {misuse: worker}", "'worker' is not another actor of the process of 'ui'"),
      ("- ui: {misuse: background}", "'background' does not have the database open"),
      ("- ui: compact", "a realm is compacted when it is opened"),
      ("- ui: fork", "cannot be used after a fork"),
      ("- ui: {write: [{delete: Dog, _id: 1}], copy: c}", "outside of write transactions"),
      ("- ui: {open: {deleteIfNeeded: true, migration: full}}", "not both"),
      ("- ui: {open: {commit: checksummed}}", "a realm has no such setting"),
    ])
  func refusals(_ step: String, _ message: String) {
    let found = diagnostics(start + "steps:\n- ui: open\n" + step + "\n")
    #expect(
      found.contains { $0.hasPrefix("t.yaml:6:") && $0.contains(message) }, "\(found)")
  }

  @Test(
    "objects are refused in a scenario of tables",
    arguments: [
      "- ui: refresh", "- ui: {query: a, of: Dog, finds: 1}", "- ui: {misuse: background}",
      "- ui: {open: {schemaVersion: 1}}",
      "- ui: {write: [{delete: Dog, _id: 1}], async: true}",
    ])
  func tables(_ step: String) {
    let found = diagnostics(preamble + "steps:\n- all: open\n" + step + "\n")
    #expect(found.contains { $0.contains("schema: objects") }, "\(found)")
  }

  /// Random transactions over everything, a migration in the middle.
  private static let everything = """
    title: everything
    schema: objects
    processes: {app: [ui, background]}
    steps:
      - all: open
      - ui: {write: [{insert: Dog, _id: 1..9, name: random, times: 9}]}
      - ui:
          repeat: 9
          write:
            - {upsert: Dog, _id: random 1..9, name: random, age: 1..3, owner: random, weight: 7}
            - {upsert: Person, _id: random 1..5, name: random, home: random, dogs: random,
               nicknames: random, scores: random}
            - {upsert: Crate, _id: random 1..4, content: random}
            - {update: Crate, _id: random 1..4, edit: random, times: 3}
      - background:
          repeat: 5
          write: [{delete: Dog, _id: 1..9}, {upsert: Person, _id: 1..5, dogs: random, home: random}]
      - background: {write: [{delete: Person, _id: 1..5}], cancel: true}
      - background: {write: [{update: Crate, _id: 1..4, edit: random, times: 4}], cancel: true}
      - background: {write: [{update: Crate, _id: 77, edit: random}], fails: keyNotFound}
      - ui: {write: [{upsert: Crate, _id: 1..2, content: random, times: 2}], async: true}
      - ui: {repeat: 2, write: [{upsert: Person, _id: 1..5, scores: random}], async: true}
      - background: {write: [{delete: Person, _id: 1..5}], cancel: true, async: true}
      - background: {write: [{insert: Dog, _id: 1..9}], fails: keyExists, async: true}
      - background: {write: [{delete: Dog, _id: 77}], fails: keyNotFound, async: true}
      - background: {write: [{delete: Person, _id: 1..5}]}
      - all: verify
      - ui: {observe: "age > 1 SORT(age ASC)", of: Dog}
      - background: {observe: TRUEPREDICATE, of: Person}
      - background: {observe: TRUEPREDICATE, of: Crate}
      - all: verify
      - ui: {pin: old}
      - background: {repeat: 4, write: [{upsert: Person, _id: 1..5, scores: random, dogs: random}]}
      - expect: {pinned: {old: unchanged}}
      - ui: {repeat: 8, write: [{update: Crate, _id: 1..4, edit: random, times: 2}]}
      - ui: {misuse: background}
      - ui: {release: old}
      - background: {write: [{delete: Crate, _id: 1..4}]}
      - ui: {repeat: 6, write: [{upsert: Dog, _id: random 1..9, name: random, age: 1..3}]}
      - background: refresh
      - background:
          repeat: 3
          write: [{delete: Dog, _id: 1..9}, {upsert: Dog, _id: 20..29, age: 9}]
          async: true
      - ui: refresh
      - all: close
      - ui: {open: {schemaVersion: 2, migration: MIGRATION}}
      - ui: verify
      - ui:
          repeat: 5
          write:
            - {upsert: Dog, _id: random 1..9, owner: random}
            - {upsert: Person, _id: 1..5, home: random, dogs: random}
            - {update: Crate, _id: 1..4, edit: random, times: 2}
      - ui: reopen
      - ui: verify
    """

  @Test(
    "model and object database agree under any seed", arguments: 1...12, ["full", "empty"])
  func agreement(seed: Int, migration: String) throws {
    let text = Self.everything.replacingOccurrences(of: "MIGRATION", with: migration)
    let plan = try WorkloadPlan(try parsed(text), seed: Seed(rawValue: UInt64(seed)))
    let backend = try SimulatedFileSystem()
    let directory = try TemporaryDirectory()
    let run = try ScenarioRecorder(
      backend: backend, timeoutSeconds: 60, errorPath: directory.file("errors")
    ).run(plan)
    #expect(run.violations == [])
    #expect(run.marks.count > 40)
  }

  @Test("a model that is told one thing less does not agree")
  func disagreement() throws {
    let text = Self.everything.replacingOccurrences(of: "MIGRATION", with: "full")
    var plan = try WorkloadPlan(try parsed(text), seed: Seed(rawValue: 3))
    var model = ReferenceModel(before: plan)
    for transaction in plan.transactions { #expect(model.apply(transaction) == transaction.fails) }
    let whole = model.contentHash()
    let place = try #require(plan.commands.firstIndex { $0.transaction?.number == 5 })
    guard case .transaction(var transaction) = plan.commands[place].action else {
      Issue.record("transaction 5 is not a write")
      return
    }
    transaction.mutations.removeLast()
    plan.commands[place].action = .transaction(transaction)
    var other = ReferenceModel(before: plan)
    for transaction in plan.transactions { _ = other.apply(transaction) }
    #expect(other.contentHash() != whole)
  }

  @Test("a write that has to be refused and is committed is a finding")
  func notRefused() throws {
    let text =
      start + """
        steps:
          - ui: open
          - ui: {write: [{insert: Dog, _id: 1, name: Rex}]}
          - ui: {write: [{insert: Dog, _id: 1, name: Max}], fails: keyExists}
        """
    let plan = try WorkloadPlan(try parsed(text), seed: Seed(rawValue: 1))
    var client = WorkerClient(plan)
    var found: [OracleName] = []
    for (number, command) in plan.commands.enumerated() {
      let answer = WorkerAnswer.done(version: UInt64(number + 1))
      found += try client.judge(command, answer).map(\.oracle)
    }
    #expect(found == [.expectation])
  }

  @Test("a use whose trap is looked at ends at the trap, and others come to their end")
  func probe() throws {
    let directory = try TemporaryDirectory()
    let handed = Handed(
      realm: try Realm(
        configuration: .init(
          fileURL: URL(filePath: directory.file("a.realm")), objectTypes: [Dog1.self])))
    let refused = MisuseProbe.message { _ = handed.realm.objects(Dog1.self).count }
    #expect(refused?.contains("is used on thread") == true)
    #expect(MisuseProbe.message { _ = handed.realm.freeze() } != nil)
    let frozen = Frozen(handed.realm.objects(Dog1.self).freeze())
    #expect(MisuseProbe.message { _ = frozen.value.count } == nil)
  }
}
