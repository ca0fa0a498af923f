// ExpirationTests.swift: documents that expire, and who purges them.

import Foundation
import Synchronization
import Testing

@testable import DocumentStore

@Suite("Expiration")
struct ExpirationTests {
  private func save(_ ids: [String], in store: KeyStore) throws {
    for id in ids { try store.save(id, body: [0x70, 0]) }
  }

  @Test("is set, read and cleared, and takes neither sequence nor subsequence")
  func setting() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { transaction in
      let store = try transaction.collection()
      try save(["a", "b"], in: store)
      let before = try store.record("a")
      let wasThere = try store.setExpiration(5_000, of: "a")
      #expect(wasThere)
      var expected = try #require(before)
      expected.expirationMilliseconds = 5_000
      let after = try store.record("a")
      #expect(after == expected)
      let (next, missing) = (try store.nextExpiration(), try store.setExpiration(1, of: "none"))
      #expect(next == 5_000 && !missing)
      try store.setExpiration(0, of: "a")
      try store.setExpiration(7_000, of: "b")
      try store.setExpiration(nil, of: "b")
      let cleared = try store.nextExpiration()
      #expect(cleared == nil)
      #expect(code { try store.setExpiration(-1, of: "a") } == .invalidParameter)
      let raw = try transaction.keyStore(.checkpoints)
      #expect(code { try raw.setExpiration(1, of: "a") } == .invalidParameter)
    }
    try file.close()
    let plain = try PlainSQL(folder.bundle)
    #expect(try plain.number("SELECT count(*) FROM kv_default WHERE expiration IS NULL") == 2)
    #expect(try plain.counters() == ["default 2 0"])
  }

  @Test("purges live and dead records of all collections that are due, and counts none")
  func purge() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make { $0.purgesExpiredOnOpen = false }
    let other = try CollectionName("other")
    try file.write { transaction in
      let store = try transaction.collection()
      try save(["a", "b", "c", "dead"], in: store)
      try store.save("dead", body: nil, parent: try store.document("dead")?.current?.id)
      for (id, time) in [("a", 100), ("b", 101), ("dead", 99)] {
        try store.setExpiration(Int64(time), of: id)
      }
      let second = try transaction.collection(other)
      try save(["x"], in: second)
      try second.setExpiration(50, of: "x")
    }
    let next = try file.read { try $0.nextExpiration() }
    #expect(next == 50)
    let early = try file.purgeExpired(nowMilliseconds: 49)
    #expect(early == [])
    let purged = try file.purgeExpired(nowMilliseconds: 100)
    #expect(
      purged == [
        ExpiredDocument(collection: other, id: "x"),
        ExpiredDocument(collection: .default, id: "a"),
        ExpiredDocument(collection: .default, id: "dead"),
      ])
    let after = try file.read { try $0.nextExpiration() }
    #expect(after == 101)
    #expect(try file.verify().problems == [])
    try file.close()
    let plain = try PlainSQL(folder.bundle)
    #expect(try plain.texts("SELECT key FROM kv_default ORDER BY key") == ["b", "c"])
    #expect(try plain.texts("SELECT key FROM kv_del_default") == [])
    // One purge: the row that moved from the live to the dead.
    #expect(try plain.counters() == [".other 1 0", "default 5 1"])
  }

  @Test("is one transaction: when a collection cannot be purged, none is")
  func allOrNothing() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let last = try CollectionName("z")
    try file.write { transaction in
      for name in [CollectionName.default, last] {
        let store = try transaction.collection(name)
        try save(["a"], in: store)
        try store.setExpiration(1, of: "a")
      }
    }
    let plain = try PlainSQL(folder.bundle)
    try plain.execute(
      "CREATE TRIGGER stop BEFORE DELETE ON \"kv_.z\" BEGIN SELECT raise(ABORT, 'no'); END")
    #expect(code { try file.purgeExpired(nowMilliseconds: 2) } == .sqlite)
    #expect(try plain.number("SELECT count(*) FROM kv_default") == 1)
    try plain.execute("DROP TRIGGER stop")
    let purged = try file.purgeExpired(nowMilliseconds: 2)
    #expect(purged.count == 2)
    try file.close()
  }

  @Test("purges at the next open for writing, unless that is switched off")
  func opening() throws {
    let folder = try TemporaryFolder()
    func open(at milliseconds: UInt64, _ change: (inout DataFile.Options) -> Void) throws -> Int {
      let file = try folder.make {
        $0.nanoseconds = { milliseconds * 1_000_000 }
        change(&$0)
      }
      defer { try? file.close() }
      return try file.read { try $0.collection().count() }
    }
    let file = try folder.make { $0.nanoseconds = { 1_000_000 } }
    try file.write { transaction in
      let store = try transaction.collection()
      try save(["a", "b"], in: store)
      try store.setExpiration(10, of: "a")
    }
    try file.close()
    #expect(try open(at: 20) { $0.isReadOnly = true } == 2)
    #expect(try open(at: 20) { $0.purgesExpiredOnOpen = false } == 2)
    #expect(try open(at: 9) { _ in } == 2)
    #expect(try open(at: 10) { _ in } == 1)
  }

  @Test("opens although another writer holds the file, and purges later")
  func openingWhileBusy() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { transaction in
      let store = try transaction.collection()
      try save(["a"], in: store)
      try store.setExpiration(10, of: "a")
    }
    try file.write { _ in
      let second = try folder.make { $0.busyTimeoutMilliseconds = 1 }
      let count = try second.read { try $0.collection().count() }
      #expect(count == 1)
      try second.close()
    }
    let purged = try file.purgeExpired(nowMilliseconds: 10)
    #expect(purged.count == 1)
    try file.close()
  }
}

@Suite("A housekeeper")
struct HousekeeperTests {
  /// A clock that goes as the test says.
  private final class Clock: Sendable {
    let milliseconds = Mutex<Int64>(0)
    var now: Int64 { milliseconds.withLock { $0 } }
    func set(_ time: Int64) { milliseconds.withLock { $0 = time } }
  }

  @Test("survives a database that is busy when it wants to purge, and goes on")
  func busy() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make { $0.busyTimeoutMilliseconds = 1 }
    let clock = Clock()
    let housekeeper = Housekeeper(file) { clock.now }
    let names = [CollectionName.default, try CollectionName("b")]
    try file.write { transaction in
      for (index, name) in names.enumerated() {
        let store = try transaction.collection(name)
        try store.save("first", body: [0x70, 0])
        try store.save("later", body: [0x70, 0])
        try store.setExpiration(1_000 + Int64(index), of: "first")
        try store.setExpiration(60_000, of: "later")
      }
    }
    var turn = try housekeeper.takeTurn()
    #expect(turn.purged == [] && turn.failure == nil)
    #expect(turn.delayMilliseconds == 1_000)
    clock.set(800)
    turn = try housekeeper.takeTurn()
    #expect(turn.delayMilliseconds == 200)
    // Another process holds the lock while they come due.
    let plain = try PlainSQL(folder.bundle)
    clock.set(1_500)
    try plain.queue.writeWithoutTransaction { database in
      try database.execute(sql: "BEGIN IMMEDIATE")
      let blocked = try housekeeper.takeTurn()
      #expect(blocked.failure?.code == .busy && blocked.purged == [])
      #expect(blocked.delayMilliseconds == Housekeeper.retryMilliseconds)
      try database.execute(sql: "COMMIT")
    }
    turn = try housekeeper.takeTurn()
    #expect(turn.purged.map(\.id) == ["first", "first"] && turn.failure == nil)
    clock.set(60_000)
    turn = try housekeeper.takeTurn()
    #expect(turn.purged.map(\.id) == ["later", "later"])
    #expect(turn.delayMilliseconds == Housekeeper.delayMaxMilliseconds)
    try file.close()
    #expect(code { _ = try housekeeper.takeTurn() } == .notOpen)
  }

  @Test("runs until the file is closed, and waits as long as its turns say")
  func run() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let clock = Clock()
    try file.write { transaction in
      let store = try transaction.collection()
      for (id, time) in [("a", 300), ("b", 700), ("c", 9_000)] {
        try store.save(id, body: [0x70, 0])
        try store.setExpiration(Int64(time), of: id)
      }
    }
    var (purged, waits) = ([String](), [Int64]())
    await Housekeeper(file) { clock.now }.run { delay in
      waits.append(delay)
      clock.set(clock.now + delay)
      if clock.now >= 2_700 { try file.close() }
    } report: {
      purged += $0.purged.map(\.id)
    }
    #expect(purged == ["a", "b"])
    #expect(waits == [300, 400, 1_000, 1_000])
  }
}
