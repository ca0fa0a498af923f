// SyncCertificateTests.swift: which syncs of a synchronized realm's nodes are needed, by states of
// one node that the rest of the world is judged with.

import Testing

@testable import Exploration
@testable import Findings
@testable import LabCore
@testable import Scenarios
@testable import Workload

@Suite("certificates of synchronization") struct SyncCertificateTests {
  private func scenario(_ name: String) throws -> Scenario {
    let path = "\(SyncScenarioTests.root.path)/scenarios/\(name).yaml"
    return try ScenarioRunner.load([path])[0]
  }

  private func runner(budget: Int? = nil) throws -> ScenarioRunner {
    var settings = ExplorationSettings()
    settings.budget = budget
    return try ScenarioRunner(settings: settings, console: .silent, backend: .inProcess)
  }

  @Test("each node has one, every place that issues syncs is needed, and proofs replay")
  func twoClients() throws {
    let runner = try runner()
    let scenario = try scenario("sync/two-clients")
    let certificates = try runner.certify(scenario)
    #expect(
      certificates.map(\.name) == ["server", "a", "b"].map { "\(scenario.file) at \($0)" })
    for certificate in certificates {
      #expect(certificate.baseline.allSatisfy { $0.findings.isEmpty && $0.exploredCount > 10 })
      // Nobody died in these folders, so a sync of them when a file is opened secures nothing.
      let places = certificate.sites.filter { !$0.text.hasPrefix("fsync of the directory") }
      #expect(places.count >= 3 && certificate.sites.count == places.count + 1)
      #expect(places.allSatisfy { $0.verdict?.isNeeded == true }, "\(certificate.lines)")
      for (name, token) in certificate.proofTokens.prefix(2) {
        guard case .scenario(let recipe) = try ReplayRecipe(token: token) else {
          Issue.record("the token of \(name) is none of a scenario")
          continue
        }
        #expect(recipe.ignoredSyncs?.isEmpty == false)
        #expect(try runner.replay(recipe, keepingImageIn: nil)?.headline.hasPrefix("sync:") == true)
        // With its syncs the disk cannot be in that state.
        var kept = recipe
        kept.ignoredSyncs = nil
        #expect(throws: LabError.self) { try runner.replay(kept, keepingImageIn: nil) }
      }
    }
    try runner.end()
  }

  @Test(
    "a node whose bug is planted has none",
    arguments: ["negative/sync-server-ignores-syncs", "negative/sync-client-ignores-syncs"])
  func planted(name: String) throws {
    let runner = try runner()
    let error = #expect(throws: LabError.self) { try runner.certify(scenario(name)) }
    #expect(error?.code == .usage)
    try runner.end()
  }

  @Test("a world that breaks its promises with all syncs kept has a broken one")
  func broken() throws {
    let runner = try runner(budget: 40)
    var scenario = try scenario("negative/sync-server-ignores-syncs")
    scenario.negative = nil
    let outcomes = try runner.certify(scenario).map(\.outcome)
    #expect(outcomes.contains(.broken))
    try runner.end()
  }
}
