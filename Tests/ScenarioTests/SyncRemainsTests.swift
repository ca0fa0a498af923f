// SyncRemainsTests.swift: crash states that share a verdict lead to the same run.

import CrashStates
import Testing

@testable import LabCore
@testable import Recording
@testable import Scenarios
@testable import SyncLab
@testable import Workload

@Suite("crash states that leave the same") struct SyncRemainsTests {
  /// How a run ended, message by message.
  private struct End: Hashable {
    let breaches: [LabBreach]
    let messages: [LabMessage]
  }

  @Test("are followed by the same, and what they have in common is needed for that")
  func ends() throws {
    let path = "\(SyncScenarioTests.root.path)/scenarios/sync/server-ends.yaml"
    let declared = try #require(try ScenarioRunner.load([path])[0].sync)
    let recorded = try LabWorld(declared)
    try recorded.run()
    var (states, classes, conflicts) = (0, 0, 0)
    for (node, lives) in recorded.recordings {
      for (number, life) in lives.enumerated() {
        let enumerator = try CrashStateEnumerator(
          trace: life, model: .posix, seed: Seed(rawValue: 1))
        var ends: [LabRemains: End] = [:]
        var contents: [[UInt8]: Set<End>] = [:]
        try enumerator.visit(try enumerator.plan(budget: 24)) {
          (explored, built) throws(LabError) in
          let (image, event) = (built.treeImage(), explored.state.crashPoint)
          let end = try Self.end(declared, LabPlace(node: node, life: number, event: event), image)
          let remains = LabRemains(of: image, at: event, in: life)
          let other = ends.updateValue(end, forKey: remains) ?? end
          #expect(other == end, "event \(event) of \(node)")
          contents[remains.content, default: []].insert(end)
          states += 1
          return .goOn
        }
        classes += ends.count
        conflicts += contents.values.count { $0.count > 1 }
      }
    }
    #expect(states > 60 && classes < states)
    // The content alone decides nothing: the moment does, too.
    #expect(conflicts > 0)
  }

  private static func end(
    _ declared: SyncDeclaration, _ place: LabPlace, _ image: TreeImage
  ) throws(LabError) -> End {
    let world: LabWorld
    do { world = try LabWorld(declared, .cut(place, image)) } catch { throw .lab("\(error)") }
    try world.run()
    return End(breaches: world.breaches, messages: world.messages)
  }
}
