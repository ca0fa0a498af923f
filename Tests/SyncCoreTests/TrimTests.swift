// TrimTests.swift: logs whose beginning is removed again and again, whole and with only the objects
// that their entries name: each changeset gives the same entry as in the log that keeps all.

import Fuzz
import Requirements
import SyncCore
import SyncFuzz
import Testing

@Suite("A log without its beginning")
struct TrimTests {
  /// Three clients that are away for some time, and the log as three see it.
  private struct Life {
    var choices: MutantChoices
    var whole = OrderCheck(Alphabet.mixedStart).start
    var trimmed: SyncMerger
    /// As a server has it: of the objects, only those that its entries name.
    var partial: SyncMerger
    var lasts: [SyncChangeset]
    var (staleCount, trimCount, refusedCount) = (0, 0, 0)

    init(_ seed: UInt64) {
      choices = MutantChoices(seed: seed)
      (trimmed, partial) = (whole, whole)
      lasts = (1...3).map {
        SyncChangeset(
          client: SyncClient($0), sequence: 0, base: SyncVersion(1), stamp: .zero, operations: [])
      }
    }
  }

  private func named(_ log: SyncMerger) -> Set<SyncObject> {
    var objects: Set<SyncObject> = []
    func add(_ operation: SyncOperation) {
      objects.insert(operation.object)
      // Links lead to these two, and from them to what is deleted.
      guard case .change(_, let change) = operation else {
        objects.formUnion([Alphabet.dog, Alphabet.cat])
        return
      }
      for case .link(let target) in change.values { objects.insert(target) }
    }
    for entry in log.entries {
      for operation in entry.changeset.operations { add(operation) }
      for operation in (entry.resolved ?? []) + (entry.restated ?? []) { add(operation.operation) }
    }
    return objects
  }

  /// The version from which a client needs the entries: by the rule, over the whole log.
  private func needed(_ life: Life, _ number: Int) -> UInt64 {
    let client = life.lasts[number].client
    var lowest = life.lasts[number].base.number
    let own = life.whole.entries.filter { $0.changeset.client == client }
    while let earlier = own.first(where: {
      $0.version.number > lowest && $0.changeset.base.number < lowest
    }) {
      lowest = earlier.changeset.base.number
    }
    return life.whole.entries.first { $0.version.number == lowest }?.barrier.number ?? 0
  }

  private func accept(_ life: inout Life, _ comment: String) throws {
    let number = life.choices.below(3)
    let low = life.lasts[number].base.number
    let head = life.whole.head.number
    let step = UInt64(life.choices.below(5))
    let base = life.choices.below(3) == 0 ? head : min(head, low + step)
    let client = life.lasts[number].client
    let known = life.whole.knownStamp(client: client, base: SyncVersion(base))
    let alphabet = Alphabet.mixed(Int64(number + 1))
    let changeset = SyncChangeset(
      client: client, sequence: life.lasts[number].sequence + 1, base: SyncVersion(base),
      stamp: SyncStamp(bits: known.bits + 1 + UInt64(life.choices.below(30))),
      operations: (0...life.choices.below(2)).map { _ in
        alphabet[life.choices.below(alphabet.count)]
      })
    life.lasts[number] = changeset
    let lows = life.lasts.map(\.base)
    let goals = [nil, nil, lows.min(), lows.max(), life.whole.head]
    let goal = goals[life.choices.below(goals.count)]
    let refusal: UInt32? = life.choices.below(9) == 0 ? 7 : nil
    let entry = try life.whole.accept(changeset, refusal: refusal, barrierAtMost: goal)
    life.staleCount += entry.isStale ? 1 : 0
    life.refusedCount += refusal == nil ? 0 : 1
    let fromTrimmed = try life.trimmed.accept(changeset, refusal: refusal, barrierAtMost: goal)
    try #require(fromTrimmed == entry, "\(comment)")
    let fromPartial = try life.partial.accept(changeset, refusal: refusal, barrierAtMost: goal)
    try #require(fromPartial == entry, "\(comment), partial")
  }

  private func trim(_ life: inout Life, _ comment: String) throws {
    var goal = life.whole.barrier
    for number in life.lasts.indices {
      let (client, base) = (life.lasts[number].client, life.lasts[number].base)
      let found = life.trimmed.needed(by: client, base: base)
      let expected = max(needed(life, number), life.trimmed.start.number)
      try #require(found.number == expected, "\(comment), client \(number)")
      goal = min(goal, found)
    }
    life.trimCount += goal > life.trimmed.start ? 1 : 0
    life.trimmed.trim(to: goal)
    life.partial.trim(to: goal)
    try #require(life.trimmed.start == goal && life.partial.start == goal)
    try #require(life.trimmed.chain(at: goal) == life.whole.chain(at: goal))
    let kept = named(life.partial)
    life.partial.forget { kept.contains($0) }
  }

  @Test("gives the same entries, with the objects that it needs")
  func lives() throws {
    var (staleCount, trimCount, refusedCount) = (0, 0, 0)
    for seed in 0..<UInt64(FullSize.isOn ? 5_000 : 40) {
      var life = Life(seed)
      for step in 0..<24 {
        let comment = "seed \(seed), step \(step)"
        if life.choices.below(4) == 0 { try trim(&life, comment) }
        let known = named(life.partial)
        life.partial.include(life.whole.state.objects.filter { !known.contains($0.key) })
        try accept(&life, comment)
        try #require(life.trimmed.state == life.whole.state, "\(comment)")
        for (object, node) in life.partial.state.objects {
          try #require(node == life.whole.state.objects[object], "\(comment), \(object)")
        }
      }
      for log in [life.trimmed, life.partial] {
        if let breach = log.breach(countsDigest: false) ?? log.replayBreach() {
          Issue.record("seed \(seed): \(breach)")
          return
        }
      }
      let parts = try SyncMerger(
        life.trimmed.startInWords, objects: life.trimmed.startState,
        entries: life.trimmed.entries)
      try #require(parts == life.trimmed, "seed \(seed)")
      staleCount += life.staleCount
      trimCount += life.trimCount
      refusedCount += life.refusedCount
    }
    print("trimmed logs: \(staleCount) stale, \(trimCount) trims, \(refusedCount) refused")
    #expect(staleCount > 100 && trimCount > 40 && refusedCount > 40)
  }

  @Test("names its authors in the order of their numbers")
  func authors() throws {
    var log = SyncMerger()
    for client in [4, 2, 9, 1, 7] as [UInt64] {
      try log.accept(
        SyncChangeset(
          client: SyncClient(client), sequence: 1, base: .zero, stamp: SyncStamp(bits: client),
          operations: [.create(SyncObject("C", .int(Int64(client))))]),
        barrierAtMost: SyncVersion(.max))
    }
    log.trim(to: log.barrier)
    #expect(log.entries.isEmpty && log.startInWords.authors.map(\.client) == [1, 2, 4, 7, 9])
  }
}
