// SyncScenarioTests.swift: scenarios on synchronized realms: the language, the world, crash states
// of its nodes, and tokens.

import Foundation
import TestSupport
import Testing

@testable import Exploration
@testable import Findings
@testable import LabCore
@testable import Scenarios
@testable import SyncLab
@testable import Workload

@Suite("scenarios on synchronization") struct SyncScenarioTests {
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static func paths(_ folder: String, _ prefix: String = "") -> [String] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "\(root.path)/\(folder)")) ?? []
    return all.filter { $0.hasPrefix(prefix) && $0.hasSuffix(".yaml") }.sorted()
      .map { "\(root.path)/\(folder)/\($0)" }
  }

  static func parse(_ sync: String) throws -> Scenario {
    try ScenarioParser.parse("title: t\nsync:\n  \(sync)\n", file: "test.yaml")
  }

  private static let nodes = "nodes: {s: server, a: client, b: client}\n  "

  static func world(_ sync: String) throws -> LabWorld {
    let world = try LabWorld(try #require(try parse(nodes + sync).sync))
    try world.run()
    return world
  }

  @Test("the shipped ones hold without a crash, and there are at least 25 of them")
  func shipped() throws {
    let paths = Self.paths("scenarios/sync")
    #expect(paths.count >= 25)
    for scenario in try ScenarioRunner.load(paths) {
      let world = try LabWorld(try #require(scenario.sync))
      try world.run()
      #expect(world.breaches == [], "\(scenario.file)")
    }
  }

  @Test("a run is the same each time")
  func determinism() throws {
    let scenario = try ScenarioRunner.load(["\(Self.root.path)/scenarios/sync/three-clients.yaml"])
    let runs = try (0..<2).map { _ in
      let world = try LabWorld(try #require(scenario[0].sync))
      try world.run()
      return (world.messages, world.recordings.flatMap { $0.lives.map(\.shape) })
    }
    #expect(runs[0].0 == runs[1].0 && runs[0].0.count > 10)
    #expect(runs[0].1 == runs[1].1 && runs[0].1.count == 4)
  }

  @Test("crash states of every node hold, and a planted bug's token brings it back")
  func crashes() throws {
    let good = try ScenarioRunner.load(["\(Self.root.path)/scenarios/sync/counter.yaml"])[0]
    let path = "\(Self.root.path)/scenarios/negative/sync-server-ignores-syncs.yaml"
    let bad = try ScenarioRunner.load([path])[0]
    var settings = ExplorationSettings()
    settings.budget = 12
    let runner = try ScenarioRunner(
      settings: settings, console: .silent, backend: .inProcess)
    let held = try runner.run(good)
    #expect(held.outcome == .held && held.findings.isEmpty)
    #expect(held.explorations.count == 7)
    #expect(held.messages?.nodes == good.sync?.nodes)
    #expect(held.messages?.events.contains { $0.text == "upload 1" && !$0.isLost } == true)
    #expect(held.explorations.dropFirst().allSatisfy { $0.exploredCount == 4 })
    try runner.end()
    settings.budget = nil
    let finder = try ScenarioRunner(settings: settings, console: .silent, backend: .inProcess)
    let found = try finder.run(bad)
    #expect(found.outcome == .held)
    let finding = try #require(found.findings.first)
    guard case .scenario(let recipe) = try ReplayRecipe(token: finding.token) else {
      Issue.record("the token is none of a scenario")
      return
    }
    let again = try finder.replay(recipe, keepingImageIn: nil)
    #expect(again?.headline == finding.headline)
    try finder.end()
  }

  @Test("messages that are dropped are lost in the chart, and those that are asked for come later")
  func lostMessages() throws {
    let path = "\(Self.root.path)/scenarios/sync/lost-entries.yaml"
    let world = try LabWorld(try #require(try ScenarioRunner.load([path])[0].sync))
    try world.run()
    let lost = world.messages.filter { $0.isLost && $0.text.hasPrefix("entries") }
    #expect(lost.map(\.to).sorted() == ["a", "b"] && lost.allSatisfy { $0.from == "server" })
    for message in lost {
      let place = try #require(world.messages.firstIndex(of: message))
      var arrived = message
      arrived.isLost = false
      #expect(world.messages[place...].contains(arrived), "\(message)")
    }
  }

  @Test(
    "a step about messages that are not there is an error with its line",
    arguments: [
      "{deliver: a, direction: up}", "{drop: a, direction: down}",
      "{duplicate: b, direction: up}", "{delay: b, direction: down}",
    ])
  func noMessages(step: String) throws {
    for before in ["", "settle, "] {
      let error = #expect(throws: LabError.self) {
        _ = try Self.world("steps: [\(before)\(step)]")
      }
      #expect(error?.code == .usage && error?.message.hasPrefix("4:") == true)
    }
  }

  @Test("every invariant has a sentence, a name and a planted bug")
  func invariants() throws {
    for promise in SyncPromise.allCases {
      #expect(SyncPromise(named: promise.name) == promise)
      #expect(!promise.sentence.isEmpty)
    }
    let negative = try ScenarioRunner.load(Self.paths("scenarios/negative", "sync-"))
    let broken = Set(negative.compactMap { $0.sync?.breaks })
    #expect(broken == Set(SyncPromise.allCases))
    #expect(Set(negative.compactMap { $0.sync?.plant }) == Set(SyncPlant.allCases))
  }

  @Test("a client that sees what another one does not is noticed")
  func expectations() throws {
    let world = try Self.world(
      "steps: [{write: a, do: [{create: 1}]}, {expect: b, dog: 1, age: 0}]")
    #expect(world.breaches.map(\.promise) == [.expected])
    let gone = try Self.world(
      "steps: [{write: a, do: [{create: 1}]}, {expect: a, dog: 1, gone: true}]")
    #expect(gone.breaches.map(\.promise) == [.expected])
  }

  @Test(
    "what cannot be done is an error at its place",
    arguments: [
      ("nodes: {a: client}\n  steps: [settle]", "one server, and 1 to 8 clients"),
      ("nodes: {s: server}\n  steps: [settle]", "one server, and 1 to 8 clients"),
      ("nodes: {s: server, t: server}\n  steps: [settle]", "is a second server"),
      ("nodes: {s: server, a: klient}\n  steps: [settle]", "is not a kind of node"),
      (nodes + "steps: [setle]", "is not a step"),
      (nodes + "steps: [{write: c, do: [{create: 1}]}]", "is not a client"),
      (nodes + "steps: [{write: s, do: [{create: 1}]}]", "is not a client"),
      (nodes + "steps: [{write: a}]", "lacks the key 'do'"),
      (nodes + "steps: [{write: a, do: []}]", "expected a list of changes"),
      (nodes + "steps: [{write: a, do: [{age: 1}]}]", "a change without an action"),
      (nodes + "steps: [{write: a, do: [{create: 1, delete: 1}]}]", "two actions"),
      (nodes + "steps: [{deliver: a}]", "lacks the key 'direction'"),
      (nodes + "steps: [{cut: a, direction: left}]", "is not a direction"),
      (nodes + "steps: [{crash: a, heal: b}]", "a step with two actions"),
      (nodes + "plant: tree\n  steps: [settle]", "is not a planted bug"),
      (nodes + "steps: [settle]\nschema: objects", "no meaning beside 'sync'"),
      (nodes + "steps: [settle]\ncrash: {model: posix, explore: prefixes}", "not for sync"),
    ])
  func refusals(sync: String, message: String) throws {
    let error = #expect(throws: ScenarioError.self) { try Self.parse(sync) }
    #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
  }
}
