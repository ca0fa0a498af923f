// SyncMergeTarget.swift: choices → a small realm and three clients' operations, concurrent or not,
// valid or not. Invariants checked: nothing is rejected; every order of arrival gives one state
// (I1, I4), each entry's effect matches the history (I3), and there are no dangling links (I13).

import Fuzz
import SyncCore

enum SyncMergeTarget {
  static let target = FuzzTarget(
    name: "sync-merge",
    judges: "concurrent operations in two orders of arrival, and drawn worlds", smokeCount: 400,
    seeds: { FuzzTarget.choiceSeeds("sync-merge") }, run: { run($0) }
  ).with {
    $0.describe = { input in programs(input).flatMap { SyncWords.lines([$0]) } }
    $0.sizeMax = 256
  }

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    if let first = input.first, first % 64 == 7 {
      var world = SyncWorld(MutantChoices(bytes: Array(input.dropFirst())), range: Int(first) / 128)
      return world.run(steps: 40).map { .finding($0) } ?? .accepted
    }
    let entries = programs(input)
    guard let (one, wrong) = merged(entries) else { return .finding("a changeset is refused") }
    if let wrong { return .finding(wrong) }
    // The last client comes first; the operations of a client stay in order.
    let others = entries.dropFirst().sorted {
      $0.changeset.client > $1.changeset.client
        || ($0.changeset.client == $1.changeset.client
          && $0.changeset.sequence < $1.changeset.sequence)
    }
    guard let (other, breach) = merged([entries[0]] + others) else {
      return .finding("a changeset is refused in another order")
    }
    if let breach { return .finding("in another order: \(breach)") }
    guard one.state == other.state else {
      return .finding("\(one.state.objects), in another order \(other.state.objects)")
    }
    if let first = input.first, first % 8 == 1, let wrong = SyncJudge.difference(one) {
      return .finding(wrong)
    }
    return .accepted
  }

  private static func merged(_ entries: [SyncEntry]) -> (SyncMerger, String?)? {
    var merger = SyncMerger()
    for entry in entries {
      do { _ = try merger.accept(entry.changeset) } catch { return nil }
      if let breach = merger.breach(countsDigest: false) { return (merger, breach) }
    }
    return (merger, merger.breach())
  }

  /// An initial changeset, and up to three changesets each of three independent clients.
  private static func programs(_ input: [UInt8]) -> [SyncEntry] {
    var choices = MutantChoices(bytes: Array(input.dropFirst()))
    var operation = DrawnOperation()
    operation.wildness = 6
    var state = SyncState()
    var start: [SyncOperation] = []
    for _ in 0..<choices.below(12) {
      for next in operation.draw(state, &choices) {
        // Operations that fit the state update the author's view.
        guard (try? state.apply(next)) != nil else { continue }
        start.append(next)
      }
    }
    var found = [entry(9, 1, base: 0, stamp: 1, start)]
    for client in 1...3 as ClosedRange<UInt64> {
      var seen = state
      for sequence in 0..<UInt64(choices.below(4)) {
        var operations: [SyncOperation] = []
        for _ in 0...choices.below(2) {
          let drawn = operation.draw(seen, &choices)
          for next in drawn { _ = try? seen.apply(next) }
          operations += drawn
        }
        let stamp = 2 + UInt64(choices.below(4)) + 10 * sequence
        found.append(entry(client, sequence + 1, base: 1, stamp: stamp, operations))
      }
    }
    return found
  }

  private static func entry(
    _ client: UInt64, _ sequence: UInt64, base: UInt64, stamp: UInt64,
    _ operations: [SyncOperation]
  ) -> SyncEntry {
    SyncEntry(
      version: SyncVersion(base), user: 0,
      changeset: SyncChangeset(
        client: SyncClient(client), sequence: sequence, base: SyncVersion(base),
        stamp: SyncStamp(bits: stamp), operations: operations))
  }
}
