// RecorderTests.swift: I12: the version before with the recorded changeset is the version after;
// by the rules of the merge, and with nothing overruled, since nobody else writes.

import ObjectDatabase
import Requirements
import SyncClient
import SyncCore
import Testing

@Suite("Recorded transactions")
struct RecorderTests {
  @Test("are what they did")
  func randomPrograms() throws {
    let lives = FullSize.isOn ? 1900 : 12
    var recorded = 0
    for seed in 0..<UInt64(lives) {
      recorded += try life(seed)
    }
    print("recorded transactions: \(recorded)")
    #expect(recorded > 40 * lives)
  }

  /// - Returns: How many transactions were recorded.
  private func life(_ seed: UInt64) throws -> Int {
    let file = try TestFile("recorder \(seed)")
    let realm = try file.realm()
    var program = RandomProgram(seed, realm)
    var merger = SyncMerger()
    var count = 0
    for number in 0..<64 {
      realm.beginWrite()
      for _ in 0...program.below(4) { program.change() }
      if program.chance(10) {
        realm.cancelWrite()
      } else {
        try realm.commitUnlessRefused()
      }
      let pending = try file.pending()
      try #require(pending.count == count || pending.count == count + 1)
      if pending.count > count {
        count += 1
        let entry = try merger.accept(pending[count - 1])
        try #require(
          entry.overruled.isEmpty, "seed \(seed), transaction \(number): \(entry.overruled)")
      }
      let state = try file.state()
      if state != merger.state {
        Issue.record(
          """
          seed \(seed), transaction \(number): \(pending.last?.operations ?? [])
          \(Self.difference(merger.state, state))
          """)
        return count
      }
    }
    return count
  }

  static func difference(_ left: SyncState, _ right: SyncState) -> String {
    Set(left.objects.keys).union(right.objects.keys).sorted().compactMap { object in
      let (one, other) = (left.objects[object], right.objects[object])
      guard one != other else { return nil }
      let names = Set((one?.fields ?? [:]).keys).union((other?.fields ?? [:]).keys).sorted()
      return names.filter { one?[$0] != other?[$0] }.map { name in
        "\(object.type) \(object.key).\(name): replayed "
          + (one.map { "\($0[name])" } ?? "none") + ", in the file "
          + (other.map { "\($0[name])" } ?? "none")
      }.joined(separator: "\n")
    }.joined(separator: "\n")
  }
}
