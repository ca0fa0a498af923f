// PendingPageTests.swift: pending changesets in pages: whatever is added comes back in its order,
// whoever adds it; damaged pages end in an error.

import Engine
import SyncCore
import Testing

@testable import SyncClient

@Suite("Pages of pending changesets")
struct PendingPageTests {
  /// A database with the table only.
  private func database(_ name: String) throws -> Database {
    let database = try Database.open(inMemory: name)
    let write = try database.beginWrite()
    try write.createTable(SyncTable.schema)
    try write.commit()
    return database
  }

  private func changeset(_ number: UInt64, text: String = "a") -> SyncChangeset {
    let field = SyncField(SyncObject("Note", .int(Int64(number % 7))), [], "text")
    return SyncChangeset(
      client: SyncClient(3), sequence: number, base: SyncVersion(40),
      stamp: SyncStamp(bits: 1 << 40 + number * 3),
      operations: [.change(field, .set(.text(SyncText(String(number) + text))))])
  }

  private func old(_ number: UInt64) throws -> [UInt8] {
    try OldState(SyncObject("Note", .int(Int64(number))), [("text", .text(SyncText("\(number)")))])
      .encoded()
  }

  private func add(
    _ changeset: SyncChangeset, _ write: WriteTransaction, olds: [[UInt8]] = [],
    known: PendingPage? = nil
  ) throws -> PendingPage? {
    let last = try PendingRows.last(write, known: known, isNewest: false)
    return try PendingRows.add(
      PendingPage.Item(head: changeset.encoded(), olds: olds), changeset, behind: last, write)
  }

  private func all(_ database: Database, after last: UInt64 = 0) throws -> [SyncChangeset] {
    try PendingRows.all(try database.snapshot(), after: last).changesets
  }

  @Test("give back what was added, in its order")
  func order() throws {
    let database = try database("pages in order")
    var (random, page) = (TestRandom(seed: 5), PendingPage?.none)
    var added: [SyncChangeset] = []
    for number in 1...600 as ClosedRange<UInt64> {
      let sizes = [1, 20, 150, 700]
      let new = changeset(
        number,
        text: String(
          repeating: "x",
          count: sizes[random.below(20) == 0 ? 3 : number % 9 == 0 ? 2 : random.below(2)]))
      let write = try database.beginWrite()
      let olds = random.below(3) == 0 ? [try old(number), try old(number + 1)] : []
      page = try add(new, write, olds: olds, known: random.below(2) == 0 ? page : nil)
      try write.commit()
      added.append(new)
    }
    #expect(try all(database) == added)
    #expect(try all(database, after: 599) == [added[599]])
    let rows = try SyncTable.numbers(.pending, try database.snapshot()).count
    #expect(rows < 200, "600 changesets, some with rows of their own")
    // What is among the entries goes.
    let write = try database.beginWrite()
    var places = try PendingRows.all(write, after: 0).places
    try places.trim(upTo: 600, write)
    try write.commit()
    let snapshot = try database.snapshot()
    #expect(try all(database, after: 600) == [] && PendingPage.inMemo(of: snapshot) == nil)
    #expect(try SyncTable.numbers(.pending, snapshot).isEmpty)
  }

  @Test("have what others wrote, and nothing of a transaction that was lost")
  func others() throws {
    let database = try database("pages of others")
    var write = try database.beginWrite()
    let known = try add(changeset(1), write)
    try write.commit()
    write = try database.beginWrite()
    let lost = try add(changeset(2, text: "lost"), write, known: known)
    write.cancel()
    // Another process has the same page, and neither knows of the other.
    write = try database.beginWrite()
    _ = try add(changeset(2), write, known: known)
    try write.commit()
    for page in [known, lost] {
      write = try database.beginWrite()
      let last = try #require(try PendingRows.last(write, known: page, isNewest: false))
      #expect(last.number == 2)
      _ = try add(changeset(3), write, known: page)
      #expect(try PendingRows.all(write, after: 0).changesets == (1...3).map { changeset($0) })
      write.cancel()
    }
  }

  @Test("notice a lost changeset, whatever it ends with")
  func lostWithZeros() throws {
    let database = try database("pages that end in zeros")
    for size in 280..<400 {
      var write = try database.beginWrite()
      try PendingRows.replace(by: [], write)
      _ = try add(changeset(1), write)
      _ = try add(changeset(2, text: String(repeating: "x", count: size)), write)
      try write.commit()
      write = try database.beginWrite()
      let known = try #require(try PendingRows.last(write, known: nil, isNewest: false)?.page)
      // Its last bytes are those of a page that nobody has written on.
      let lost = try add(
        changeset(3, text: String(repeating: "\0", count: 40)), write, known: known)
      write.cancel()
      write = try database.beginWrite()
      defer { write.cancel() }
      #expect(try PendingRows.last(write, known: lost, isNewest: false)?.number == 2, "\(size)")
    }
  }

  @Test("have the first old state of each object and property")
  func firstStates() throws {
    let database = try database("pages of states")
    let object = SyncObject("Note", .int(1))
    var node = SyncState()
    try node.apply(.create(object))
    try node.apply(.change(SyncField(object, [], "text"), .set(.text("whole"))))
    try node.apply(.change(SyncField(object, [], "size"), .set(.int(5))))
    let whole = OldState(object, node.objects[object])
    let states = [
      OldState(object, [("text", .text("first"))]), OldState(object, [("text", .text("second"))]),
      whole, OldState(object, [("size", .int(9))]),
    ]
    let write = try database.beginWrite()
    defer { write.cancel() }
    for (number, state) in states.enumerated() {
      _ = try add(changeset(UInt64(number) + 1), write, olds: [try state.encoded()])
    }
    let reader = RowReader(source: write, classes: try FileClasses(write))
    let found = try PendingRows.all(write, after: 0)
    let first = try #require(try found.olds.node(of: object, nil, reader))
    #expect(first["text"].value?.value == .text("first") && first["size"].value?.value == .int(5))
    #expect(found.olds.objects == [object])
    // They count as long as their changesets are pending.
    let second = try #require(
      try PendingRows.all(write, after: 1).olds.node(of: object, nil, reader))
    #expect(second["text"].value?.value == .text("second"))
    #expect(try PendingRows.all(write, after: 4).olds.objects.isEmpty)
  }

  @Test("are forgotten when the file becomes another client's")
  func renamed() throws {
    let network = TestNetwork()
    try network.addClient(try TestFile("pages of a client"))
    let client = network.clients[0]
    for number in 1...3 {
      try client.realm.write {
        client.realm.create(Thing.self, value: ["id": number], update: .all)
      }
    }
    try network.settle()
    #expect(try client.file.pending() == [])
    _ = try client.agent.step(.connected)
    let welcome = SyncWelcome(
      client: SyncClient(9), secret: 1, nonce: 2, epoch: 1, lastSequence: 0, mark: 0,
      wentBack: false, log: nil)
    _ = try client.agent.step(.message(.welcome(welcome)))
    #expect(try client.file.pending() == [])
    client.realm.refresh()
    try client.realm.write { client.realm.create(Thing.self, value: ["id": 4], update: .all) }
    #expect(try client.file.pending().map(\.sequence) == [1])
    #expect(try client.file.pending().map(\.client) == [SyncClient(9)])
  }

  @Test("end in an error when they are damaged")
  func damaged() throws {
    let database = try database("damaged pages")
    var write = try database.beginWrite()
    for number in 1...30 as ClosedRange<UInt64> {
      _ = try add(changeset(number), write, olds: [try old(number)])
    }
    try write.commit()
    let numbers = try SyncTable.numbers(.pending, try database.snapshot())
    var (random, errors) = (TestRandom(seed: 8), 0)
    for round in 0..<2_000 {
      write = try database.beginWrite()
      defer { write.cancel() }
      let index = random.below(numbers.count + 1)
      let isRow = index < numbers.count
      var bytes =
        isRow
        ? try #require(try SyncTable.bytes(.pending, numbers[index], write)) : write.memo
      switch round % 4 {
      case 0: bytes.removeLast(1 + random.below(bytes.count))
      case 1: bytes[random.below(8)] = UInt8(random.below(256))
      default: bytes[random.below(bytes.count)] = UInt8(random.below(256))
      }
      if isRow {
        try SyncTable.put(bytes, .pending, numbers[index], write)
      } else {
        write.memo = bytes
      }
      do {
        let found = try PendingRows.all(write, after: 0)
        // An old state may have become one, behind the others.
        #expect(found.changesets.count <= 31)
        _ = try PendingRows.last(write, known: nil, isNewest: false)
      } catch {
        #expect(error.code == .corrupted, "\(error)")
        errors += 1
      }
    }
    #expect(errors > 600)
  }

  private func encoded(_ new: [UInt8], from old: [UInt8]) -> [UInt8]? {
    var delta: [UInt8] = []
    return ByteDelta.encode(new, from: old, into: &delta) ? delta : nil
  }

  @Test("hold differences that give back the bytes, and no more than there may be")
  func differences() throws {
    var random = TestRandom(seed: 3)
    var shorter = 0
    for _ in 0..<20_000 {
      let old = (0..<random.below(120)).map { _ in UInt8(random.below(3)) }
      var new = old
      for _ in 0..<random.below(6) where !new.isEmpty {
        new[random.below(new.count)] = UInt8(random.below(3))
      }
      if random.below(3) == 0 { new += (0..<random.below(60)).map { UInt8($0) } }
      if random.below(3) == 0 { new.removeLast(random.below(new.count + 1)) }
      if random.below(3) == 0 {
        new.insert(UInt8(random.below(9)), at: random.below(new.count + 1))
      }
      if let delta = encoded(new, from: old) {
        shorter += 1
        #expect(ByteDelta.decoded(delta, from: old) == new && delta.count < new.count)
      }
      let hostile = (0..<random.below(20)).map { _ in UInt8(random.below(256)) }
      #expect(ByteDelta.decoded(hostile, from: old)?.count ?? 0 <= ByteDelta.sizeMax)
    }
    #expect(shorter > 10_000)
    #expect(encoded(Array(repeating: 1, count: 513), from: []) == nil)
    let long = (0..<512).map { UInt8(truncatingIfNeeded: $0) }
    let equal = try #require(encoded(long, from: long))
    #expect(equal.count == 8 && ByteDelta.decoded(equal, from: long) == long)
    // A key and a value of another size.
    let old = (0..<44).map { UInt8($0) }
    let new = old[..<31] + [200, 201, 202] + old[33..<41] + [203] + old[43...]
    let delta = try #require(encoded(Array(new), from: old))
    #expect(delta == [128 + 31, 0x23, 200, 201, 202, 128 + 8, 0x21, 203])
    // Another one with the same runs.
    let like = old[..<31] + [99, 201, 98] + old[33..<41] + [97] + old[43...]
    var others: [UInt8] = []
    try #require(ByteDelta.encode(Array(like), like: delta, from: old, into: &others))
    #expect(others == [99, 201, 98, 97])
    #expect(ByteDelta.decoded(others, like: delta, from: old) == Array(like))
    #expect(ByteDelta.decoded(others + [1], like: delta, from: old) == nil)
    #expect(ByteDelta.decoded(others, like: delta, from: Array(old[..<40])) == nil)
    for other in [old, Array(like) + [1], Array(like.dropLast()), Array(like.dropFirst())] {
      #expect(!ByteDelta.encode(other, like: delta, from: old, into: &others))
    }
    #expect(!ByteDelta.encode(old, like: [], from: old, into: &others))
  }

  @Test("have four bytes for a changeset like the one before, also of the next millisecond")
  func likeTheOneBefore() throws {
    let database = try database("pages of one kind")
    var (stamp, added) = (SyncStamp(milliseconds: 1_600_000_000_255), [SyncChangeset]())
    var page: PendingPage?
    for number in 1...180 as ClosedRange<UInt64> {
      // At 256 milliseconds a higher byte changes as well.
      let now = 1_600_000_000_255 + number / 5
      stamp = try #require(SyncStamp.next(now: now, after: stamp))
      let field = SyncField(SyncObject("Note", .int(Int64(number * 7 % 60))), [], "size")
      let new = SyncChangeset(
        client: SyncClient(3), sequence: number, base: SyncVersion(40), stamp: stamp,
        operations: [.change(field, .set(.int(Int64(number % 64) * 128 + 8_192)))])
      let write = try database.beginWrite()
      page = try add(new, write, known: number % 9 == 0 ? nil : page)
      try write.commit()
      added.append(new)
    }
    #expect(try all(database) == added)
    #expect(try SyncTable.numbers(.pending, try database.snapshot()).isEmpty, "one page")
  }
}
