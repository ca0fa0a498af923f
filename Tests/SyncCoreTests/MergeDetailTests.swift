// MergeDetailTests.swift: what the merge's own numbers are at their edges: chains, equality, the
// start of the graph, stamps behind a trim, defaults, and links in embedded objects.

import SyncFuzz
import Testing

@testable import SyncCore

@Suite("The merge")
struct MergeDetailTests {
  private let dog = Alphabet.dog
  private let cat = Alphabet.cat

  @Test("chains entries by everything that they have, and by what came before")
  func chains() {
    let plain = SyncEntry(
      version: SyncVersion(7), user: 3, changeset: changeset(5, 6, base: 4, stamp: 8),
      refusal: nil)
    var entries = [plain]
    func add(_ change: (inout SyncEntry) -> Void) {
      var entry = plain
      change(&entry)
      entries.append(entry)
    }
    // The lowest and the highest bit of each number.
    for bits in [1, 1 << 63] as [UInt64] {
      add { $0.user ^= bits }
      add { $0.changeset.client = SyncClient(5 ^ bits) }
      add { $0.changeset.sequence ^= bits }
      add { $0.changeset.base = SyncVersion(4 ^ bits) }
      add { $0.changeset.stamp = SyncStamp(bits: 8 ^ bits) }
      add { $0.barrier = SyncVersion(bits) }
      add { $0.digest ^= UInt128(bits) }
      add { $0.digest ^= UInt128(bits) << 64 }
    }
    add { $0.refusal = 0 }
    add { $0.refusal = .max }
    add { $0.changeset.operations = [.delete(dog)] }
    var chains = entries.map { SyncHash.chain(0, $0) }
    chains += [1, 1 << 64, 1 << 127].map { SyncHash.chain($0, plain) }
    #expect(Set(chains).count == chains.count)
    // The known value of one, so that logs of older versions stay the same.
    #expect(SyncHash.chain(0, plain) == 17_965_128_065_006_939_090_643_241_340_989_217_662)
  }

  @Test("takes logs for equal only with the same start, chain and clients")
  func equality() throws {
    let origin = SyncLogStart(
      version: SyncVersion(4), digest: 0, stamp: SyncStamp(bits: 9), chain: 77,
      authors: [.init(client: 1, sequence: 2, base: 1, stamp: 3)])
    func log(_ change: (inout SyncLogStart) -> Void) throws -> SyncMerger {
      var start = origin
      change(&start)
      return try SyncMerger(start, objects: SyncState(), entries: [])
    }
    let plain = try log { _ in }
    #expect(try plain == log { _ in } && Set([plain, log { _ in }]).count == 1)
    for other in [
      try log { $0.chain = 78 }, try log { $0.version = SyncVersion(5) }, try log { $0.digest = 1 },
      try log { $0.authors = [] }, try log { $0.authors[0].stamp = 4 },
    ] {
      #expect(plain != other)
    }
  }

  @Test("replays from no further back than half of what it replays is needed")
  func compaction() throws {
    var merger = try log(beginningWith: [.create(dog)])
    for number in 2...200 as ClosedRange<UInt64> {
      let goal = number > 20 ? SyncVersion(number - 20) : nil
      try merger.accept(
        changeset(
          1, number - 1, base: number - 1, stamp: number,
          [
            .change(field("n"), .set(.int(Int64(number))))
          ]), barrierAtMost: goal)
      let needed = merger.head.number - merger.barrier.number
      #expect(merger.head.number - merger.graphStart <= 2 * needed + 1, "\(number)")
      #expect(merger.graphStart <= merger.barrier.number && merger.replayBreach() == nil)
    }
    #expect(merger.graphStart > 150 && merger.trimmedToBarrier().start == merger.barrier)
    // A barrier that stays behind for long, and then comes after.
    for number in 201...260 as ClosedRange<UInt64> {
      try merger.accept(
        changeset(1, number - 1, base: number - 1, stamp: number),
        barrierAtMost: number == 260 ? SyncVersion(259) : nil)
    }
    #expect(merger.barrier.number == 259 && merger.graphStart == 259)
    // A trim behind the start of the graph leaves it, and one before it moves it.
    merger.trim(to: SyncVersion(200))
    #expect(merger.graphStart == 259 && merger.replayBreach() == nil)
    try merger.accept(
      changeset(1, 260, base: 260, stamp: 261), barrierAtMost: SyncVersion(260))
    try merger.accept(changeset(1, 261, base: 261, stamp: 262))
    merger.trim(to: merger.barrier)
    #expect(merger.graphStart >= merger.start.number && merger.replayBreach() == nil)
    // The graph has nothing from before: a set of then is not in it.
    #expect(merger.graph.slots.count <= 1)
  }

  @Test("knows the stamps up to each version that it keeps, and takes a base there")
  func stamps() throws {
    var merger = try log(beginningWith: [.create(dog)])
    for number in 2...9 as ClosedRange<UInt64> {
      try merger.accept(
        changeset(1, number - 1, base: number - 1, stamp: 10 * number),
        barrierAtMost: SyncVersion(number))
    }
    let whole = merger
    merger.trim(to: SyncVersion(6))
    for client in [1, 2] as [UInt64] {
      for base in 6...9 as ClosedRange<UInt64> {
        let found = merger.knownStamp(client: SyncClient(client), base: SyncVersion(base))
        #expect(
          found == whole.knownStamp(client: SyncClient(client), base: SyncVersion(base)))
      }
    }
    #expect(throws: SyncError.self) { try merger.check(changeset(2, base: 6, stamp: 60)) }
    try merger.check(changeset(2, base: 6, stamp: 61))
    #expect(throws: SyncError.self) { try merger.check(changeset(2, base: 5, stamp: 99)) }
  }

  @Test("refuses an entry whose barrier lies beyond what its changesets allow (I2)")
  func barriers() throws {
    var server = try log(beginningWith: [.create(dog)])
    var entry = try server.accept(
      changeset(1, base: 1, stamp: 10), barrierAtMost: SyncVersion(.max))
    entry.barrier = SyncVersion(entry.barrier.number + 1)
    var client = try log(beginningWith: [.create(dog)])
    do {
      try client.take(entry)
      Issue.record("an entry with another barrier is taken")
    } catch { #expect(error.code == .divergence) }
  }

  @Test("lets a later default replace an earlier one, and an equal value pass in silence")
  func defaults() throws {
    func merged(_ first: SyncValue, _ second: SyncValue) throws -> (SyncMerger, SyncEntry) {
      var merger = try log(beginningWith: [.create(dog)])
      try merger.accept(
        changeset(1, base: 1, stamp: 10, [.change(field("home"), .setDefault(first))]))
      let entry = try merger.accept(
        changeset(2, base: 1, stamp: 11, [.change(field("home"), .setDefault(second))]))
      #expect(merger.breach() == nil && SyncJudge.difference(merger) == nil)
      return (merger, entry)
    }
    #expect(try merged(.int(1), .int(1)).1.effect == [])
    #expect(try merged(.int(1), .int(2)).1.effect.count == 1)
    // Another embedded object, which has nothing of the first one.
    #expect(try merged(.embedded, .embedded).1.effect.count == 1)
  }

  @Test("cuts links in embedded objects, wherever these are (I13)")
  func nestedLinks() throws {
    let (home, room) = ([SyncStep("home")], [SyncStep("rooms", .entry("r"))])
    let box = [SyncStep("boxes", .element(0))]
    let start = try log(beginningWith: [
      .create(dog), .create(cat), .change(field("home"), .set(.embedded)),
      .change(field("rooms"), .dictionarySet("r", .embedded)),
      .change(field("boxes"), .listInsert(at: 0, [.embedded])),
      .change(field("inner", home), .set(.embedded)),
    ])
    for steps in [home, room, box, home + [SyncStep("inner")]] {
      for (name, change) in [
        ("owner", SyncChange.set(.link(cat))), ("owners", .listInsert(at: 0, [.link(cat)])),
        ("known", .setInsert(.link(cat))), ("named", .dictionarySet("k", .link(cat))),
      ] as [(SyncText, SyncChange)] {
        var merger = start
        try merger.accept(
          changeset(1, base: 1, stamp: 10, [.change(field(name, steps), change)]))
        let entry = try merger.accept(changeset(2, base: 2, stamp: 11, [.delete(cat)]))
        #expect(entry.effect.count == 2, "\(name) at \(steps)")
        #expect(merger.breach() == nil && SyncJudge.difference(merger) == nil)
      }
    }
  }

  @Test("cuts links in the order of their keys, and assigns a list as one change")
  func order() throws {
    let keys = ["d", "a", "c", "b"] as [SyncText]
    var merger = try log(
      beginningWith: [.create(dog), .create(cat)]
        + keys.map { .change(field("friends"), .dictionarySet($0, .link(cat))) })
    let cut = try merger.accept(changeset(1, base: 1, stamp: 10, [.delete(cat)]))
    let found = cut.effect.compactMap { effect -> SyncText? in
      guard case .change(_, .dictionarySet(let key, .null)) = effect.operation else { return nil }
      return key
    }
    #expect(found == keys.sorted())
    let assignment = SyncOperation.change(field("toys"), .listAssign([.int(1), .int(2)]))
    let entry = try merger.accept(changeset(2, base: 2, stamp: 11, [assignment]))
    #expect(entry.resolved == nil && entry.effect.map(\.operation) == [assignment])
    let again = try merger.accept(changeset(2, 2, base: 3, stamp: 12, [assignment]))
    #expect(again.effect.map(\.operation) == [assignment])
    let nothing = SyncOperation.change(field("none"), .listAssign([]))
    #expect(try merger.accept(changeset(2, 3, base: 4, stamp: 13, [nothing])).effect == [])
  }

  @Test("restates a stale changeset in its own author's view, whoever was stale before")
  func views() throws {
    func insert(_ text: String) -> SyncOperation {
      Alphabet.list(.listInsert(at: 0, [Alphabet.text(text)]))
    }
    let erase = Alphabet.list(.listErase(at: 0, count: 1))
    var merger = try log(beginningWith: Alphabet.listStart(2))
    try merger.accept(changeset(7, base: 1, stamp: 5), barrierAtMost: SyncVersion(2))
    // Both are away on version 1; each has made two changesets.
    try merger.accept(changeset(2, 1, base: 1, stamp: 10, [insert("x")]))
    try merger.accept(changeset(1, 1, base: 1, stamp: 11, [insert("y")]))
    // The first one erases what it has inserted, and so does the other one.
    let second = try merger.accept(changeset(2, 2, base: 1, stamp: 12, [erase]))
    let third = try merger.accept(changeset(1, 2, base: 1, stamp: 13, [erase]))
    #expect(second.isStale && third.isStale)
    let left = merger.state.objects[dog]?["toys"].list.map(\.value)
    #expect(left?.contains(Alphabet.text("x")) == false && left?.count == 2)
    #expect(merger.breach() == nil && SyncJudge.difference(merger) == nil)
    // One that is no successor of what was restated last.
    try merger.accept(changeset(3, 1, base: 1, stamp: 14, [insert("z")]))
    try merger.accept(changeset(1, 3, base: 1, stamp: 15, [insert("w")]))
    try merger.accept(changeset(3, 2, base: 1, stamp: 16, [erase]))
    let last = merger.state.objects[dog]?["toys"].list.map(\.value)
    #expect(last?.contains(Alphabet.text("w")) == true && last?.count == 3)
    #expect(merger.breach() == nil && SyncJudge.difference(merger) == nil)
    // Its author saw what was refused in between, and erases that.
    try merger.accept(changeset(3, 3, base: 1, stamp: 17, [insert("v")]))
    try merger.accept(changeset(3, 4, base: 1, stamp: 18, [insert("q")]), refusal: 1)
    let before = merger.state
    let lost = try merger.accept(changeset(3, 5, base: 1, stamp: 19, [erase]))
    #expect(lost.isStale && lost.effect == [] && merger.state == before)
    #expect(merger.breach() == nil && SyncJudge.difference(merger) == nil)
  }

  @Test("says what a stale default missed, also at the first field of all")
  func staleDefault() throws {
    var merger = try log(beginningWith: [.create(dog)])
    try merger.accept(
      changeset(1, base: 1, stamp: 10, [.change(field("n"), .set(.int(1)))]))
    try merger.accept(changeset(3, base: 2, stamp: 30), barrierAtMost: SyncVersion(3))
    let entry = try merger.accept(
      changeset(1, 2, base: 2, stamp: 31, [.change(field("n"), .setDefault(.int(2)))]))
    #expect(entry.isStale && entry.overruled.map(\.cause) == [.missing])
  }

  @Test("keeps the entries that a client's changesets of long ago begin with")
  func needed() throws {
    var merger = try log(beginningWith: [.create(dog)])
    // Client 1 made two changesets on version 1 and one on version 2; another one went on.
    try merger.accept(changeset(1, 1, base: 1, stamp: 10), barrierAtMost: SyncVersion(1))
    try merger.accept(changeset(2, 1, base: 2, stamp: 20), barrierAtMost: SyncVersion(2))
    try merger.accept(changeset(1, 2, base: 1, stamp: 11), barrierAtMost: SyncVersion(1))
    try merger.accept(changeset(2, 2, base: 4, stamp: 21), barrierAtMost: SyncVersion(3))
    let client = SyncClient(1)
    #expect(merger.needed(by: client, base: SyncVersion(1)) == merger.barrier(at: 1))
    // One with base 3 was made while the changeset of version 4 was pending, on version 1.
    #expect(merger.needed(by: client, base: SyncVersion(3)) == merger.barrier(at: 1))
    #expect(merger.needed(by: client, base: SyncVersion(5)) == merger.barrier(at: 5))
  }
}
