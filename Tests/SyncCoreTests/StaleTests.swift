// StaleTests.swift: changesets of a client that was away: every operation against every other one
// that it did not know of, behind a barrier that was moved meanwhile.

import Fuzz
import Requirements
import SyncCore
import SyncFuzz
import SyncReference
import Testing

@Suite("A stale changeset")
struct StaleTests {
  /// A realm that went on while a client was away, with the barrier at its head.
  private func start(_ meanwhile: [SyncOperation]) throws -> SyncMerger {
    var merger = OrderCheck(Alphabet.mixedStart).start
    try merger.accept(changeset(2, 1, base: 1, stamp: 20, meanwhile))
    try merger.accept(changeset(3, 1, base: 2, stamp: 30, []), barrierAtMost: SyncVersion(3))
    #expect(merger.barrier == SyncVersion(3))
    return merger
  }

  private func breach(_ merger: SyncMerger) -> String? {
    merger.breach() ?? merger.replayBreach() ?? SyncJudge.difference(merger)
  }

  @Test("comes to the same from any barrier, earlier or later than what it did not know of")
  func pairs() throws {
    let (others, mine) = (Alphabet.mixed(2), Alphabet.mixed(1))
    var breaches: [String] = []
    var count = 0
    for (number, other) in others.enumerated() {
      let start = try start([other])
      for (index, operation) in mine.enumerated()
      where FullSize.isOn || (number + index) % 5 == 0 {
        for stamp in [15, 25] as [UInt64] {
          var merger = start
          let entry = try merger.accept(changeset(1, 1, base: 1, stamp: stamp, [operation]))
          #expect(entry.isStale && !isStaleNext(merger))
          count += 1
          guard breaches.count < 4, let wrong = breach(merger) else { continue }
          breaches.append("\(other), then stale \(operation) at \(stamp): \(wrong)")
        }
      }
    }
    #expect(breaches == [])
    #expect(count > 1000)
  }

  private func isStaleNext(_ merger: SyncMerger) -> Bool {
    merger.isStale(changeset(1, 2, base: merger.head.number, stamp: 90, []))
  }

  @Test("built on another stale one is restated, too, and its author's view is known")
  func chains() throws {
    let (others, mine) = (Alphabet.mixed(2), Alphabet.mixed(1))
    var breaches: [String] = []
    let numbers = stride(from: 0, to: others.count * mine.count, by: FullSize.isOn ? 1 : 23)
    // In 320 alone it matters that the view has the stale one as its newest entry.
    for number in [320] + Array(numbers) {
      var merger = try start([others[number % others.count]])
      let replica = OrderCheck(Alphabet.mixedStart).start
      let first = changeset(1, 1, base: 1, stamp: 25, [mine[number / others.count]])
      let seen = replica.visible(to: SyncClient(1), pending: [first])
      let next = changeset(1, 2, base: 1, stamp: 26, [mine[(number * 7 + 3) % mine.count]])
      try merger.accept(first)
      #expect(merger.authorState(of: next) == seen)
      // Who has the first one as its newest entry shows the other one as it will come.
      let shown = merger.visible(to: SyncClient(1), pending: [next])
      let entry = try merger.accept(next)
      #expect(entry.isStale)
      #expect(merger.state == shown, "\(number)")
      if breaches.count < 4, let wrong = breach(merger) { breaches.append("\(number): \(wrong)") }
      // One that knows both is fair again, and others replay them as restated.
      try merger.accept(changeset(1, 3, base: 5, stamp: 40, [mine[number % 11]]))
      if breaches.count < 4, let wrong = breach(merger) { breaches.append("\(number): \(wrong)") }
      try compareReplica(merger)
    }
    #expect(breaches == [])
  }

  /// A client that takes all entries comes to the same, entry by entry.
  private func compareReplica(_ merger: SyncMerger) throws {
    var replica = SyncMerger()
    for entry in merger.entries { try replica.take(SyncEntry(decoding: entry.encoded())) }
    #expect(replica.state == merger.state && replica.barrier == merger.barrier)
  }

  @Test("keeps every increment that is later than its set, whatever the barrier", arguments: 0..<8)
  func counters(part: UInt64) throws {
    let n = SyncField(Alphabet.dog, [], "n")
    var staleCount = 0
    for seed in part * 40..<part * 40 + (FullSize.isOn ? 4000 : 40) {
      var choices = MutantChoices(seed: seed)
      var merger = OrderCheck(Alphabet.mixedStart).start
      var lasts = [SyncChangeset](
        repeating: changeset(1, 0, base: 1, stamp: 0, []), count: 3)
      for _ in 0..<12 {
        let client = choices.below(3)
        let low = lasts[client].base.number
        let base = low + UInt64(choices.below(Int(merger.head.number - low) + 1) & 3)
        let known = merger.knownStamp(
          client: SyncClient(UInt64(client + 1)), base: SyncVersion(base))
        let change: SyncChange =
          choices.below(2) == 0
          ? .set(.int(Int64(choices.below(9)) * 100)) : .increment(Int64(1 + choices.below(9)))
        lasts[client] = changeset(
          UInt64(client + 1), lasts[client].sequence + 1, base: base,
          stamp: max(known, lasts[client].stamp).bits + 1 + UInt64(choices.below(30)),
          [.change(n, change)])
        let goal = choices.below(3) == 0 ? merger.head : nil
        let entry = try merger.accept(lasts[client], barrierAtMost: goal)
        staleCount += entry.isStale ? 1 : 0
      }
      var fair = ReferenceMerge()
      for var entry in merger.entries {
        entry.restated = nil
        fair.take(entry)
      }
      let expected = fair.objects[Alphabet.dog]?.fields["n"]
      let found = try ReferenceNode(#require(merger.state.objects[Alphabet.dog])).fields["n"]
      #expect(found == expected, "seed \(seed)")
      #expect(SyncJudge.difference(merger) == nil, "seed \(seed)")
    }
    #expect(staleCount > 40)
  }

  @Test("loses to what is later, and is told by which version")
  func causes() throws {
    let n = SyncField(Alphabet.dog, [], "n")
    var merger = try start([.change(n, .set(.int(5)))])
    let early = try merger.accept(
      changeset(1, 1, base: 1, stamp: 15, [.change(n, .set(.int(6))), .change(n, .increment(1))]))
    #expect(early.restated == [])
    #expect(early.overruled.map(\.cause) == [.superseded, .superseded])
    #expect(early.overruled.allSatisfy { $0.by == SyncVersion(2) })
    var other = try start([.change(n, .increment(5))])
    let set = try other.accept(changeset(1, 1, base: 1, stamp: 15, [.change(n, .set(.int(6)))]))
    #expect(set.restated?.map(\.operation) == [.change(n, .set(.int(11)))])
    var later = try start([.change(n, .increment(5))])
    let last = try later.accept(changeset(1, 1, base: 1, stamp: 25, [.change(n, .set(.int(6)))]))
    #expect(last.restated?.map(\.operation) == [.change(n, .set(.int(6)))])
    #expect(breach(other) == nil)
  }

  @Test("that names what its author did not see has no effect, and says so (I14)")
  func namesInVain() throws {
    func set(_ steps: [SyncStep]) -> SyncOperation {
      .change(SyncField(Alphabet.dog, steps, "a"), .set(.int(1)))
    }
    let new = SyncField(Alphabet.dog, [], "new")
    let deep = Array(repeating: SyncStep("box"), count: SyncLimits.stepsMax + 1)
    let vain: [(SyncOperation, SyncOverruling.Cause)] = [
      (set([SyncStep("nothing")]), .missing), (set([SyncStep("nothing", .entry("k"))]), .missing),
      (set([SyncStep("toys", .element(99))]), .missing),
      (set([SyncStep("toys", .element(0))]), .missing), (set(deep), .limit),
      (Alphabet.list(.listInsert(at: 99, [.null])), .missing),
      (Alphabet.list(.listErase(at: 99, count: 1)), .missing),
      (Alphabet.list(.listErase(at: 0, count: 99)), .missing),
      (Alphabet.list(.listSet(at: 99, .null)), .missing),
      (Alphabet.list(.listMove(from: 99, to: 0)), .missing),
      (.change(new, .setDefault(.int(1))), .superseded),
    ]
    let merger = try start([.change(new, .set(.int(5)))])
    for (operation, cause) in vain {
      var end = merger
      let entry = try end.accept(changeset(1, 1, base: 1, stamp: 15, [operation]))
      #expect(entry.isStale && entry.overruled.map(\.cause) == [cause], "\(operation)")
      #expect(end.state == merger.state && breach(end) == nil, "\(operation)")
    }
  }

  @Test("moves an element behind the nearest one that is still there")
  func moves() throws {
    func list(_ merger: SyncMerger) -> [SyncValue]? {
      merger.state.objects[Alphabet.dog]?["toys"].list.map(\.value)
    }
    var merger = OrderCheck(Alphabet.listStart(4)).start
    try merger.accept(
      changeset(2, 1, base: 1, stamp: 20, [Alphabet.list(.listErase(at: 1, count: 1))]))
    try merger.accept(changeset(3, 1, base: 2, stamp: 30, []), barrierAtMost: SyncVersion(3))
    let (a, c, d) = (Alphabet.text("A"), Alphabet.text("C"), Alphabet.text("D"))
    for (from, to, expected) in [
      (2, 1, [a, c, d]), (3, 2, [a, d, c]), (0, 3, [c, d, a]), (2, 0, [c, a, d]),
    ] {
      var end = merger
      try end.accept(
        changeset(1, 1, base: 1, stamp: 25, [Alphabet.list(.listMove(from: from, to: to))]))
      #expect(list(end) == expected, "from \(from) to \(to)")
      #expect(breach(end) == nil)
    }
    #expect(!merger.isStale(changeset(1, 1, base: 3, stamp: 40, [])), "the barrier itself is fair")
    #expect(merger.isStale(changeset(1, 1, base: 2, stamp: 40, [])))
  }

  @Test("that a server's entry gets wrong is noticed by who takes it (I2)")
  func divergence() throws {
    var merger = OrderCheck(Alphabet.mixedStart).start
    let n = SyncField(Alphabet.dog, [], "n")
    try merger.accept(changeset(1, 1, base: 1, stamp: 15, [.change(n, .set(.int(6)))]))
    let (first, right) = (merger.entries[0], merger.entries[1])
    var wrong = [right, right, right, right, right]
    wrong[0].digest += 1
    wrong[1].resolved = []
    wrong[2].restated = []
    wrong[3].barrier = SyncVersion(2)
    wrong[3].changeset.base = SyncVersion(0)
    wrong[4].version = SyncVersion(3)
    for entry in wrong {
      var replica = SyncMerger()
      try replica.take(first)
      #expect(throws: SyncError.self) { try replica.take(entry) }
      if entry.version == right.version, entry.changeset.base == right.changeset.base,
        entry.restated == nil
      {
        #expect(throws: SyncError.self, "a broken replica goes on") { try replica.take(right) }
      } else if entry.changeset.base == right.changeset.base {
        try replica.take(right)
        #expect(replica.state == merger.state)
      }
    }
    var state = merger.state
    let misfits: [SyncOperation] = [
      .create(Alphabet.dog), .delete(SyncObject("Nobody", .null)),
      Alphabet.list(.listErase(at: 1, count: 2)), Alphabet.list(.listInsert(at: 3, [])),
      Alphabet.list(.listSet(at: 2, .null)), Alphabet.list(.listMove(from: 2, to: 0)),
      .change(n, .setErase(.int(1))), .change(n, .dictionaryRemove("a")),
      .change(SyncField(Alphabet.dog, [SyncStep("n")], "a"), .set(.null)),
      .change(SyncField(Alphabet.dog, [SyncStep("boxes", .element(1))], "a"), .set(.null)),
      .change(SyncField(Alphabet.dog, [SyncStep("map", .entry("a"))], "a"), .set(.null)),
      .change(SyncField(Alphabet.dog, [], "boss"), .increment(1)),
    ]
    for misfit in misfits {
      #expect(throws: SyncError.self, "\(misfit)") { try state.apply(misfit) }
      #expect(state == merger.state && state.digest == merger.state.digest, "\(misfit)")
    }
  }
}
