// ScenarioSourceTests.swift: scenarios as trees that are made smaller and written again.

import Foundation
import Testing

@testable import LabCore
@testable import Scenarios
@testable import Workload

@Suite("Scenario files made smaller")
struct ScenarioSourceTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("scenarios")

  static let paths: [String] = {
    let all = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
    // Drawn histories have no list of steps.
    return all.filter { path in
      path.hasSuffix(".yaml") && !path.hasPrefix("histories/") && path != "negative/sync-drawn.yaml"
    }.sorted()
  }()

  @Test("written again, every shipped scenario of written steps means the same", arguments: paths)
  func roundTrip(path: String) throws {
    let file = Self.root.appendingPathComponent(path).path
    let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self)
    let before = try ScenarioParser.parse(text, file: file)
    let source = try ScenarioSource(text, file: file)
    let after = try ScenarioParser.parse(try source.text(), file: file)
    #expect(placeless(before.steps) == placeless(after.steps))
    #expect(before.tables == after.tables)
    #expect(before.database == after.database)
    #expect(before.crash == after.crash)
    #expect(before.kill == after.kill)
    #expect(before.negative == after.negative)
    #expect(before.seed == after.seed)
    #expect(try before.faults.map { try $0.rule() } == after.faults.map { try $0.rule() })
    #expect(placeless(before).documents == placeless(after).documents)
    #expect(placeless(before).sync == placeless(after).sync)
    #expect(source.stepCount == before.writtenSteps)
    #expect(source.nodeCount == before.sync?.nodes.count ?? 0)
  }

  private func placeless(_ scenario: Scenario) -> Scenario {
    var scenario = scenario
    scenario.documents?.dropPlaces()
    scenario.sync?.dropPlaces()
    return scenario
  }

  /// The steps without their places in the file.
  private func placeless(_ steps: [ScenarioStep]) -> [ScenarioStep] {
    let nowhere = SourcePosition(line: 1, column: 1)
    return steps.map { step in
      var step = step
      step.position = nowhere
      guard case .write(var write) = step.action else { return step }
      for place in write.statements.indices { write.statements[place].position = nowhere }
      step.action = .write(write)
      return step
    }
  }

  private let text = """
    title: t
    schema: {Dog: {_id: int primary, age: int}}
    processes: {app: [ui]}
    steps:
      - ui: open
      - ui:
          repeat: 5
          write:
            - {insert: Dog, _id: sequence, times: 3}
            - {delete: Dog, _id: 1..4}
      - ui: verify
    """

  @Test("steps of a block go one by one, and with the last one the block")
  func blocks() throws {
    let together = text.replacing(
      "  - ui: verify",
      with: "  - together: [{ui: verify}, {bg: verify}, {bg: pin}]\n  - bg: release"
    ).replacing("[ui]", with: "[ui, bg]").replacing("- ui: open", with: "- all: open")
    let source = try ScenarioSource(together, file: "t.yaml")
    #expect(source.stepCount == 6)
    let fewer = try ScenarioParser.parse(
      try source.keeping(steps: [0, 2, 4, 5]).text(), file: "t.yaml")
    #expect(fewer.steps.map(\.block) == [nil, 0, 0, nil])
    #expect(fewer.steps.map(\.action.told) == [.open, .verify, .pin("bg"), .release("bg")])
    let none = try ScenarioParser.parse(try source.keeping(steps: [0, 1]).text(), file: "t.yaml")
    #expect(none.blocks.isEmpty && none.steps.count == 2)
  }

  @Test("steps, statements and counts go, and nothing else")
  func smaller() throws {
    let source = try ScenarioSource(text, file: "t.yaml")
    #expect(source.counts.map(\.value) == [5, 3])
    #expect((0..<3).map { source.statementCount(ofStep: $0) } == [0, 2, 0])
    func steps(_ source: ScenarioSource) throws -> [StepAction] {
      try ScenarioParser.parse(try source.text(), file: "t.yaml").steps.map(\.action)
    }
    #expect(try steps(source.keeping(steps: [0, 2])) == [.command(.open), .command(.verify)])
    guard case .write(let one) = try steps(source.keeping(statements: [1], ofStep: 1))[1],
      case .write(let once) = try steps(source.setting(source.counts[0], to: 1))[1],
      case .write(let twice) = try steps(source.setting(source.counts[1], to: 2))[1]
    else {
      Issue.record("the write is gone")
      return
    }
    #expect(one.repeats == 5 && one.statements.map(\.kind) == [.delete])
    #expect(once.repeats == 1 && once.statements.map(\.times) == [3, 1])
    #expect(twice.repeats == 5 && twice.statements.map(\.times) == [2, 1])
  }

  @Test("of synchronization steps before the run, changes, messages and clients go")
  func sync() throws {
    let source = try ScenarioSource(
      """
      title: t
      sync:
        nodes: {s: server, a: client, b: client}
        before: [{write: a, do: [{create: 1}, {create: 2}]}, settle]
        steps: [settle, {deliver: a, direction: up, times: 3}, {drop: b, direction: up, upTo: 2}]
      """, file: "t.yaml")
    func sync(_ source: ScenarioSource) throws -> SyncDeclaration {
      try #require(try ScenarioParser.parse(try source.text(), file: "t.yaml").sync)
    }
    #expect(source.stepCount == 5 && source.nodeCount == 3)
    #expect(source.counts.map(\.value) == [3, 2])
    #expect(source.statementCount(ofStep: 0) == 2)
    let steps = try sync(source.keeping(steps: [2, 3]))
    #expect(steps.before.isEmpty && steps.steps.count == 2)
    let half = try sync(source.keeping(statements: [1], ofStep: 0))
    #expect(half.before.map(\.action).first == .write("a", [.create(2, [])]))
    let fewer = try sync(source.setting(source.counts[0], to: 1).setting(source.counts[1], to: 1))
    #expect(fewer.steps.map(\.times) == [1, 1, 1])
    let alone = try sync(source.keeping(steps: [0, 1, 2, 3]).keeping(nodes: [0, 1]))
    #expect(alone.nodes == ["s", "a"])
    #expect(throws: ScenarioError.self) { try sync(source.keeping(nodes: [0, 1])) }
    #expect(throws: ScenarioError.self) { try sync(source.keeping(nodes: [1, 2])) }
  }

  @Test("of documents steps of actors side by side go, and parts of transactions")
  func documents() throws {
    let source = try ScenarioSource(
      """
      title: t
      documents:
        processes: [p]
        steps:
          - {transaction: [{save: a, body: {n: 1}}, {save: b, body: {n: 2}}], repeat: 4}
          - compact
        together:
          x: [{save: c, body: {n: 3}}, {save: d, body: {n: 4}}]
          y: [{save: e, body: {n: 5}}]
      """, file: "t.yaml")
    #expect(source.stepCount == 5 && source.counts.map(\.value) == [4])
    #expect(source.statementCount(ofStep: 0) == 2 && source.nodeCount == 0)
    let text = try source.keeping(steps: [0, 3, 4]).text()
    #expect(!text.contains("compact") && !text.contains("save: c") && text.contains("save: d"))
    let one = try source.keeping(statements: [0], ofStep: 0).text()
    #expect(one.contains("save: a") && !one.contains("save: b"))
  }

  @Test("a text without steps is refused", arguments: ["", "a: 1", "steps: 3", "[1, 2]", "\t"])
  func refused(text: String) {
    #expect(throws: LabError.self) { try ScenarioSource(text, file: "t.yaml") }
  }
}

extension Scenario {
  /// Number of steps in the file.
  fileprivate var writtenSteps: Int {
    if let sync { return sync.before.count + sync.steps.count }
    guard let documents else { return steps.count }
    return documents.before.count + documents.steps.count
      + documents.together.reduce(0) { $0 + $1.steps.count }
  }
}
