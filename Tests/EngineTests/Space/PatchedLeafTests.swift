// PatchedLeafTests.swift: leaves that snapshots hold change by patches, and whoever reads, moves,
// copies, compares or removes them sees rows like any others.

import Synchronization
import Testing

@testable import Engine

@Suite("Patched leaves")
struct PatchedLeafTests {
  @Test("rows change under pins, each version keeps its own, and an open reads what is there")
  func versions() throws {
    var store = try PatchedStore(rows: 3000)
    #expect(store.patchedLeafCount == 0)
    try store.patch(rounds: 60)
    #expect(store.patchedLeafCount > 5)
    try store.check()
    let again = try Database.open(backend: TestBackend(store.backend.bytes))
    try store.check(again, store.people)
    #expect(again.state.withLock { $0.current.group.patchedLeafCount } == store.patchedLeafCount)
    try again.close()
    store.releasePins()
    // Without pins a changed leaf is written, and its patch goes.
    for key in stride(from: Int64(0), to: 3000, by: 100) { try store.changeScore(of: key) }
    #expect(store.patchedLeafCount == 0)
    try store.check()
  }

  @Test("ten thousand commits reach the marks of growth with a pin every thousand")
  func mark() throws {
    let backend = TestBackend()
    backend.logs = false
    let workload = GrowthWorkload(rows: 10_000, commits: 10_000, pinEvery: 1000)
    let outcome = try workload.run(backend) { database, pins in
      #expect(pins.count == 10)
      for pin in pins { _ = try pin.contentHash() }
      try database.verify()
    }
    #expect(outcome.fileSizeBytes <= 2_000_000)
  }

  @Test("a reader that is a commit behind makes no patches")
  func reader() throws {
    var store = try PatchedStore(rows: 3000)
    for key in 0..<50 {
      try store.pin()
      try store.changeScore(of: Int64(key * 60))
      #expect(store.patchedLeafCount == 0)
      if store.pins.count > 2 { store.pins.removeFirst().snapshot.release() }
    }
    try store.check()
  }

  // MARK: changes of every kind

  @Test(
    "random changes of every kind under random pins are as the model says",
    arguments: [1, 2, 3], [CommitProtocol.twoPhase, .checksummed])
  func anything(_ seed: UInt64, _ commitProtocol: CommitProtocol) throws {
    var options = Database.Options()
    options.commitProtocol = commitProtocol
    var store = try PatchedStore(rows: 1500, seed: seed, options: options)
    var patchedRounds = 0
    var next = 1500
    for round in 0..<160 {
      if store.random.below(3) > 0 { try store.pin() }
      if store.random.below(12) == 0, store.pins.count > 8 {
        let index = store.random.below(store.pins.count)
        store.pins.remove(at: index).snapshot.release()
      }
      try Self.change(&store, &next)
      if store.patchedLeafCount > 0 { patchedRounds += 1 }
      if round % 20 == 0 { try store.check() }
    }
    #expect(patchedRounds > 60, "\(patchedRounds)")
    try store.check()
    try store.check(Database.open(backend: TestBackend(store.backend.bytes)), store.people)
  }

  /// One transaction of up to four changes.
  private static func change(_ store: inout PatchedStore, _ next: inout Int) throws {
    let write = try store.database.beginWrite()
    for _ in 0...store.random.below(4) {
      let keys = store.people.keys.sorted()
      let key = keys[store.random.below(keys.count)]
      var person = store.people[key] ?? []
      switch store.random.below(10) {
      case 0:
        try write.delete(from: "Person", key: key)
        store.people[key] = nil
        continue
      case 1:
        store.people[Int64(next)] = person
        try write.insert(into: "Person", key: Int64(next), person)
        next += 1
        continue
      case 2: person[2] = .string(String(repeating: "s", count: store.random.below(40)))
      case 3 where store.random.below(6) == 0:
        person[2] = .string(String(repeating: "long ", count: 200 + store.random.below(9)))
      case 4: person[0] = .int(Int64(store.random.below(1 << 20)))
      default: person[1] = .int(Int64(truncatingIfNeeded: store.random.next()))
      }
      store.people[key] = person
      try write.update(in: "Person", key: key, person)
    }
    try write.commit()
  }

  @Test("changes between pinned versions are those of the rows")
  func changes() throws {
    var store = try PatchedStore(rows: 3000)
    try store.patch(rounds: 30)
    try store.pin()
    #expect(store.patchedLeafCount > 5)
    for (index, older) in store.pins.enumerated() {
      for newer in store.pins[index...] {
        let changes = try newer.snapshot.changes(since: older.snapshot)
        let keys = older.people.keys.filter { older.people[$0] != newer.people[$0] }.sorted()
        #expect((changes["Person"]?.modifications.map(\.key) ?? []) == keys)
        #expect(changes["Person"]?.insertions ?? [] == [])
      }
    }
  }

  // MARK: whoever handles nodes

  @Test("copies hold the rows and no patches")
  func copies() throws {
    try withTemporaryFolder { folder in
      var store = try PatchedStore(rows: 3000)
      try store.patch(rounds: 20)
      #expect(store.patchedLeafCount > 5)
      try store.database.writeCopy(to: folder + "/copy", encryptionKey: nil)
      let write = try store.database.beginWrite()
      for key in 0..<5 { try write.delete(from: "Person", key: Int64(key)) }
      try write.writeCopy(to: folder + "/more", encryptionKey: nil)
      write.cancel()
      for (name, gone) in [("copy", 0), ("more", 5)] {
        let copy = try Database.open(path: folder + "/" + name, options: .init())
        var people = store.people
        for key in 0..<gone { people[Int64(key)] = nil }
        try store.check(copy, people)
        #expect(copy.state.withLock { $0.current.group.patchedLeafCount } == 0)
        try copy.close()
      }
      try store.check()
    }
  }

  @Test("columns come and go, and a table goes with its patches")
  func schema() throws {
    var store = try PatchedStore(rows: 3000)
    try store.patch(rounds: 20)
    var write = try store.database.beginWrite()
    try write.addColumn(ColumnSchema(name: "city", type: .string, isOptional: true), to: "Person")
    try write.removeColumn("score", from: "Person")
    try write.commit()
    #expect(store.patchedLeafCount > 5)
    try store.database.verify()
    let snapshot = try store.database.snapshot()
    for key in [Int64(0), 16, 2999] {
      let person = try #require(store.people[key])
      #expect(try snapshot.row(in: "Person", key: key) == [person[0], person[2], .null])
    }
    snapshot.release()
    write = try store.database.beginWrite()
    try write.removeTable("Person")
    try write.commit()
    #expect(store.patchedLeafCount == 0)
    try store.database.verify()
    store.releasePins()
    write = try store.database.beginWrite()
    try write.createTable(Fixtures.dogs)
    try write.commit()
    try store.database.verify()
    #expect(store.database.statistics().pendingBytes < 65_536)
  }

  @Test(
    "patched leaves that move out of the tail are written whole, and the others stay patched",
    arguments: [false, true])
  func evacuation(_ changesOthers: Bool) throws {
    var store = try PatchedStore(rows: 8000)
    // Leaves that are written now stand behind a megabyte and a half, which pins hold.
    try store.add(Fixtures.dogs, rows: 3000) {
      [.int(Int64($0)), .string(String(repeating: "x", count: 500))]
    }
    try store.changeEveryLeaf()
    try store.pin()
    let write = try store.database.beginWrite()
    try write.removeTable("Dog")
    try write.commit()
    try store.patch(rounds: 20)
    let (large, patched) = (store.backend.bytes.count, store.patchedLeafCount)
    #expect(patched > 10)
    store.releasePins()
    var counts: [Int] = []
    for round in 0..<60 {
      if changesOthers {
        // Their inner nodes are not in memory when the leaves move.
        let write = try store.database.beginWrite()
        if round % 2 == 0 {
          try write.createTable(Fixtures.dogs)
        } else {
          try write.removeTable("Dog")
        }
        try write.commit()
      } else {
        try store.changeScore(of: 5)
      }
      counts.append(store.patchedLeafCount)
      if round < 8, round % 2 == 1 { try store.check() }
    }
    // One of them may be the leaf that the commits change; the others are those that moved.
    #expect(counts[59] < patched - 3, "\(patched), then \(counts)")
    try store.check()
    #expect(store.backend.bytes.count < large / 2, "\(store.backend.bytes.count) of \(large)")
    try store.check(Database.open(backend: TestBackend(store.backend.bytes)), store.people)
  }

  @Test("long values and collections of patched rows stay theirs, and are released once")
  func outside() throws {
    let backend = TestBackend()
    backend.logs = false
    let database = try Database.open(backend: backend)
    var write = try database.beginWrite()
    try write.createTable(
      TableSchema(
        name: "Note",
        columns: [
          ColumnSchema(name: "text", type: .string),
          ColumnSchema(name: "tags", type: .int, collection: .list),
        ]))
    func note(_ number: Int) -> [Value] {
      [
        .string(String(repeating: "\(number % 10)", count: 3000)),
        .list((0..<400).map { .int(Int64($0 + number)) }),
      ]
    }
    for key in 0..<400 { try write.insert(into: "Note", key: Int64(key), note(key)) }
    try write.commit()
    var pins: [(Snapshot, UInt64)] = []
    var patched = 0
    for round in 0..<40 {
      let snapshot = try database.snapshot()
      pins.append((snapshot, try snapshot.contentHash()))
      write = try database.beginWrite()
      for key in stride(from: round % 7, to: 400, by: round < 3 ? 1 : 131) {
        try write.update(in: "Note", key: Int64(key), note(key + round))
      }
      try write.commit()
      patched = max(patched, database.state.withLock { $0.current.group.patchedLeafCount })
      try database.verify()
    }
    #expect(patched > 0)
    for (snapshot, hash) in pins { #expect(try snapshot.contentHash() == hash) }
    for (snapshot, _) in pins { snapshot.release() }
    for key in 0..<400 {
      write = try database.beginWrite()
      try write.delete(from: "Note", key: Int64(key))
      try write.commit()
    }
    try database.verify()
    #expect(database.statistics().pendingBytes < 65_536)
  }

  // MARK: bounds

  @Test("no version has more patched leaves than a reader keeps in memory")
  func bound() throws {
    let text = String(repeating: "x", count: 505)
    var store = try PatchedStore(rows: 17_000) { key, _ in
      [.int(Int64(key)), .int(.max), .string(text)]
    }
    // A row in sixteen is not one in every leaf: it takes more until pins hold as much as the rest.
    for _ in 0..<2 { try store.patch(rounds: 0) }
    #expect(store.patchedLeafCount == Layout.patchedLeafCountMax)
    try store.check(store.database, store.people)
  }

  @Test("an encrypted file has none")
  func encrypted() throws {
    var store = try PatchedStore(rows: 2000, options: EncryptedFixtures.options())
    try store.patch(rounds: 20)
    #expect(store.patchedLeafCount == 0)
    try store.check()
  }

  @Test("a file of format version 2 gets none, and one that has some is damaged")
  func olderFormat() throws {
    let store = try PatchedStore(rows: 3000)
    for (format, isPatched) in [(UInt8(2), false), (3, true)] {
      let backend = TestBackend(Self.naming(format, store.backend.bytes))
      let database = try Database.open(backend: backend)
      var pins: [Snapshot] = []
      for round in 0..<3 {
        pins.append(try database.snapshot())
        let write = try database.beginWrite()
        for key in stride(from: Int64(0), to: 3000, by: 16) {
          var person = try #require(store.people[key])
          person[1] = .int(.max - Int64(round))
          try write.update(in: "Person", key: key, person)
        }
        try write.commit()
      }
      #expect(database.state.withLock { $0.current.group.patchedLeafCount > 0 } == isPatched)
      try database.verify()
      for pin in pins { pin.release() }
      try database.close()
      let renamed = TestBackend(Self.naming(2, backend.bytes))
      #expect(errorCode { try Database.open(backend: renamed) } == (isPatched ? .corrupted : nil))
    }
  }

  /// The file with another format version in its header.
  private static func naming(_ format: UInt8, _ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    bytes[HeaderField.formatVersion] = format
    let sum = RawBytes.over(Array(bytes[16..<64])) { Checksum.of($0) }
    for index in 0..<8 {
      bytes[HeaderField.checksum + index] = UInt8(truncatingIfNeeded: sum >> UInt64(8 * index))
    }
    return bytes
  }

  @Test("threads that read one version at once see its rows")
  func threads() throws {
    var store = try PatchedStore(rows: 4000)
    try store.patch(rounds: 40)
    try store.pin()
    let pin = try #require(store.pins.last)
    #expect(pin.snapshot.state.group.patchedLeafCount > 5)
    for _ in 0..<10 {
      // A reader of its own, so that every round makes the leaves anew.
      let database = try Database.open(backend: TestBackend(store.backend.bytes))
      let snapshot = try database.snapshot()
      let wrong = Atomic(0)
      let threads = (0..<4).map { _ in
        startThread {
          let isRight = (try? snapshot.contentHash()) == pin.contentHash
          if !isRight { wrong.add(1, ordering: .relaxed) }
        }
      }
      for thread in threads { thread.join() }
      #expect(wrong.load(ordering: .relaxed) == 0)
      snapshot.release()
      try database.close()
    }
  }

  // MARK: power cuts

  @Test(
    "after a crash at any operation the version is the acked one or the one in flight",
    arguments: [CommitProtocol.twoPhase, .checksummed])
  func crashes(_ commitProtocol: CommitProtocol) throws {
    var options = PatchedStore.writingNodes
    options.commitProtocol = commitProtocol
    let held = Mutex<[Snapshot]>([])
    let patched = Atomic(0)
    var run = PowerCutRun(options: options) { database, round in
      let write = try database.beginWrite()
      if round == 0 { try write.createTable(Fixtures.dogs) }
      if round < 3 {
        for key in 0..<900 where round == 0 || key % 100 == 0 {
          try write.upsert(into: "Dog", key: Int64(key), Fixtures.dog(1000 + key + round))
        }
      } else {
        try write.upsert(into: "Dog", key: Int64(round * 70), Fixtures.dog(2000 + round))
      }
      try write.commit()
      // Those of the recording only: images are closed before the next one is opened.
      guard round > 0 || database.version == Version(rawValue: 2) else { return }
      if database.state.withLock({ $0.current.group.patchedLeafCount }) > 0 {
        patched.add(1, ordering: .relaxed)
      }
      let snapshot = try database.snapshot()
      held.withLock { $0.append(snapshot) }
    }
    try run.record(rounds: 12)
    #expect(patched.load(ordering: .relaxed) > 3)
    let (states, findings) = run.explore(mixtures: 6)
    #expect(findings == [])
    #expect(states > 500)
    for snapshot in held.withLock({ $0 }) { snapshot.release() }
  }
}
