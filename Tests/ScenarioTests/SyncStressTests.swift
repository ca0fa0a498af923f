// SyncStressTests.swift: scenarios on synchronization under power failures, kills and faults of any
// node, several in each round.

import TestSupport
import Testing

@testable import CrashStates
@testable import Exploration
@testable import FaultFS
@testable import Findings
@testable import LabCore
@testable import Scenarios
@testable import SyncLab
@testable import Workload

@Suite("stress of synchronization") struct SyncStressTests {
  private static func scenario(_ path: String) throws -> Scenario {
    try ScenarioRunner.load(["\(SyncScenarioTests.root.path)/scenarios/\(path)"])[0]
  }

  private static func stress(
    _ scenario: Scenario, cuts: Int, seed: UInt64
  ) throws -> (item: CaseReport, lines: [String]) {
    var settings = StressSettings()
    settings.cuts = cuts
    settings.seed = Seed(rawValue: seed)
    var stress = try SyncStress(scenario, settings, .silent)
    let item = try stress.stress()
    return (item, item.findings.map { "\($0.headline) \($0.crash) \($0.token)" })
  }

  private static func recipe(_ token: String) throws -> ScenarioRecipe {
    guard case .scenario(let recipe) = try ReplayRecipe(token: token) else {
      throw LabError.usage("the token is none of a scenario")
    }
    return recipe
  }

  @Test(
    "correct nodes keep all invariants, whatever happens to them",
    arguments: ["sync/three-clients.yaml", "sync/restored-server.yaml", "histories/sync.yaml"])
  func correct(path: String) throws {
    let cuts = FullSize.isOn ? 2_000 : 40
    let (item, lines) = try Self.stress(try Self.scenario(path), cuts: cuts, seed: 8)
    #expect(item.outcome == .held && lines.isEmpty, "\(lines)")
    let exploration = try #require(item.explorations.first)
    #expect(exploration.exploredCount >= cuts && exploration.operationCount > cuts)
  }

  @Test("a seed gives one run, and a server without syncs is found, explained and replayed")
  func planted() throws {
    let scenario = try Self.scenario("negative/sync-server-ignores-syncs.yaml")
    let runs = try (0..<2).map { _ in try Self.stress(scenario, cuts: 60, seed: 3) }
    #expect(runs[0].lines == runs[1].lines)
    let finding = try #require(runs[0].item.findings.first)
    #expect(runs[0].item.outcome == .broken)
    #expect(finding.crash.contains("power of server fails"), "\(finding.crash)")
    #expect(finding.missingSync.contains { $0.contains("fsync") }, "\(finding.missingSync)")
    let recipe = try Self.recipe(finding.token)
    guard case .accidents(let accidents) = recipe.place else {
      Issue.record("the token names no accidents")
      return
    }
    // The least that breaks it is one power failure.
    #expect(accidents.count == 1 && accidents[0].isPowerFailure)
    let runner = try ScenarioRunner(
      settings: ExplorationSettings(), console: .silent, backend: .inProcess)
    #expect(try runner.replay(recipe, keepingImageIn: nil)?.headline == finding.headline)
    var other = recipe
    let event = try #require(accidents[0].event)
    other.place = .accidents([
      NodeAccident(
        node: "server", life: 0, kind: .power(event: event, model: "posix", state: "nonsense"))
    ])
    #expect(throws: LabError.self) { try runner.replay(other, keepingImageIn: nil) }
    try runner.end()
  }

  @Test("power of one node may fail while the disk of another has a fault")
  func together() throws {
    let scenario = try Self.scenario("sync/two-clients.yaml")
    let runner = try ScenarioRunner(
      settings: ExplorationSettings(), console: .silent, backend: .inProcess)
    let run = SyncRun(runner, scenario, try #require(scenario.sync))
    func fault(_ text: String) throws -> NodeAccident.Kind {
      let rules = try FaultFile.parse(commandLine: text, file: "test", allowsAnyErrno: false)
      return .fault(try #require(rules.first))
    }
    // The server begins again because of the first one; the second one hits while it does.
    let first = NodeAccident(
      node: "server", life: 0, kind: try fault("on: write, nth: 2, error: ENOSPC"))
    var together = 0
    for number in 1...7 {
      let second = NodeAccident(
        node: "server", life: 1, kind: try fault("on: sync, nth: \(number), error: EIO"))
      for event in 1..<40 {
        let kill = NodeAccident(node: "a", life: 0, kind: .kill(event: event))
        let disturbed = try run.run(with: [first, second, kill])
        #expect(disturbed.breaches == [], "sync \(number), event \(event)")
        if disturbed.accidents.count == 3 { together += 1 }
      }
    }
    #expect(together > 50)
    try runner.end()
  }
}
