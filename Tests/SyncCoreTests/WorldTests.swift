// WorldTests.swift: drawn worlds of clients and a server, some away for long: every replica agrees.

import Fuzz
import Requirements
import SyncFuzz
import Testing

@Suite("Worlds of clients")
struct WorldTests {
  @Test("come to one state, whatever the barrier and however stale", arguments: [0, 1])
  func worlds(range: Int) {
    var (staleCount, entryCount) = (0, 0)
    for seed in 0..<(FullSize.isOn ? 3000 : 40) as Range<UInt64> {
      var world = SyncWorld(MutantChoices(seed: seed &* 77 &+ 5), range: range)
      if let wrong = world.run(steps: 70) {
        Issue.record("seed \(seed): \(wrong)\n\(world.log.joined(separator: "\n"))")
        break
      }
      staleCount += world.staleCount
      entryCount += world.server.entries.count
    }
    print("worlds of range \(range): \(entryCount) entries, \(staleCount) of them stale")
    #expect(staleCount > 20)
  }
}
