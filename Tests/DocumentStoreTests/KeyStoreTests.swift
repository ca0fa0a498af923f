// KeyStoreTests.swift: names of key stores, and what happens to their records.

import Foundation
import TestFiles
import Testing

@testable import DocumentStore

@Suite("Key stores")
struct KeyStoreTests {
  private static let body: [UInt8] = [0x70, 0]

  /// Saves a new document, or changes the one that there is.
  @discardableResult
  private func save(
    _ key: String, flags: RecordFlags = [], in store: KeyStore
  ) throws -> Record {
    var record = try store.record(key) ?? Record(key: key)
    record.body = Self.body
    record.version = [UInt8(truncatingIfNeeded: record.sequence) &+ 1]
    record.flags = flags
    try store.set(&record)
    return record
  }

  @Test("have names with a backslash before each capital letter")
  func names() throws {
    let chairs = KeyStoreName(try CollectionName("Chairs", scope: "Inventory"))
    #expect(chairs.table == "kv_.\\Inventory.\\Chairs")
    #expect(chairs.deadTable == "kv_del_.\\Inventory.\\Chairs")
    #expect(KeyStoreName(table: chairs.table) == chairs)
    #expect(chairs.collection == (try CollectionName("Chairs", scope: "Inventory")))
    #expect(KeyStoreName(try CollectionName("AZaz")).table == "kv_.\\A\\Zaz")
    #expect(KeyStoreName.peerCheckpoints.table == "kv_peer\\Checkpoints")
    #expect(KeyStoreName(try CollectionName("_default")) == .defaultCollection)
    #expect(KeyStoreName(table: "kv_del_default") == nil)
    #expect(KeyStoreName(table: "kv_default:unnest:a") == nil)
    #expect(KeyStoreName(table: "kv_") == nil)
    // SQL finds no table that is spelled otherwise than its name says.
    #expect(KeyStoreName(table: "kv_.Chairs") == nil)
    #expect(KeyStoreName(table: "kv_.a.b.c")?.collection == nil)
    let most = String(repeating: "a", count: 251)
    _ = try CollectionName(most, scope: most)
    for bad in ["", "_a", "%a", "a b", "ä", "a.b", "a\"b", most + "a"] {
      #expect(code { _ = try CollectionName(bad) } == .invalidParameter)
      #expect(code { _ = try CollectionName("a", scope: bad) } == .invalidParameter)
    }
    #expect(code { _ = try CollectionName("_default", scope: "a") } == .invalidParameter)
  }

  @Test("hold collections whose names differ in case apart")
  func collections() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let names = [
      try CollectionName("widgets"), try CollectionName("Widgets"),
      try CollectionName("Chairs", scope: "Inventory"),
      try CollectionName("chairs", scope: "inventory"), try CollectionName("a-b_c%d", scope: "x"),
    ]
    try file.write { transaction in
      for (index, name) in names.enumerated() {
        try save("d\(index)", in: try transaction.collection(name))
      }
    }
    try file.read { snapshot throws in
      #expect(Set(try snapshot.collections()) == Set(names + [.default]))
      for (index, name) in names.enumerated() {
        #expect(try snapshot.collection(name).records().map(\.key) == ["d\(index)"])
      }
      #expect(code { _ = try snapshot.collection(try CollectionName("no")) } == .notFound)
    }
    try file.write { transaction throws in
      #expect(try transaction.deleteCollection(names[0]))
      #expect(try !transaction.deleteCollection(names[0]))
      #expect(code { try transaction.deleteCollection(.default) } == .invalidParameter)
    }
    #expect(try !file.read { try $0.collections() }.contains(names[0]))
    try file.write { transaction in
      let again = try transaction.collection(names[0])
      #expect(try save("again", in: again).sequence == 2)
    }
    #expect(try PlainSQL(folder.bundle).rows("kv_.widgets").map(\.key) == ["again"])
    #expect(try PlainSQL(folder.bundle).rows("kv_.\\Widgets").map(\.key) == ["d1"])
    try file.close()
  }

  @Test("move a record when it is deleted and undeleted, and count")
  func tombstones() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let plain = try PlainSQL(folder.bundle)
    try file.write { transaction in
      let store = try transaction.collection()
      for key in ["a", "b", "c"] { try save(key, in: store) }
    }
    try plain.execute("UPDATE kv_default SET expiration = 4102444800000 WHERE key = 'b'")
    try file.write { try save("b", flags: .deleted, in: try $0.collection()) }
    var dead = try plain.rows("kv_del_default")
    #expect(dead.map(\.key) == ["b"] && dead[0].sequence == 4 && dead[0].flags == 1)
    #expect(dead[0].expiration == 4_102_444_800_000)
    #expect(try plain.counters() == ["default 4 1"])
    try file.read { snapshot in
      let store = try snapshot.collection()
      #expect(try store.count() == 2 && store.purgeCount() == 1)
      #expect(try store.record("b")?.flags == .deleted)
      #expect(try store.record(sequence: 4)?.key == "b")
      #expect(try store.record(sequence: 2) == nil)
    }
    // A tombstone of a tombstone stays where it is.
    try file.write { try save("b", flags: .deleted, in: try $0.collection()) }
    dead = try plain.rows("kv_del_default")
    #expect(dead.map(\.sequence) == [5])
    try file.write { try save("b", in: try $0.collection()) }
    let live = try plain.rows("kv_default")
    #expect(live.map(\.key) == ["a", "b", "c"] && live[1].sequence == 6)
    #expect(live[1].expiration == 4_102_444_800_000 && live[1].rowid == 4)
    #expect(try plain.rows("kv_del_default") == [])
    #expect(try plain.counters() == ["default 6 1", "del_default 0 1"])
    try file.write { transaction in
      let store = try transaction.collection()
      #expect(try store.purge("b"))
      #expect(try !store.purge("b"))
      #expect(try store.lastSequence() == 6 && store.purgeCount() == 3)
    }
    #expect(try plain.counters() == ["default 6 2", "del_default 0 1"])
    try file.close()
  }

  @Test("refuse what is out of date, and change nothing then")
  func conflicts() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { try save("a", in: try $0.collection()) }
    let old = try #require(try file.read { try $0.collection().record("a") })
    try file.write { transaction in
      let store = try transaction.collection()
      #expect(try store.setFlags(.synced, of: "a", sequence: 1))
      #expect(try !store.setFlags(.synced, of: "a", sequence: 2))
      #expect(code { try store.setFlags(.deleted, of: "a", sequence: 1) } == .invalidParameter)
    }
    let plain = try PlainSQL(folder.bundle)
    #expect(try plain.rows("kv_default").map(\.flags) == [0x10008])
    let before = try plain.rows("kv_default")
    try file.write { transaction in
      let store = try transaction.collection()
      for flags: RecordFlags in [[], .deleted] {
        var stale = old
        stale.flags = flags
        #expect(code { try store.set(&stale) } == .conflict)
        #expect(code { try store.set(&stale, .kept) } == .conflict)
        #expect(stale.sequence == 1 && stale.subsequence == 0)
        var new = Record(key: "a", body: Self.body)
        new.flags = flags
        #expect(code { try store.set(&new) } == .conflict)
      }
      #expect(try store.lastSequence() == 1)
    }
    #expect(try plain.rows("kv_default") == before && plain.counters() == ["default 1 0"])
    try file.write { transaction in
      let store = try transaction.collection()
      var record = try #require(try store.record("a"))
      try store.set(&record, .kept)
      #expect(record.sequence == 1 && record.subsequence == 2)
      var new = Record(key: "n")
      #expect(code { try store.set(&new, .kept) } == .invalidParameter)
    }
    #expect(try plain.rows("kv_default").map(\.flags) == [0x20008])
    try file.close()
  }

  @Test("give sequences once, also after purges and repairs")
  func sequences() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { transaction in
      let store = try transaction.collection()
      for key in ["a", "b", "c"] { try save(key, in: store) }
      try store.purge("c")
    }
    let next = try file.write { try save("d", in: try $0.collection()) }
    #expect(next.sequence == 4)
    // A counter that fell behind, as a crash of the real library has left it.
    let plain = try PlainSQL(folder.bundle)
    _ = try file.write { try $0.collection().records(.changes(since: 0)) }
    try plain.execute("UPDATE kvmeta SET lastSeq = 1 WHERE name = 'default'")
    try file.write { transaction in
      let store = try transaction.collection()
      #expect(try save("e", in: store).sequence == 5)
      #expect(try save("a", in: store).sequence == 6)
    }
    #expect(try plain.counters() == ["default 6 1"])
    try plain.execute("UPDATE kvmeta SET lastSeq = 9223372036854775807 WHERE name = 'default'")
    #expect(code { _ = try file.write { try save("f", in: try $0.collection()) } } == .corruptData)
    try file.close()
  }

  @Test("move records to other collections")
  func moves() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let other = try CollectionName("other")
    try file.write { transaction in
      let (from, to) = (try transaction.collection(), try transaction.collection(other))
      try save("a", flags: .hasAttachments, in: from)
      try save("b", in: from)
      try save("b", flags: .deleted, in: from)
      try save("taken", in: to)
      try from.move("a", to: to)
      try from.move("b", to: to, as: "b2")
      #expect(code { try from.move("a", to: to) } == .notFound)
      try save("c", in: from)
      #expect(code { try from.move("c", to: to, as: "taken") } == .conflict)
      #expect(code { try from.move("c", to: from) } == .invalidParameter)
    }
    let plain = try PlainSQL(folder.bundle)
    #expect(try plain.rows("kv_default").map(\.key) == ["c"])
    #expect(try plain.rows("kv_.other").map(\.key) == ["a", "taken"])
    #expect(try plain.rows("kv_.other").map(\.flags) == [4, 0])
    #expect(try plain.rows("kv_del_.other").map(\.key) == ["b2"])
    #expect(try plain.counters() == [".other 3 0", "default 4 2", "del_default 0 1"])
    try file.close()
  }

  @Test("keep raw records without sequence")
  func raw() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { transaction in
      for name in [KeyStoreName.checkpoints, .peerCheckpoints, .info] {
        let store = try transaction.keyStore(name)
        try store.setRaw([1, 2], for: "org.example", version: [3])
        try store.setRaw([4], for: "org.example")
        #expect(try store.record("org.example")?.body == [4])
        var record = Record(key: "a")
        #expect(code { try store.set(&record) } == .invalidParameter)
      }
      let info = try transaction.keyStore(.info)
      #expect(code { try info.setRaw([1], for: "SharedKeys") } == .invalidParameter)
      #expect(code { try transaction.collection().setRaw([1], for: "a") } == .invalidParameter)
      #expect(try transaction.keyStore(.checkpoints).purge("org.example"))
    }
    let plain = try PlainSQL(folder.bundle)
    #expect(try plain.rows("kv_peer\\Checkpoints").map(\.body) == ["04"])
    #expect(try plain.rows("kv_checkpoints") == [] && plain.counters() == [])
    #expect(try plain.texts("SELECT name FROM sqlite_master WHERE name GLOB 'kv_del_*'").count == 2)
    try file.close()
  }

  @Test("enumerate by key and by sequence, with options")
  func enumerations() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { transaction in
      let store = try transaction.collection()
      for key in ["b", "a", "d", "c", "B"] { try save(key, in: store) }
      try save("a", flags: .deleted, in: store)
      try save("b", flags: [.hasAttachments, .conflicted], in: store)
    }
    for isWriting in [false, true, false] {
      let check: (KeyStore) throws -> Void = { store in
        var options = KeyStore.Enumeration()
        #expect(try store.records().map(\.key) == ["B", "b", "c", "d"])
        options.firstKey = "c"
        #expect(try store.records(options).map(\.key) == ["c", "d"])
        options.firstKey = nil
        options.isDescending = true
        options.countMax = 2
        #expect(try store.records(options).map(\.key) == ["d", "c"])
        #expect(try store.records(.changes(since: 0)).map(\.sequence) == [3, 4, 5, 6, 7])
        #expect(try store.records(.changes(since: 5)).map(\.key) == ["a", "b"])
        var flagged = KeyStore.Enumeration.changes(since: 0)
        flagged.flags = .conflicted
        flagged.content = .head
        let found = try store.records(flagged)
        #expect(found.map(\.key) == ["b"] && found[0].body == nil && found[0].version == [2])
        var count = 0
        try store.enumerate { _ in
          // One enumeration inside another has rows of its own.
          let inner = try store.records()
          #expect(inner.count == 4)
          count += 1
          return count < 2
        }
        #expect(count == 2)
      }
      if isWriting {
        try file.write { try check(try $0.collection()) }
      } else {
        try file.read { try check(try $0.collection()) }
      }
    }
    let plain = try PlainSQL(folder.bundle)
    #expect(try plain.number("SELECT count(*) FROM sqlite_master WHERE name GLOB '*_seqs'") == 2)
    try file.close()
  }

  @Test("follow a model through drawn changes, rollbacks and reopening", arguments: 0..<4)
  func drawn(seed: Int) throws {
    let folder = try TemporaryFolder()
    var numbers = SeededNumbers(seed: UInt64(seed))
    var (model, last) = ([String: (sequence: Int64, isDead: Bool)](), Int64(0))
    var file = try folder.make()
    for _ in 0..<60 {
      let (before, lastBefore) = (model, last)
      let fails = numbers.below(4) == 0
      struct Planned: Error {}
      do {
        try file.write { transaction in
          let store = try transaction.collection()
          for _ in 0..<numbers.below(6) {
            let key = "k\(numbers.below(8))"
            if numbers.below(5) == 0 {
              #expect(try store.purge(key) == (model[key] != nil))
              model[key] = nil
            } else {
              let isDead = numbers.below(3) == 0
              let record = try save(key, flags: isDead ? .deleted : [], in: store)
              last += 1
              #expect(record.sequence == last)
              model[key] = (last, isDead)
            }
          }
          if fails { throw Planned() }
        }
      } catch is Planned {
        (model, last) = (before, lastBefore)
      }
      if numbers.below(10) == 0 {
        try file.close()
        file = try folder.make()
      }
      let plain = try PlainSQL(folder.bundle)
      for (table, isDead) in [("kv_default", false), ("kv_del_default", true)] {
        let expected = model.filter { $0.value.isDead == isDead }.mapValues(\.sequence)
        let found = try plain.rows(table).map { ($0.key, $0.sequence ?? 0) }
        #expect(Dictionary(found) { $1 } == expected)
      }
      #expect(try plain.number("SELECT lastSeq FROM kvmeta WHERE name = 'default'") ?? 0 == last)
    }
    try file.close()
  }

  @Test("finds dead records although it was seen that there were none")
  func withoutDead() throws {
    struct Stop: Error {}
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { transaction in
      let store = try transaction.collection()
      let none = try store.record("a")
      #expect(none == nil)
      let first = try store.save("a", body: [0x70, 0])
      try store.save("a", body: nil, parent: first.current?.id)
      let dead = try store.record("a")
      #expect(dead?.flags == .deleted)
    }
    try file.write { transaction in
      let store = try transaction.collection()
      try? transaction.nested { _ in
        try store.purge("a")
        let none = try store.record("a")
        #expect(none == nil)
        throw Stop()
      }
      let dead = try store.record("a")
      #expect(dead?.flags == .deleted)
    }
    try file.close()
  }
}
