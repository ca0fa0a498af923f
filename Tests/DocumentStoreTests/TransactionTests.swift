// TransactionTests.swift: what commits and rollbacks do to the file and to what is kept in memory.

import Foundation
import Requirements
import Testing

@testable import DocumentStore

@Suite("Transactions")
struct TransactionTests {
  private struct Planned: Error {}

  /// Saves a document of JSON.
  private func save(_ json: String, as key: String, in transaction: WriteTransaction) throws {
    var record = Record(key: key, body: try transaction.encode(json: json))
    record.version = [1]
    try transaction.collection().set(&record)
  }

  @Test("that throw take back documents, sequences and shared keys")
  func rollback() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    #expect(throws: Planned.self) {
      try file.write { transaction in
        try save(#"{"a":1}"#, as: "first", in: transaction)
        #expect(try transaction.snapshot.json(of: [0x70, 0]) == "{}")
        throw Planned()
      }
    }
    try file.write { try save(#"{"b":2}"#, as: "second", in: $0) }
    let json = try file.read { snapshot in
      #expect(snapshot.sharedKeys.keys == ["b"])
      let record = try #require(try snapshot.collection().record("second"))
      #expect(record.sequence == 1)
      return try snapshot.json(of: record.body ?? [])
    }
    #expect(json == #"{"b":2}"#)
    let plain = try PlainSQL(folder.bundle)
    #expect(
      try plain.texts("SELECT hex(body) FROM kv_info WHERE key = 'SharedKeys'") == [
        "600141628002"
      ])
    #expect(try plain.counters() == ["default 1 0"])
    try file.close()
  }

  @Test("inside each other take back their own changes alone")
  func nesting() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { transaction in
      try save(#"{"a":1}"#, as: "outer", in: transaction)
      #expect(throws: Planned.self) {
        try transaction.nested { inner in
          try save(#"{"b":1}"#, as: "lost", in: inner)
          _ = try inner.collection(try CollectionName("lost"))
          try inner.nested { try save(#"{"c":1}"#, as: "lost, too", in: $0) }
          throw Planned()
        }
      }
      try file.write { try save(#"{"d":1}"#, as: "inner", in: $0) }
      let made = try transaction.collection(try CollectionName("lost"))
      var record = Record(key: "found", body: [0x70, 0])
      try made.set(&record)
    }
    let plain = try PlainSQL(folder.bundle)
    #expect(try plain.rows("kv_default").map(\.key) == ["inner", "outer"])
    #expect(try plain.rows("kv_.lost").map(\.key) == ["found"])
    #expect(try plain.counters() == [".lost 1 0", "default 2 0"])
    #expect(try file.read { $0.sharedKeys.keys } == ["a", "d"])
    try file.close()
  }

  @Test("that are taken back leave a collection usable that they made")
  func newCollections() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let name = try CollectionName("newc")
    #expect(throws: Planned.self) {
      try file.write { transaction in
        var record = Record(key: "lost", body: [0x70, 0])
        try transaction.collection(name).set(&record)
        throw Planned()
      }
    }
    #expect(try file.read { try $0.collections() } == [.default])
    try file.write { transaction in
      var record = Record(key: "kept", body: [0x70, 0])
      try transaction.collection(name).set(&record)
      #expect(record.sequence == 1)
    }
    #expect(try PlainSQL(folder.bundle).rows("kv_.newc").map(\.key) == ["kept"])
    try file.close()
  }

  @Test("are read whole by readers beside them")
  func isolation() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { try save(#"{"a":1}"#, as: "one", in: $0) }
    try file.read { before in
      try file.write { transaction in
        try save(#"{"new":1}"#, as: "two", in: transaction)
        #expect(try file.read { try $0.collection().count() } == 1)
      }
      #expect(try before.collection().count() == 1)
      #expect(try before.collection().lastSequence() == 1)
      #expect(try file.read { try $0.collection().lastSequence() } == 2)
    }
    #expect(try file.read { $0.sharedKeys.keys } == ["a", "new"])
    try file.close()
  }

  @Test("of other connections are seen: keys, sequences and tables")
  func twoFiles() throws {
    let folder = try TemporaryFolder()
    let (first, second) = (try folder.make(), try folder.make())
    for round in 0..<20 {
      let file = round % 3 == 0 ? first : second
      try file.write { transaction in
        try save("{\"k\(round)\":\(round)}", as: "d\(round)", in: transaction)
        #expect(try transaction.collection().lastSequence() == Int64(round) + 1)
      }
    }
    for file in [first, second] {
      try file.read { snapshot in
        #expect(snapshot.sharedKeys.keys == (0..<20).map { "k\($0)" })
        for round in 0..<20 {
          let record = try #require(try snapshot.collection().record("d\(round)"))
          #expect(try snapshot.json(of: record.body ?? []) == "{\"k\(round)\":\(round)}")
        }
      }
    }
    try first.close()
    try second.close()
  }

  @Test("of several processes wait for each other")
  func processes() async throws {
    let folder = try TemporaryFolder()
    let path = folder.bundle
    await withTaskGroup { group in
      for number in 0..<3 {
        group.addTask {
          await #expect(processExitsWith: .success) {
            [path = path as String, number = number as Int] in
            let file = try DataFile(path: path)
            for round in 0..<20 {
              try file.write { transaction in
                let json = "{\"p\(number)x\(round)\":\(round)}"
                var record = Record(
                  key: "p\(number)-\(round)", body: try transaction.encode(json: json))
                try transaction.collection().set(&record)
              }
            }
            try file.close()
          }
        }
      }
    }
    let file = try folder.make()
    try file.read { snapshot in
      let store = try snapshot.collection()
      #expect(try store.lastSequence() == 60)
      let records = try store.records()
      #expect(Set(records.map(\.sequence)) == Set(1...60))
      for record in records {
        let round = record.key.split(separator: "-").last ?? ""
        let number = record.key.dropFirst().prefix { $0 != "-" }
        #expect(
          try snapshot.json(of: record.body ?? []) == "{\"p\(number)x\(round)\":\(round)}")
      }
    }
    try file.close()
  }

  @Test("wait for a lock as long as they may, and then say that it is held")
  func busy() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make { $0.busyTimeoutMilliseconds = 50 }
    try PlainSQL(folder.bundle).queue.writeWithoutTransaction { database in
      try database.execute(sql: "BEGIN IMMEDIATE")
      #expect(code { try file.write { _ in } } == .busy)
      #expect(try file.read { try $0.collection().count() } == 0)
      try database.execute(sql: "ROLLBACK")
    }
    try file.write { try save("{}", as: "a", in: $0) }
    try file.close()
  }

  @Test("that only read cannot change anything")
  func reading() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.read { snapshot in
      var record = Record(key: "a", body: [0x70, 0])
      #expect(code { try snapshot.collection().set(&record) } == .notInTransaction)
      #expect(code { try snapshot.collection().purge("a") } == .notInTransaction)
    }
    try file.close()
    let reader = try folder.make { $0.isReadOnly = true }
    #expect(code { try reader.write { _ in } } == .notWriteable)
    try reader.close()
  }

  @Test("that SQLite ended because the medium is full take nothing more, and leave nothing")
  func full() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { try save(#"{"a":1}"#, as: "before", in: $0) }
    let pages = try #require(try file.setting("page_count"))
    try file.writer.run { try file.writer.execute("PRAGMA max_page_count = \(pages)") }
    let large = "{\"b\":\"" + String(repeating: "x", count: 40_000) + "\"}"
    var reached: [DocumentStoreError.Code?] = []
    let outcome = code {
      try file.write { transaction in
        try save(#"{"c":1}"#, as: "small", in: transaction)
        reached.append(code { try save(large, as: "large", in: transaction) })
        // The error is caught here, and what follows must not become transactions of its own.
        reached.append(code { try save(#"{"d":1}"#, as: "after", in: transaction) })
        reached.append(code { _ = try transaction.collection(try CollectionName("after")) })
        reached.append(code { try transaction.nested { _ in } })
      }
    }
    #expect(reached == [.noSpace, .notInTransaction, .notInTransaction, .notInTransaction])
    #expect(outcome == .notInTransaction)
    let plain = try PlainSQL(folder.bundle)
    #expect(try plain.rows("kv_default").map(\.key) == ["before"])
    #expect(try plain.counters() == ["default 1 0"])
    #expect(try file.read { $0.sharedKeys.keys } == ["a"])
    try file.writer.run { try file.writer.execute("PRAGMA max_page_count = 1000000") }
    try file.write { try save(large, as: "later", in: $0) }
    #expect(try file.read { try $0.collection().record("later")?.sequence } == 2)
    #expect(try file.read { $0.sharedKeys.keys } == ["a", "b"])
    try file.close()
  }

  @Test("of processes that make a file at the same moment find it made once")
  func creators() async throws {
    let folder = try TemporaryFolder()
    let path = folder.bundle
    let count = FullSize.isOn ? 8 : 3
    for round in 0..<(FullSize.isOn ? 40 : 3) {
      await withTaskGroup { group in
        for number in 0..<count {
          group.addTask {
            await #expect(processExitsWith: .success) {
              [path = "\(path)-\(round).cblite2" as String, number = number as Int] in
              let file = try DataFile(path: path)
              try file.write { transaction in
                var record = Record(key: "p\(number)", body: [0x70, 0])
                record.version = [1]
                try transaction.collection().set(&record)
              }
            }
          }
        }
      }
      let plain = try PlainSQL("\(path)-\(round).cblite2")
      #expect(try plain.rows("kv_default").map(\.key) == (0..<count).map { "p\($0)" })
      #expect(try plain.number("SELECT count(*) FROM kv_info") == 3)
    }
  }
}
