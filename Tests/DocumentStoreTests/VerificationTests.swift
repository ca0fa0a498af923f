// VerificationTests.swift: checking files: real ones are sound, and each kind of damage is found.

import Foundation
import Testing

@testable import DocumentStore

@Suite("Verification")
struct VerificationTests {
  @Test("finds real files sound, as they are and upgraded", arguments: Golden.names)
  func golden(name: String) throws {
    let folder = try TemporaryFolder()
    let path = try Golden.unpack(name, into: folder)
    var options = DataFile.Options()
    for isReadOnly in [true, false, true] {
      options.isReadOnly = isReadOnly
      let file = try DataFile(path: path, options: options)
      let found = try file.verify()
      #expect(found.problems == [])
      #expect(
        found.recordCount
          == (try Golden.notes(name, in: folder).count { row in
            !row.table.contains("Checkpoints")
          }))
      if Golden.plain.contains(name) { #expect(found.unchecked == []) }
      try file.close()
    }
  }

  @Test("finds real files sound that took changes", arguments: Golden.plain)
  func changed(name: String) throws {
    let folder = try TemporaryFolder()
    let file = try DataFile(path: try Golden.unpack(name, into: folder))
    let before = try Golden.notes(name, in: folder)
    try file.write { transaction in
      for collection in try transaction.snapshot.collections() {
        let store = try transaction.collection(collection)
        let keys = try store.records().map(\.key).prefix(6)
        for (index, key) in keys.enumerated() {
          try change(key, index, in: store, transaction)
        }
      }
      let made = try transaction.collection(try CollectionName("New", scope: "Scope"))
      try save("new", #"{"a key":[1,{"new":true}]}"#, in: made, transaction)
    }
    _ = try file.compact()
    try file.reindex()
    #expect(try file.verify().problems == [])
    try file.close()
    let again = try DataFile(path: folder.path + "/\(name).cblite2")
    let found = try again.verify()
    #expect(found.problems == [])
    // One new document, and one that was purged.
    #expect(found.recordCount >= before.filter { !$0.table.contains("Checkpoints") }.count)
    try again.close()
    let plain = try PlainSQL(folder.path + "/\(name).cblite2")
    #expect(try plain.texts("PRAGMA integrity_check") == ["ok"])
  }

  private func save(
    _ id: String, _ json: String?, in store: KeyStore, _ transaction: WriteTransaction
  ) throws {
    let body = try json.map { try transaction.encode(json: $0) }
    if try transaction.snapshot.versioning() == .vectors {
      var document = try store.vectorDocument(id) ?? VectorDocument(id: id)
      try store.save(&document, body: body)
    } else {
      let parent = try store.document(id)?.current?.id
      try store.save(id, body: body, parent: parent)
    }
  }

  private func change(
    _ key: String, _ index: Int, in store: KeyStore, _ transaction: WriteTransaction
  ) throws {
    switch index {
    case 0: try save(key, #"{"changed":1}"#, in: store, transaction)
    case 1: try save(key, nil, in: store, transaction)
    case 2:
      try save(key, nil, in: store, transaction)
      try save(key, #"{"back":[true]}"#, in: store, transaction)
    case 3:
      try save(key + " copy", #"{"of":1}"#, in: store, transaction)
      #expect(try store.purge(key))
    case 4:
      let digest = try transaction.putBlob([1, 2, 3])
      let json = "{\"b\":{\"@type\":\"blob\",\"digest\":\"\(digest)\"}}"
      try save(key, json, in: store, transaction)
    default:
      let record = try #require(try store.record(key))
      #expect(try store.setFlags(.synced, of: key, sequence: record.sequence))
    }
  }

  private static let damages: [(rule: Verification.Rule, sql: String)] = [
    (.lastSequence, "UPDATE kvmeta SET lastSeq = 1"),
    (.sequences, "UPDATE kv_default SET sequence = 2"),
    (.sequences, "UPDATE kv_default SET sequence = 0 WHERE key = 'a'"),
    (.sequences, "UPDATE kv_default SET sequence = (SELECT sequence FROM kv_del_default)"),
    (.home, "INSERT INTO kv_del_default SELECT * FROM kv_default"),
    (.home, "UPDATE kv_del_default SET flags = 0"),
    (.home, "UPDATE \"kv_.c\" SET flags = 1"),
    (.flags, "UPDATE kv_default SET flags = 0x100"),
    (.flags, "UPDATE kv_default SET flags = -65536"),
    (.revisions, "UPDATE kv_default SET flags = 2"),
    (.revisions, "UPDATE kv_default SET extra = NULL"),
    (.revisions, "UPDATE kv_default SET extra = extra || x'00'"),
    (.revisions, "UPDATE kv_default SET version = x'01aa'"),
    (.revisions, "UPDATE kv_default SET version = NULL"),
    (.revisions, "UPDATE kv_default SET body = x'700100'"),
    (.revisions, "UPDATE kv_default SET flags = 0 WHERE key = 'blob'"),
    (.body, "UPDATE kv_default SET body = x'6000'"),
    (.sharedKeys, "UPDATE kv_default SET body = x'700107ff00018003'"),
    (.sharedKeys, "UPDATE kv_default SET body = x'7001416100018003'"),
    (.sharedKeys, "DELETE FROM kv_info WHERE key = 'SharedKeys'"),
    (.expiration, "UPDATE kv_default SET expiration = 0"),
    (.layout, "DELETE FROM kv_info WHERE key = 'publicUUID'"),
    (.layout, "UPDATE kv_info SET body = x'0000000000000009' WHERE key = 'versioning'"),
    (.layout, "DROP TABLE \"kv_del_.c\""),
    (.layout, "UPDATE kvmeta SET purgeCnt = -1"),
    (.layout, "UPDATE kvmeta SET purgeCnt = 1e300"),
    (.layout, "UPDATE kv_default SET sequence = x'31' WHERE key = 'a'"),
    (.layout, "UPDATE kv_del_default SET flags = x'31'"),
    (.layout, "UPDATE kvmeta SET lastSeq = 9223372036854775807"),
    (.layout, "ALTER TABLE kv_info RENAME COLUMN flags TO flag"),
    (.layout, "ALTER TABLE kv_del_default RENAME COLUMN version TO versions"),
    (.sequences, "UPDATE kv_info SET sequence = 4"),
    (.ids, "UPDATE kv_default SET key = NULL WHERE key = 'a'"),
    (.ids, "UPDATE kv_default SET key = x'6162' WHERE key = 'a'"),
    (.ids, "UPDATE kv_default SET key = '_a' WHERE key = 'a'"),
    (.ids, "UPDATE kv_del_default SET key = ''"),
  ]

  @Test("finds damage of every kind", arguments: 0..<damages.count)
  func damage(number: Int) throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { transaction in
      let store = try transaction.collection()
      let digest = try transaction.putBlob([1])
      let blob = "{\"b\":{\"@type\":\"blob\",\"digest\":\"\(digest)\"}}"
      for (key, json) in [("a", #"{"a":1}"#), ("b", #"{"a":[{"c":2}]}"#), ("blob", blob)] {
        try save(key, json, in: store, transaction)
      }
      try save("dead", "{}", in: store, transaction)
      try save("dead", nil, in: store, transaction)
      let other = try transaction.collection(try CollectionName("c"))
      try save("x", "{}", in: other, transaction)
    }
    #expect(try file.verify().problems == [])
    let damage = Self.damages[number]
    try PlainSQL(folder.bundle).execute(damage.sql)
    let rules = try file.verify().problems.map(\.rule)
    #expect(rules.contains(damage.rule), "\(damage.sql): \(rules)")
    try? file.close()
  }

  private func makeWords(_ file: DataFile) throws {
    try file.write { transaction in
      try transaction.collection().createIndex(
        IndexSpecification("words", .fullText(FullTextOptions()), json: #"[[".text"]]"#))
    }
  }

  private static let wordDamages = [
    "DELETE FROM \"%_docsize\" WHERE docid = 1",
    "UPDATE \"%_docsize\" SET size = 4",
    "DELETE FROM \"%_content\" WHERE docid = 2",
    "DELETE FROM \"%_stat\"",
    "UPDATE \"%_stat\" SET value = value || value",
    "UPDATE \"%_segdir\" SET leaves_end_block = 4",
    "UPDATE \"%_segdir\" SET idx = 'a' || idx",
    "UPDATE \"%_segdir\" SET root = '[['",
    "DELETE FROM \"%_segments\" WHERE blockid = 2",
    "UPDATE \"%_segments\" SET blockid = 1000000 WHERE blockid = 3",
    "UPDATE \"%_segments\" SET block = 7 WHERE blockid = 3",
    """
    PRAGMA writable_schema = ON;
    UPDATE sqlite_master SET sql = replace(sql, 'root', 'rood') WHERE name = '%_segdir';
    PRAGMA schema_version = 1000000
    """,
    """
    PRAGMA writable_schema = ON;
    UPDATE sqlite_master SET sql = replace(sql, 'c0text', 'cTtext') WHERE name = '%_content';
    PRAGMA schema_version = 1000000
    """,
  ]

  @Test("finds tables of words that SQLite's check passes", arguments: 0..<wordDamages.count)
  func wordDamage(number: Int) throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try makeWords(file)
    try file.write { transaction in
      let store = try transaction.collection()
      for number in 0..<400 {
        let words = (0..<20).map { "w\(number * 20 + $0)" }.joined(separator: " ")
        try save("\(number)", "{\"text\":\"\(words)\"}", in: store, transaction)
      }
    }
    #expect(try file.verify().problems == [])
    let sql = Self.wordDamages[number]
    try PlainSQL(folder.bundle).execute(
      sql.replacingOccurrences(of: "%", with: "kv_default::words"))
    let rules = try file.verify().problems.map(\.rule)
    #expect(rules.contains(.indexContents), "\(sql): \(rules)")
    try? file.close()
  }

  @Test("finds triggers that SQLite cannot run, which its own check does not read")
  func triggers() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try makeWords(file)
    try file.write { transaction in
      let store = try transaction.collection()
      try save("a", #"{"text":"one"}"#, in: store, transaction)
    }
    #expect(try file.verify().problems == [])
    let plain = try PlainSQL(folder.bundle)
    let name = try #require(
      try plain.texts("SELECT name FROM sqlite_master WHERE type = 'trigger'").first)
    try plain.execute("DROP TRIGGER \"\(name)\"")
    try plain.execute(
      "CREATE TRIGGER \"\(name)\" AFTER DELETE ON kv_default BEGIN DELETE FROM nowhere; END")
    let problem = try #require(try file.verify().problems.first)
    #expect(problem.rule == .indexes)
    #expect(problem.message.contains("nowhere"), "\(problem)")
    try? file.close()
  }

  @Test("of a file whose shared keys are damaged says so, and every transaction does")
  func sharedKeys() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { try save("a", #"{"a":1}"#, in: $0.collection(), $0) }
    try PlainSQL(folder.bundle).execute(
      "UPDATE kv_info SET body = x'6002416141618003' WHERE key = 'SharedKeys'")
    #expect(code { _ = try file.verify() } == .corruptData)
    #expect(code { try file.write { _ in } } == .corruptData)
    try PlainSQL(folder.bundle).execute(
      "UPDATE kv_info SET body = x'600141618002' WHERE key = 'SharedKeys'")
    #expect(try file.verify().problems == [])
    try file.close()
  }

  @Test("finds an array's trigger that runs, and follows another property")
  func otherTrigger() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { try save("x", #"{"list":[1]}"#, in: $0.collection(), $0) }
    try file.write { transaction in
      try transaction.collection().createIndex(
        IndexSpecification("items", .array(path: "list"), json: "[]"))
    }
    #expect(try file.verify().problems == [])
    try file.writer.run {
      let found = try file.writer.texts("SELECT sql FROM sqlite_master WHERE name LIKE '%::ins'")
      let sql = try #require(found.first)
      let name = try file.writer.texts("SELECT name FROM sqlite_master WHERE name LIKE '%::ins'")[0]
      try file.writer.execute("DROP TRIGGER \"\(name)\"")
      try file.writer.execute(sql.replacing("'list'", with: "'1ist'"))
    }
    #expect(try file.verify().problems.map(\.rule) == [.indexes])
    try file.close()
  }
}
