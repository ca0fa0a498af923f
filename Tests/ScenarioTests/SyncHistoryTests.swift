// SyncHistoryTests.swift: drawn histories of clients and a server, what a stress run does to them,
// and what is left of them when one breaks an invariant.

import Foundation
import TestSupport
import Testing

@testable import Exploration
@testable import Findings
@testable import LabCore
@testable import Scenarios
@testable import SyncLab
@testable import Workload

@Suite("drawn histories of synchronization") struct SyncHistoryTests {
  private static func scenario(_ history: String, _ rest: String = "") throws -> Scenario {
    try ScenarioParser.parse("title: t\nhistory: \(history)\n\(rest)\n", file: "drawn.yaml")
  }

  private static func problems(_ history: String, _ rest: String = "") -> String {
    do {
      _ = try scenario(history, rest)
      return ""
    } catch {
      return "\(error)"
    }
  }

  @Test("follow from seed and number, and each is a scenario of one to all clients")
  func drawing() throws {
    let scenario = try Self.scenario("{of: sync, steps: 30, processes: 4}")
    var texts: Set<String> = []
    var clients: Set<Int> = []
    for number in 0..<60 {
      let drawn = try scenario.drawn(number, seed: Seed(rawValue: 7))
      #expect(drawn.text == (try scenario.drawn(number, seed: Seed(rawValue: 7)).text))
      texts.insert(drawn.text)
      let sync = try #require(drawn.scenario.sync)
      clients.insert(sync.clients.count)
      #expect(sync.steps.count == 30 && drawn.scenario.historyNumber == number)
    }
    #expect(texts.count == 60 && clients == [1, 2, 3, 4])
  }

  @Test("do what their features say, and nothing else")
  func features() throws {
    let words: [HistoryFeature: String] = [
      .disconnects: "disconnect", .losses: "drop", .duplicates: "duplicate", .overtaking: "delay",
      .cuts: "cut", .exits: "crash", .clocks: "clock", .clones: "clone", .trims: "trim",
    ]
    let all = HistoryFeature.allCases.filter { HistoryFeature.ofSync.contains($0) }.map(\.rawValue)
    func verbs(_ key: String) throws -> Set<String> {
      let scenario = try Self.scenario(
        "{of: sync, steps: 300, processes: 3, \(key): [\(all.joined(separator: ", "))]}")
      return Set(
        try (0..<4).flatMap { number in
          try scenario.drawn(number, seed: Seed(rawValue: 1)).scenario.sync?.steps ?? []
        }.map(\.action.verb))
    }
    let (with, without) = (try verbs("with"), try verbs("without"))
    #expect(without == ["write", "deliver", "connect", "settle"])
    #expect(with.isSuperset(of: words.values) && with.isSuperset(of: ["heal", "copy", "restore"]))
  }

  @Test("what is wrong with one is said once and with its place")
  func problems() {
    #expect(Self.problems("{of: sync, with: pins}").contains("of sync have no 'pins'"))
    #expect(Self.problems("{with: clones}").contains("histories of tables have no 'clones'"))
    #expect(Self.problems("{plant: keepEpoch}").contains("'plant' is for histories of sync"))
    #expect(Self.problems("{of: sync, plant: x}").contains("planted bug"))
    let beside = Self.problems("{of: sync}", "schedule: {strategy: random}")
    #expect(beside.contains("'schedule' has no meaning beside 'of: sync'"))
    #expect(
      Self.problems("{of: sync}", "crash: {model: posix, recovery: 1}").contains("not for sync"))
  }

  @Test("are run and judged with crash states, and what never came up is reported")
  func run() throws {
    let scenario = try Self.scenario(
      "{of: sync, histories: 2, steps: 20}", "crash: {model: posix, budget: {states: 8}}")
    let runner = try ScenarioRunner(
      settings: ExplorationSettings(), console: .silent, backend: .inProcess)
    let item = try runner.run(scenario)
    try runner.end()
    #expect(item.outcome == .held, "\(item.findings)")
    let counts = try #require(item.histories)
    #expect(counts.histories == 2 && counts.steps > 40 && counts.operations > 50)
    #expect(counts.actions.contains { $0.name == "write" && $0.count > 4 })
    #expect(counts.engine.contains { $0.name == "sync" && $0.count > 4 })
  }

  @Test("a planted bug in one becomes a small scenario, and its token brings it back")
  func failing() throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("drawn.yaml")
    let text = "title: t\nhistory: {of: sync, steps: 40, with: backups, plant: keepEpoch}\n"
    try Data(text.utf8).write(to: URL(filePath: path))
    let runner = try ScenarioRunner(
      settings: ExplorationSettings(), console: .silent, backend: .inProcess)
    let item = try runner.run(try ScenarioRunner.load([path])[0])
    let finding = try #require(item.findings.first)
    #expect(finding.headline.hasPrefix("sync: epoch"))
    let recipe = try Self.recipe(finding.token)
    #expect(try runner.replay(recipe, keepingImageIn: nil)?.headline == finding.headline)
    try runner.end()
    let shrinker = try ScenarioShrinker(
      settings: ExplorationSettings(), console: .silent, backend: .inProcess, runBudget: 200)
    let small = try #require(try shrinker.shrink(path, keeping: recipe, out: nil))
    try shrinker.end()
    let sync = try #require(try ScenarioParser.parse(small.text, file: "small.yaml").sync)
    #expect(!small.isCutShort && sync.clients.count == 1)
    #expect(sync.steps.map(\.action.verb).contains("restore"))
    #expect(sync.before.count + sync.steps.count <= 4, "\(small.text)")
  }

  private static func recipe(_ token: String) throws -> ScenarioRecipe {
    guard case .scenario(let recipe) = try ReplayRecipe(token: token) else {
      throw LabError.usage("the token is none of a scenario")
    }
    return recipe
  }
}
