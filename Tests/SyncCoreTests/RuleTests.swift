// RuleTests.swift: rules of docs/reference/sync-merge.md one by one, and operations that name what
// is not there.

import SyncCore
import SyncFuzz
import Testing

@Suite("A changeset")
struct RuleTests {
  private let dog = Alphabet.dog
  private let cat = Alphabet.cat

  @Test("that names what is not there has no effect, and says so (I14)")
  func missing() throws {
    let start = try log(beginningWith: Alphabet.mixedStart)
    let nobody = SyncObject("Nobody", .null)
    let far = [SyncStep("boxes", .element(7))]
    let hostile: [SyncOperation] = [
      Alphabet.list(.listInsert(at: 3, [.null])), Alphabet.list(.listInsert(at: -1, [.null])),
      Alphabet.list(.listInsert(at: .max, [.null])),
      Alphabet.list(.listErase(at: 1, count: 2)), Alphabet.list(.listErase(at: 2, count: .max)),
      Alphabet.list(.listErase(at: -1, count: 1)), Alphabet.list(.listErase(at: 0, count: -1)),
      Alphabet.list(.listMove(from: 2, to: 0)), Alphabet.list(.listMove(from: 0, to: 2)),
      Alphabet.list(.listMove(from: -1, to: 0)), Alphabet.list(.listMove(from: 0, to: .min)),
      Alphabet.list(.listSet(at: 2, .null)), Alphabet.list(.listSet(at: .max, .null)),
      .change(field("size", far), .set(.null)),
      .change(field("size", [SyncStep("n")]), .set(.null)),
      .change(field("size", [SyncStep("map", .entry("a"))]), .listClear),
      .change(SyncField(nobody, [], "a"), .set(.null)), .delete(nobody),
      .change(field("friends"), .listSet(at: 0, .link(nobody))),
      .change(field("tags"), .setInsert(.link(nobody))), .change(field("none"), .increment(1)),
      .change(field("n"), .setDefault(.int(0))),
    ]
    for operation in hostile {
      var merger = start
      let entry = try merger.accept(changeset(1, base: 1, stamp: 10, [operation]))
      #expect(entry.overruled.map(\.cause) == [.missing], "\(operation)")
      #expect(entry.effect == [] && merger.state == start.state, "\(operation)")
      #expect(SyncJudge.difference(merger) == nil, "\(operation)")
    }
    var merger = start
    let blind = Alphabet.list(.listInsert(at: 0, [.link(nobody), .int(1)]))
    let entry = try merger.accept(changeset(1, base: 1, stamp: 10, [blind]))
    #expect(entry.effect.map(\.operation) == [Alphabet.list(.listInsert(at: 0, [.int(1)]))])
    #expect(SyncJudge.difference(merger) == nil && merger.breach() == nil)
  }

  @Test("that does not follow is refused, and changes nothing")
  func check() throws {
    var merger = try log(beginningWith: [.create(dog)])
    try merger.accept(changeset(1, base: 1, stamp: 10, []))
    let before = merger.state
    let wrong: [(SyncChangeset, SyncError.Code)] = [
      (changeset(1, 1, base: 2, stamp: 20, []), .sequence),
      (changeset(1, 3, base: 2, stamp: 20, []), .sequence),
      (changeset(0, 1, base: 2, stamp: 20, []), .sequence),
      (changeset(2, 0, base: 2, stamp: 20, []), .sequence),
      (changeset(1, 2, base: 0, stamp: 20, []), .base),
      (changeset(1, 2, base: 3, stamp: 20, []), .base),
      (changeset(1, 2, base: 1, stamp: 10, []), .stamp),
      (changeset(2, 1, base: 1, stamp: 1, []), .stamp),
    ]
    for (changeset, code) in wrong {
      #expect(throws: SyncError.self) { try merger.check(changeset) }
      do { _ = try merger.accept(changeset) } catch { #expect(error.code == code) }
    }
    #expect(merger.state == before && merger.head == SyncVersion(2))
    #expect(try merger.accept(changeset(2, base: 1, stamp: 2, [])).version == SyncVersion(3))
  }

  private func both(
    _ start: [SyncOperation], _ first: [SyncOperation], _ second: [SyncOperation]
  ) throws -> SyncMerger {
    var merger = try log(beginningWith: start)
    try merger.accept(changeset(1, base: 1, stamp: 10, first))
    try merger.accept(changeset(2, base: 1, stamp: 11, second))
    #expect(merger.breach() == nil && SyncJudge.difference(merger) == nil)
    return merger
  }

  private func toys(_ merger: SyncMerger) -> [SyncValue] {
    merger.state.objects[dog]?["toys"].list.map(\.value) ?? []
  }

  @Test("leaves lists as the examples of the contract say")
  func lists() throws {
    func merged(_ first: [SyncChange], _ second: [SyncChange]) throws -> String {
      let merger = try both(
        Alphabet.listStart(3), first.map(Alphabet.list), second.map(Alphabet.list))
      return toys(merger).map { if case .text(let text) = $0 { "\(text)" } else { "?" } }.joined()
    }
    func typed(_ text: String, at index: Int) -> [SyncChange] {
      text.enumerated().map { .listInsert(at: index + $0.offset, [Alphabet.text("\($0.element)")]) }
    }
    let (x, y) = (Alphabet.text("x"), Alphabet.text("y"))
    #expect(try merged(typed("x", at: 1), typed("y", at: 1)) == "AxyBC")
    #expect(try merged(typed("abc", at: 1), typed("xyz", at: 1)) == "AabcxyzBC")
    #expect(try merged([.listMove(from: 0, to: 2)], [.listSet(at: 0, y)]) == "BCy")
    #expect(try merged([.listMove(from: 0, to: 2)], [.listErase(at: 0, count: 1)]) == "BC")
    #expect(try merged([.listClear], typed("x", at: 1)) == "x")
    #expect(try merged([.listAssign([x, y])], [.listAssign([x, y])]) == "xy")
    #expect(try merged([.listAssign([x, y])], [.listClear]) == "xy")
    #expect(try merged([.listMove(from: 0, to: 2)], [.listMove(from: 0, to: 1)]) == "BAC")
  }

  @Test("leaves counters as the examples of the contract say")
  func counters() throws {
    func merged(_ first: [SyncChange], _ second: [SyncChange]) throws -> SyncValue? {
      let n = field("n")
      let merger = try both(
        [.create(dog), .change(n, .set(.int(10)))], first.map { .change(n, $0) },
        second.map { .change(n, $0) })
      return merger.state.objects[dog]?["n"].value?.value
    }
    #expect(try merged([.increment(5)], [.increment(1)]) == .int(16))
    #expect(try merged([.increment(5)], [.set(.int(0))]) == .int(0))
    #expect(try merged([.set(.int(0))], [.increment(5)]) == .int(5))
    #expect(try merged([.set(.null)], [.increment(1)]) == .null)
    #expect(try merged([.increment(.max)], [.increment(.max)]) == .int(8))
  }

  @Test("that was made without knowing a delete is overruled by it, and names it (I7)")
  func deleted() throws {
    var merger = try log(beginningWith: [.create(dog), .change(field("n"), .set(.int(1)))])
    try merger.accept(changeset(1, base: 1, stamp: 10, [.delete(dog)]))
    let entry = try merger.accept(
      changeset(2, base: 1, stamp: 99, [.change(field("n"), .set(.int(2)))]))
    #expect(
      entry.overruled == [SyncOverruling(operation: 0, cause: .deleted, by: SyncVersion(2))])
    let again = try merger.accept(changeset(3, base: 2, stamp: 50, [.create(dog)]))
    #expect(again.resolved == nil && merger.state.objects[dog]?.fields == [:])
    #expect(SyncJudge.difference(merger) == nil)
  }

  @Test("does not see a link whose target its base deleted, and sees one that came after")
  func hidden() throws {
    let friends = field("friends")
    func insert(_ value: SyncValue) -> [SyncOperation] {
      [.change(friends, .listInsert(at: 0, [value]))]
    }
    var merger = try log(beginningWith: [
      .create(dog), .create(cat),
      .change(friends, .listInsert(at: 0, [.link(cat), .int(1), .int(2)])),
    ])
    try merger.accept(changeset(3, 1, base: 1, stamp: 20, insert(.int(3))))
    try merger.accept(changeset(1, 1, base: 1, stamp: 21, insert(.int(4))))
    try merger.accept(changeset(2, 1, base: 1, stamp: 22, [.delete(cat)]))
    try merger.accept(changeset(3, 2, base: 2, stamp: 23, insert(.int(5))))
    // Of 3, 4, 1 and 2, this author does not see 5: index 2 is 1.
    let entry = try merger.accept(
      changeset(1, 2, base: 4, stamp: 24, [.change(friends, .listErase(at: 2, count: 1))]))
    #expect(entry.overruled == [])
    let left = merger.state.objects[dog]?["friends"].list.map(\.value)
    #expect(left?.contains(.int(1)) == false && left?.count == 4)
    #expect(merger.breach() == nil && SyncJudge.difference(merger) == nil)
  }

  @Test("does not see a link whose target its client deleted, whoever else did")
  func ownDelete() throws {
    let friends = field("friends")
    var merger = try log(beginningWith: [
      .create(dog), .create(cat),
      .change(friends, .listInsert(at: 0, [.link(cat), .int(1), .int(2)])),
    ])
    // The lane of client 1 is there before both deletes.
    for client in [3, 1] as [UInt64] {
      try merger.accept(
        changeset(
          client, 1, base: 1, stamp: 20 + client,
          [.change(friends, .listInsert(at: 0, [.int(Int64(client))]))]))
    }
    try merger.accept(changeset(2, 1, base: 1, stamp: 30, [.delete(cat)]))
    try merger.accept(changeset(1, 2, base: 1, stamp: 31, [.delete(cat)]))
    try merger.accept(
      changeset(1, 3, base: 1, stamp: 32, [.change(friends, .listErase(at: 2, count: 1))]))
    let left = merger.state.objects[dog]?["friends"].list.map(\.value)
    #expect(left == [.int(1), .int(3), .int(1)])
    #expect(merger.breach() == nil && SyncJudge.difference(merger) == nil)
  }

  @Test("that is refused has no effect, and what is built on it sees nothing of it (I19)")
  func refused() throws {
    var merger = try log(beginningWith: [.create(dog)])
    let refused = changeset(
      1, base: 1, stamp: 10, [.create(cat), .change(field("n"), .set(.int(3)))])
    let entry = try merger.accept(refused, refusal: 4)
    #expect(entry.effect == [] && merger.state.objects[cat] == nil)
    let next = try merger.accept(
      changeset(
        1, 2, base: 1, stamp: 11,
        [.change(SyncField(cat, [], "a"), .set(.null)), .change(field("m"), .set(.int(1)))]))
    #expect(next.overruled.map(\.cause) == [.missing])
    #expect(merger.state.objects[dog]?["m"].value?.value == .int(1))
    #expect(SyncJudge.difference(merger) == nil)
  }

  @Test("digests differ in one value, one place and one owner (I2)")
  func digests() throws {
    var digests: [UInt128] = []
    for changes: [SyncChange] in [
      [.listInsert(at: 0, [.int(1), .int(2)])], [.listInsert(at: 0, [.int(2), .int(1)])],
      [.listInsert(at: 0, [.int(1), .int(3)])], [.set(.int(1))], [.setInsert(.int(1))],
      [.dictionarySet("a", .int(1))], [.dictionarySet("b", .int(1))], [], [.set(.embedded)],
    ] {
      for name in ["a", "b"] as [SyncText] {
        let merger = try log(
          beginningWith: [.create(dog)] + changes.map { .change(field(name), $0) })
        #expect(merger.breach() == nil)
        if !changes.isEmpty || name == "a" { digests.append(merger.state.digest) }
      }
    }
    #expect(Set(digests).count == digests.count)
  }
}
