// ContractTests.swift: what a file looks like after known changes, fact by fact: plain SQL and
// numbers that were computed apart from the store. Digests are SHA-1 by the rule of revision IDs;
// bodies were encoded by hand.

import DocumentStore
import Foundation
import Testing

@Suite("The layout, fact by fact")
struct ContractTests {
  private struct Planned: Error {}
  private typealias Fact = (what: String, sql: String, is: [String])

  /// `{"a":1}` with a as key 0.
  private static let one = "7001000000018003"
  /// IDs of `{"a":1}`; of `{"a":2048,"b":[true,null,"xy"]}`, which is
  /// `19000800 42787900 6003380030008005 70020000800A00018008 8005`; of a tombstone on that; and of
  /// `{"a":1}` on that.
  private static let digests = [
    "016B1CCD815504BDC118033214B67018360704B84F", "01679A05F2955FA8AC848A84ACFC4C9259F50CD0B0",
    "02E2E6E77C8740A8E62042ADC6B8E8B930E322D7C3", "0338AC3E2F31A6BFB1162F3CFCA9B0E77D9CFEB674",
  ]
  private static let blobJSON =
    #"{"x":{"@type":"blob","digest":"sha1-cDeAcZjCKn0rCAc3HXY3eahP388=","length":3}}"#

  /// Two documents, of which one is deleted and saved again, and others with a flag each.
  private static func fill(_ file: DataFile) throws {
    func save(_ id: String, _ json: String?) throws {
      try file.write { transaction in
        let store = try transaction.collection()
        let body = try json.map { try transaction.encode(json: $0) }
        try store.save(id, body: body, parent: try store.document(id)?.current?.id)
      }
    }
    try save("a", #"{"a":1}"#)
    try save("b", #"{"a":2048,"b":[true,null,"xy"]}"#)
    try save("b", nil)
    try save("b", #"{"a":1}"#)
    try save("dead", #"{"a":1}"#)
    try file.write { transaction in
      let store = try transaction.collection()
      #expect(try store.setExpiration(1_234_567, of: "dead"))
      #expect(try store.setFlags(.synced, of: "a", sequence: 1))
    }
    try save("dead", nil)
    try save("gone", #"{"a":1}"#)
    try file.write { _ = try $0.collection().purge("gone") }
    _ = try? file.write { transaction in
      _ = try transaction.collection().save("no", body: transaction.encode(json: #"{"zzz":1}"#))
      throw Planned()
    }
    try file.write { transaction in
      _ = try transaction.putBlob([1, 2, 3])
      let store = try transaction.collection()
      try store.save("blob", body: try transaction.encode(json: blobJSON))
      let body = try transaction.encode(json: #"{"a":1}"#)
      let first = try RevisionID("1-aa")
      for id in ["2-bb", "2-cc"] {
        try store.pull("c", history: [try RevisionID(id), first], body: body, from: 1)
      }
      for name in [try CollectionName("widgets"), try CollectionName("Chairs", scope: "Sc_%-0")] {
        let other = try transaction.collection(name)
        try other.save("w", body: try transaction.encode(json: #"{"list":[{"in":[1]}],"t":"x"}"#))
      }
      _ = try store.records(.changes(since: 0))
    }
  }

  private static func index(_ file: DataFile) throws {
    var english = FullTextOptions()
    english.language = "en_US"
    english.stems = false
    try file.write { transaction in
      let store = try transaction.collection()
      let widgets = try transaction.collection(try CollectionName("widgets"))
      let chairs = try transaction.collection(try CollectionName("Chairs", scope: "Sc_%-0"))
      for (store, name, kind, json) in [
        (store, "byA", .value, #"[[".a"],["._id"]]"#),
        (store, "odd name", .value, #"{"WHAT":[[".b[0]"]],"WHERE":[">",[".a"],0]}"#),
        (widgets, "some", .value, #"{"WHAT":[[".t"]],"WHERE":["IS VALUED",[".t"]]}"#),
        (store, "Words", .fullText(english), #"[[".t"],[".x.y"]]"#),
        (chairs, "cWords", .fullText(FullTextOptions()), #"[[".t"]]"#),
        (store, "items", .array(path: "list"), #"[[".in"]]"#),
        (widgets, "inner", .array(path: "list[].in"), "[]"),
      ] as [(KeyStore, String, IndexSpecification.Kind, String)] {
        #expect(try store.createIndex(IndexSpecification(name, kind, json: json)))
      }
    }
  }

  private static let file: [Fact] = [
    ("auto_vacuum is incremental", "PRAGMA auto_vacuum", ["2"]),
    ("pages have SQLite's size", "PRAGMA page_size", ["4096"]),
    ("the log is ahead", "PRAGMA journal_mode", ["wal"]),
    ("the format is 3.2.2's", "PRAGMA user_version", ["503"]),
    ("texts are UTF-8", "PRAGMA encoding", ["UTF-8"]),
    ("SQLite finds no damage", "PRAGMA quick_check", ["ok"]),
    (
      "tables and indexes, in the order in which they are made",
      "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite%' ORDER BY rowid LIMIT 7",
      [
        "kvmeta", "kv_default", "kv_default_expiration", "kv_del_default",
        "kv_del_default_expiration", "kv_info", "kv_info_expiration",
      ]
    ),
    (
      "kvmeta has no row IDs",
      "SELECT sql LIKE '%) WITHOUT ROWID' FROM sqlite_master WHERE name = 'kvmeta'",
      ["1"]
    ),
    (
      "columns of records", "SELECT group_concat(name) FROM pragma_table_info('kv_del_default')",
      ["key,sequence,flags,version,body,expiration,extra"]
    ),
    (
      "capital letters have a backslash, and no other letter",
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'kv_.*' "
        + "AND name NOT GLOB '*:*' ORDER BY 1",
      ["kv_.\\Sc_%-0.\\Chairs", "kv_.widgets"]
    ),
    (
      "tables of dead records",
      "SELECT name FROM sqlite_master WHERE name GLOB 'kv_del_.*' AND type = 'table' ORDER BY 1",
      ["kv_del_.\\Sc_%-0.\\Chairs", "kv_del_.widgets"]
    ),
    (
      "the index by sequence",
      "SELECT sql FROM sqlite_master WHERE name = 'kv_default_seqs'",
      [#"CREATE UNIQUE INDEX "kv_default_seqs" ON "kv_default" (sequence)"#]
    ),
    ("views are temporary", "SELECT count(*) FROM sqlite_master WHERE type = 'view'", ["0"]),
    (
      "info has no sequences, flags and expirations",
      "SELECT DISTINCT quote(sequence) || flags || quote(expiration) FROM kv_info", ["NULL0NULL"]
    ),
    (
      "versioning is 1 in eight bytes", "SELECT hex(body) FROM kv_info WHERE key = 'versioning'",
      ["0000000000000001"]
    ),
    (
      "UUIDs", "SELECT key FROM kv_info WHERE length(body) = 16 ORDER BY key",
      ["privateUUID", "publicUUID"]
    ),
    (
      "shared keys are an array of texts, without those of what was taken back",
      "SELECT hex(body) FROM kv_info WHERE key = 'SharedKeys'", [sharedKeys]
    ),
    (
      "counters", "SELECT name || ' ' || lastSeq || ' ' || purgeCnt FROM kvmeta ORDER BY name",
      // Deletions of b and dead, and a purge; b came back.
      [".Sc_%-0.Chairs 1 0", ".widgets 1 0", "default 10 3", "del_default 0 1"]
    ),
  ]

  /// a b x digest length list in t, as an array of texts; longer ones than one byte are before it.
  private static let sharedKeys: String = {
    "46646967657374" + "00" + "466C656E677468" + "00" + "446C697374" + "00" + "42696E00"
      + "6008" + "4161" + "4162" + "4178" + "8011" + "800E" + "800B" + "8009" + "4174" + "8009"
  }()

  private static let documents: [Fact] = [
    (
      "live records in the order of changes",
      "SELECT key || ' ' || sequence FROM kv_default ORDER BY sequence",
      ["a 1", "b 4", "blob 8", "c 10"]
    ),
    (
      "dead ones", "SELECT key || ' ' || sequence || ' ' || flags FROM kv_del_default",
      ["dead 6 1"]
    ),
    ("a body by hand", "SELECT hex(body) FROM kv_default WHERE key = 'a'", [one]),
    ("an ID by hand", "SELECT hex(version) FROM kv_default WHERE key = 'a'", [digests[0]]),
    (
      "a tree of one revision, without a pair 0/0",
      "SELECT hex(extra) FROM kv_default WHERE key = 'a'",
      ["0000001EFFFF0215" + digests[0] + "00" + "00000000"]
    ),
    (
      "a flag raises the subsequence and not the sequence",
      "SELECT flags || ' ' || sequence FROM kv_default WHERE key = 'a'", ["65544 1"]
    ),
    (
      "after an undeletion: the third generation, by hand",
      "SELECT hex(version) FROM kv_default WHERE key = 'b'", [digests[3]]
    ),
    (
      "its ancestors: the first one and the tombstone, live before deleted, without bodies",
      "SELECT hex(substr(extra, 9, 21)) || ' ' || hex(substr(extra, 39, 21)) || ' '"
        + " || hex(substr(extra, 69, 21)) || ' ' || length(extra) FROM kv_default WHERE key = 'b'",
      ["\(digests[3]) \(digests[1]) \(digests[2]) 94"]
    ),
    (
      "a tombstone's body is an empty dict, and its expiration came along",
      "SELECT hex(body) || ' ' || expiration FROM kv_del_default", ["7000 1234567"]
    ),
    (
      "a purged document left nothing",
      "SELECT count(*) FROM (SELECT key FROM kv_default UNION ALL SELECT key FROM kv_del_default) "
        + "WHERE key = 'gone'",
      ["0"]
    ),
    ("a document with a blob", "SELECT flags FROM kv_default WHERE key = 'blob'", ["4"]),
    (
      "its revision is flagged, too",
      "SELECT hex(substr(extra, 7, 1)) FROM kv_default WHERE key = 'blob'",
      ["0A"]
    ),
    ("a conflict", "SELECT flags FROM kv_default WHERE key = 'c'", ["2"]),
    (
      "of two leaves the one without conflict is first, and not the higher ID",
      "SELECT hex(version) FROM kv_default WHERE key = 'c'", ["02BB"]
    ),
    (
      "no sequence is there twice",
      "SELECT count(*) = count(DISTINCT sequence) FROM "
        + "(SELECT sequence FROM kv_default UNION ALL SELECT sequence FROM kv_del_default)",
      ["1"]
    ),
    (
      "a collection has sequences of its own", "SELECT key || sequence FROM \"kv_.widgets\"", ["w1"]
    ),
  ]

  private static let indexes: [Fact] = [
    (
      "the list of indexes", "SELECT sql FROM sqlite_master WHERE name = 'indexes'",
      [
        "CREATE TABLE indexes (name TEXT PRIMARY KEY, type INTEGER NOT NULL, "
          + "keyStore TEXT NOT NULL, expression TEXT, whereClause TEXT, indexTableName TEXT, "
          + "lastSeq TEXT)"
      ]
    ),
    (
      "its rows",
      "SELECT name || ' ' || type || ' ' || keyStore || ' ' || coalesce(indexTableName, '-') || "
        + "quote(lastSeq) FROM indexes ORDER BY name",
      [
        "Words 1 default kv_default::\\WordsNULL", "byA 0 default -NULL",
        "cWords 1 .Sc_%-0.Chairs kv_.\\Sc_%-0.\\Chairs::c\\WordsNULL",
        "inner 2 .widgets kv_.widgets:unnest:list[].inNULL",
        "items 2 default kv_default:unnest:listNULL", "odd name 0 default -NULL",
        "some 0 .widgets -NULL",
      ]
    ),
    (
      "expressions have their language in front",
      "SELECT expression FROM indexes WHERE name IN ('byA', 'items') ORDER BY name",
      [#"=j[[".a"],["._id"]]"#, #"=j[[".in"]]"#]
    ),
    (
      "a name that is one is not quoted",
      "SELECT sql FROM sqlite_master WHERE name = 'byA'",
      ["CREATE INDEX byA ON kv_default (fl_value(body, 'a'), key)"]
    ),
    (
      "another one is; live documents alone, in the default collection",
      "SELECT sql FROM sqlite_master WHERE name = 'odd name'",
      [
        #"CREATE INDEX "odd name" ON kv_default (fl_value(body, 'b[0]')) "#
          + "WHERE (fl_value(body, 'a') > 0) AND (flags & 1 = 0)"
      ]
    ),
    (
      "columns and tokenizer of full text, without a country",
      "SELECT sql FROM sqlite_master WHERE name = 'kv_default::\\Words'",
      [
        #"CREATE VIRTUAL TABLE "kv_default::\Words" USING fts4("t", "x.y", "#
          + #"tokenize=unicodesn "stopwords=en" "remove_diacritics=0")"#
      ]
    ),
    (
      "without a language",
      "SELECT sql FROM sqlite_master WHERE name LIKE '%::c%Words' AND type = 'table'",
      [
        #"CREATE VIRTUAL TABLE "kv_.\Sc_%-0.\Chairs::c\Words" USING fts4("t", "#
          + #"tokenize=unicodesn "remove_diacritics=0")"#
      ]
    ),
    (
      "triggers of full text",
      "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name GLOB 'kv_default::*' "
        + "ORDER BY name",
      ["del", "ins", "postupdate", "preupdate"].map { "kv_default::\\Words::\($0)" }
    ),
    (
      "tables of arrays have a digest for a name",
      "SELECT name FROM sqlite_master WHERE type = 'table' AND length(name) = 40 "
        + "AND name = 'db5c3c94390666a19bc1c286d2cf73e78ce87383'",
      ["db5c3c94390666a19bc1c286d2cf73e78ce87383"]
    ),
    (
      "with row IDs, for the next level",
      "SELECT sql FROM sqlite_master WHERE name = 'db5c3c94390666a19bc1c286d2cf73e78ce87383'",
      [
        "CREATE TABLE db5c3c94390666a19bc1c286d2cf73e78ce87383 "
          + "(docid INTEGER NOT NULL REFERENCES kv_default(rowid),  i INTEGER NOT NULL, "
          + "body BLOB NOT NULL,  CONSTRAINT pk PRIMARY KEY (docid, i))"
      ]
    ),
    (
      "an inner array's rows name the outer one's",
      "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND length(name) = 40", ["3"]
    ),
    (
      "the index on it", "SELECT sql FROM sqlite_master WHERE name = 'items'",
      [
        "CREATE INDEX items ON db5c3c94390666a19bc1c286d2cf73e78ce87383 "
          + "(fl_unnested_value(body, 'in'))"
      ]
    ),
    (
      "inner levels have two triggers, outer ones four",
      "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name GLOB '*::*' "
        + "AND name NOT GLOB 'kv*' GROUP BY substr(name, 1, 40) ORDER BY 1",
      ["2", "4", "4"]
    ),
  ]

  @Test("holds after known changes")
  func facts() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.bundle).sorted() == [
        "db.sqlite3", "db.sqlite3-shm", "db.sqlite3-wal",
      ])
    #expect(try PlainSQL(folder.bundle).counters() == [])
    try Self.fill(file)
    try Self.index(file)
    let blobs = try FileManager.default.contentsOfDirectory(atPath: folder.bundle + "/Attachments")
    #expect(blobs == ["cDeAcZjCKn0rCAc3HXY3eahP388=.blob"])
    let plain = try PlainSQL(folder.bundle)
    for fact in Self.file + Self.documents + Self.indexes {
      let found = try plain.texts(fact.sql)
      #expect(found == fact.is, "\(fact.what)")
    }
    #expect(try file.verify().problems == [])
    try file.close()
  }
}
