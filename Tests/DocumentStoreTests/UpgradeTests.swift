// UpgradeTests.swift: files of older formats: read as they are, upgraded, and upgraded on after a
// crash between two steps.

import DocumentStore
import Foundation
import Testing

@Suite("Upgrades")
struct UpgradeTests {
  private static let old = [
    "real-2.7", "real-2.8", "real-2.8-index", "real-3.0-tombstones", "real-3.1-collection",
    "real-3.1.9-indexes",
  ]

  @Test("keep every row and rowid, and bring each table to the current layout", arguments: old)
  func upgraded(name: String) throws {
    let folder = try TemporaryFolder()
    let path = try Golden.unpack(name, into: folder)
    let plain = try PlainSQL(path)
    let tables = try plain.texts(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'kv_*' "
        + "AND NOT name GLOB '*:*' AND name != 'kv_info'")
    let before = try tables.map { try plain.rows($0) }
    let counters = try plain.texts("SELECT name || ' ' || lastSeq FROM kvmeta ORDER BY name")
    let refusal = code { _ = try DataFile(path: path, options: noUpgrade) }
    #expect(refusal == .cantUpgradeDatabase)
    try DataFile(path: path).close()
    #expect(try plain.number("PRAGMA user_version") == 503)
    for (table, rows) in zip(tables, before) { #expect(try plain.rows(table) == rows) }
    #expect(
      try plain.texts("SELECT name || ' ' || lastSeq FROM kvmeta ORDER BY name") == counters)
    let present = try plain.texts(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'kv_*' "
        + "AND NOT name GLOB '*:*'")
    for table in present {
      let columns = try plain.columns(table)
      #expect(Set(columns).isSuperset(of: ["extra", "expiration"]), "\(table)")
      #expect(
        try plain.number("SELECT 1 FROM sqlite_master WHERE name = '\(table)_expiration'") == 1)
    }
    #expect(present.contains("kv_del_default"))
    #expect(try plain.columns("kvmeta") == ["name", "lastSeq", "purgeCnt"])
    if name == "real-2.7" {
      #expect(try plain.columns("kv_default").suffix(2) == ["extra", "expiration"])
    }
    if name.hasSuffix("indexes") {
      #expect(
        try plain.columns("indexes").suffix(3) == [
          "indexTableName", "lastSeq", "whereClause",
        ])
    }
    #expect(
      try plain.texts("SELECT hex(body) FROM kv_info WHERE key = 'versioning'") == [
        "0000000000000001"
      ])
    #expect(try plain.texts("PRAGMA quick_check") == ["ok"])
  }

  @Test("begin at 201, and leave what is newer than this store as it is", arguments: [201, 301])
  func ends(format: Int) throws {
    let folder = try TemporaryFolder()
    let path = try Golden.unpack("real-2.7", into: folder)
    let plain = try PlainSQL(path)
    let rows = try plain.rows("kv_default")
    try plain.execute(
      """
      DROP TABLE kvmeta;
      CREATE TABLE kvmeta (name TEXT PRIMARY KEY, lastSeq INTEGER DEFAULT 0) WITHOUT ROWID;
      INSERT INTO kvmeta VALUES ('default', 100), ('info', 4);
      PRAGMA user_version = \(format)
      """)
    var options = DataFile.Options()
    options.isReadOnly = true
    let old = try DataFile(path: path, options: options)
    try old.read { snapshot throws in
      let store = try snapshot.collection()
      #expect(try store.count() == 50 && store.lastSequence() == 100)
      #expect(try store.purgeCount() == 0)
    }
    try old.close()
    try DataFile(path: path).close()
    #expect(try plain.counters() == ["default 100 0", "info 4 0"])
    #expect(try plain.rows("kv_default") == rows)
    try plain.execute("PRAGMA user_version = 599")
    let new = try DataFile(path: path)
    try new.write { transaction throws in
      #expect(try transaction.collection().purge("doc-001"))
    }
    try new.close()
    #expect(try plain.number("PRAGMA user_version") == 599)
    #expect(try plain.counters() == ["default 100 1", "info 4 0"])
  }

  private var noUpgrade: DataFile.Options {
    var options = DataFile.Options()
    options.allowsUpgrade = false
    return options
  }

  /// Upgrades as plain SQL, each up to the format that it names.
  private static let steps: [(format: Int64, sql: @Sendable (PlainSQL) throws -> String)] = [
    (400, { try $0.tables().map { "ALTER TABLE \"\($0)\" ADD COLUMN extra BLOB;" }.joined() }),
    (
      500,
      { _ in
        """
        CREATE TABLE "kv_del_default" (  key TEXT PRIMARY KEY,  sequence INTEGER,  \
        flags INTEGER DEFAULT 0,  version BLOB,  body BLOB,  expiration INTEGER,  extra BLOB);
        CREATE INDEX "kv_del_default_expiration" ON "kv_del_default" (expiration) \
        WHERE expiration not null;
        """
      }
    ),
    (501, { _ in "" }),
    (
      502,
      {
        try $0.tables().filter { $0 != "kv_del_default" }.map {
          "ALTER TABLE \"\($0)\" ADD COLUMN expiration INTEGER; CREATE INDEX \"\($0)_expiration\" "
            + "ON \"\($0)\" (expiration) WHERE expiration not null;"
        }.joined()
      }
    ),
    (503, { _ in "" }),
  ]

  @Test("go on where a crash ended them, and end the same", arguments: 0...5)
  func interrupted(stepCount: Int) throws {
    let folder = try TemporaryFolder()
    let path = try Golden.unpack("real-2.7", into: folder)
    let plain = try PlainSQL(path)
    for step in Self.steps.prefix(stepCount) {
      try plain.execute(try step.sql(plain) + "PRAGMA user_version = \(step.format)")
    }
    try DataFile(path: path).close()
    let other = try TemporaryFolder()
    let whole = try Golden.unpack("real-2.7", into: other)
    try DataFile(path: whole).close()
    #expect(try plain.schema().sorted() == PlainSQL(whole).schema().sorted())
    #expect(try plain.number("PRAGMA user_version") == 503)
    #expect(try plain.rows("kv_default") == PlainSQL(whole).rows("kv_default"))
  }

  @Test("move tombstones of collections, and leave those of the default collection")
  func movesTombstones() throws {
    let folder = try TemporaryFolder()
    let path = try Golden.unpack("real-3.0-tombstones", into: folder)
    let plain = try PlainSQL(path)
    try plain.execute(
      """
      CREATE TABLE "kv_.c" (key TEXT PRIMARY KEY, sequence INTEGER, flags INTEGER DEFAULT 0,
        version BLOB, body BLOB, extra BLOB);
      INSERT INTO "kv_.c" VALUES ('live', 1, 0, x'01', x'7000', NULL), ('dead', 2, 65537, x'02',
        x'7000', x'00000000');
      INSERT INTO kvmeta VALUES ('.c', 2, 0);
      """)
    let file = try DataFile(path: path)
    #expect(try plain.rows("kv_.c").map(\.key) == ["live"])
    #expect(try plain.rows("kv_del_.c").map(\.flags) == [65537])
    #expect(try plain.texts("SELECT hex(extra) FROM \"kv_del_.c\"") == ["00000000"])
    #expect(try plain.rows("kv_del_default") == [])
    // The default collection's tombstones are there once, and move when they are written.
    let key = try file.read { snapshot -> String in
      let store = try snapshot.collection()
      #expect(try store.count() == 78)
      var options = KeyStore.Enumeration()
      options.includesDeleted = true
      #expect(try store.records(options).count == 100)
      options.flags = .deleted
      let dead = try store.records(options)
      #expect(dead.count == 22)
      return dead[0].key
    }
    try file.write { transaction in
      let store = try transaction.collection()
      var record = try #require(try store.record(key))
      try store.set(&record)
      #expect(record.sequence == 123)
    }
    #expect(try plain.rows("kv_del_default").map(\.key) == [key])
    #expect(try plain.number("SELECT count(*) FROM kv_default WHERE flags & 1") == 21)
    try file.close()
  }

  @Test(
    "core 1062: a file whose version an older library took back has the columns already",
    arguments: [201, 301, 302, 400, 500, 501, 502])
  func takenBack(format: Int) throws {
    let folder = try TemporaryFolder()
    let path = try Golden.unpack("real-2.7", into: folder)
    try DataFile(path: path).close()
    let plain = try PlainSQL(path)
    let (rows, schema) = (try plain.rows("kv_default"), try plain.schema())
    try plain.execute("PRAGMA user_version = \(format)")
    let file = try DataFile(path: path)
    try file.write { transaction throws in
      #expect(try transaction.collection().purge("doc-001"))
    }
    #expect(try file.verify().problems == [])
    try file.close()
    #expect(try plain.number("PRAGMA user_version") == 503)
    #expect(try plain.rows("kv_default") == rows.filter { $0.key != "doc-001" })
    #expect(try plain.schema() == schema)
  }
}

extension PlainSQL {
  fileprivate func tables() throws -> [String] {
    try texts(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'kv_*' ORDER BY rowid")
  }
}
