// IndexGoldenTests.swift: indexes made here beside those of real files: the same SQL objects,
// letter by letter, the same rows of `indexes`, and the same rows in the indexes' tables.

import Fleece
import Foundation
import GRDB
import Requirements
import TestFiles
import Testing

@testable import DocumentStore

@Suite("Indexes of real files", .requires(.stemmer))
struct IndexGoldenTests {
  /// The indexes of `basic`, as the notes of that file have them.
  static let basic: [IndexSpecification] = {
    var (plain, english, stop) = (FullTextOptions(), FullTextOptions(), FullTextOptions())
    plain.ignoresDiacritics = true
    english.language = "en_US"
    stop.ignoresDiacritics = true
    stop.stopWords = "river,stone"
    return [
      IndexSpecification("idxName", .value, json: #"[[".name"]]"#),
      IndexSpecification("idxTypeN", .value, json: #"[[".type"],[".n"]]"#),
      IndexSpecification(
        "idx zip", .value,
        json: #"{"WHAT":[[".address.zip"]],"WHERE":["=",[".type"],"person"]}"#),
      IndexSpecification("ftsBio", .fullText(plain), json: #"[[".bio"]]"#),
      IndexSpecification("ftsEn", .fullText(english), json: #"[[".bio"],[".name"]]"#),
      IndexSpecification("ftsStop", .fullText(stop), json: #"[[".bio"]]"#),
      IndexSpecification(
        "ftsWhere", .fullText(plain), json: #"{"WHAT":[[".tags"]],"WHERE":[">",[".n"],100]}"#),
      IndexSpecification("arrTags", .array(path: "tags"), json: "[]"),
      IndexSpecification("arrKind", .array(path: "contacts"), json: #"[[".kind"]]"#),
      IndexSpecification("arrPhones", .array(path: "contacts[].phones"), json: "[]"),
      IndexSpecification(
        "predLen", .predictive,
        json: #"[["PREDICTION()","textinfo",{"text":[".bio"]},".len"]]"#),
    ]
  }()

  /// The model that the real file was made with.
  static let textinfo: PredictiveModel = { input in
    guard let text = try input.dict?.value(for: "text")?.text else { return nil }
    var encoder = FleeceEncoder()
    try encoder.beginDict()
    try encoder.key("len")
    try encoder.integer(Int64(text.utf8.count))
    try encoder.key("first")
    try encoder.text(String(text.prefix(1)))
    try encoder.endDict()
    return try encoder.finish()
  }

  /// All objects of a file, `name: SQL`, but tables of records and the index by sequence.
  private func objects(_ plain: PlainSQL) throws -> [String] {
    try plain.texts(
      "SELECT name || ': ' || sql FROM sqlite_master WHERE sql IS NOT NULL "
        + "AND name NOT LIKE 'kv\\_%\\_seqs' ESCAPE '\\' AND name <> 'idxColl' "
        + "AND name NOT LIKE 'sqlite%' ORDER BY name")
  }

  private func rows(_ plain: PlainSQL, _ table: String, _ columns: String) throws -> [String] {
    let quoted = columns.split(separator: ",").map { "quote(\($0))" }.joined(separator: "||' '||")
    return try plain.texts("SELECT \(quoted) FROM \"\(table)\" ORDER BY 1")
  }

  private static let listed = "name,type,keyStore,expression,whereClause,indexTableName,lastSeq"

  @Test("are made with the same SQL, and hold the same, when they are made again here")
  func madeAgain() throws {
    let (folder, realFolder) = (try TemporaryFolder(), try TemporaryFolder())
    let real = try PlainSQL(try Golden.unpack("basic", into: realFolder))
    let path = try Golden.unpack("basic", into: folder)
    let file = try DataFile(path: path)
    file.setModel(Self.textinfo, named: "textinfo")
    try file.write { transaction in
      for index in try transaction.snapshot.indexes() {
        #expect(try transaction.deleteIndex(index.name))
      }
      let left = try transaction.connection.texts(
        "SELECT name FROM sqlite_master WHERE name LIKE 'kv%:%' OR length(name) >= 40 "
          + "OR type = 'trigger'")
      #expect(left == [])
      let store = try transaction.collection()
      for wanted in Self.basic { #expect(try store.createIndex(wanted)) }
      for wanted in Self.basic { #expect(try !store.createIndex(wanted)) }
    }
    #expect(try file.verify().problems == [])
    try file.close()
    let ours = try PlainSQL(path)
    #expect(try objects(ours) == (try objects(real)))
    try real.execute("DELETE FROM indexes WHERE name = 'idxColl'")
    #expect(try rows(ours, "indexes", Self.listed) == (try rows(real, "indexes", Self.listed)))
    let tables = try real.texts(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND (length(name) = 40 "
        + "OR name LIKE 'kv%:predict:%' OR name LIKE 'kv%::%\\_content' ESCAPE '\\')")
    #expect(tables.count == 8)
    for table in tables {
      let columns = try real.columns(table).joined(separator: ",")
      // Row IDs of inner arrays depend on the order of all changes.
      let isInner = try real.texts(
        "SELECT sql FROM sqlite_master WHERE name = '\(table)' AND sql LIKE '%REFERENCES \"%'")
      let wanted = table.count == 40 && !isInner.isEmpty ? "i,body" : columns
      let (mine, theirs) = (try rows(ours, table, wanted), try rows(real, table, wanted))
      #expect(mine.sorted() == theirs.sorted(), "\(table)")
    }
  }

  @Test("keep right when documents change here", arguments: ["basic", "collections"])
  func changed(name: String) throws {
    let folder = try TemporaryFolder()
    let path = try Golden.unpack(name, into: folder)
    let file = try DataFile(path: path)
    file.setModel(Self.textinfo, named: "textinfo")
    try file.write { transaction in
      // Its collation is not here.
      try transaction.deleteIndex("idxColl")
    }
    var numbers = SeededNumbers(seed: 34)
    for _ in 0..<6 {
      try file.write { transaction in
        for collection in try transaction.snapshot.collections() {
          try change(transaction, try transaction.collection(collection), &numbers)
        }
      }
    }
    let found = try file.verify()
    #expect(found.problems == [] && found.unchecked == [], "\(found.unchecked)")
    try file.close()
  }

  private func change(
    _ transaction: WriteTransaction, _ store: KeyStore, _ numbers: inout SeededNumbers
  ) throws {
    let ids = try store.records().map(\.key)
    for _ in 0..<20 {
      let number = numbers.below(1000)
      let json =
        #"{"name":"N\#(number)","type":"person","n":\#(number),"bio":"running to the river","#
        + #""tags":["t\#(number)",null,\#(number % 3 == 0)],"items":[\#(number),{"a":1}],"#
        + #""address":{"zip":"\#(number)"},"#
        + #""contacts":[{"kind":"work","phones":["+\#(number)","+2"]},7,null]}"#
      let id = numbers.below(3) == 0 ? "new-\(number)" : ids[numbers.below(ids.count)]
      let parent = try store.document(id)?.current?.id
      switch parent == nil ? 0 : numbers.below(5) {
      case 0, 1:
        let body = try transaction.encode(json: json)
        try store.save(id, body: body, parent: parent)
      case 2: _ = try? store.save(id, body: nil, parent: parent)
      case 3: try store.purge(id)
      default:
        let record = try #require(try store.record(id))
        try store.setFlags(.synced, of: id, sequence: record.sequence)
      }
    }
  }

  @Test("of 3.1 are listed, kept right, dropped and made anew")
  func old() throws {
    let folder = try TemporaryFolder()
    let path = try Golden.unpack("real-3.1.9-indexes", into: folder)
    let file = try DataFile(path: path)
    file.setModel(Self.textinfo, named: "textinfo")
    var numbers = SeededNumbers(seed: 9)
    try file.write { transaction in
      let indexes = try transaction.snapshot.indexes()
      #expect(indexes.count == 8)
      let tags = try #require(indexes.first { $0.name == "arrTags" })
      #expect(tags.table == "kv_default:unnest:tags" && tags.expressions == #"[[".tags"]]"#)
      try change(transaction, try transaction.collection(), &numbers)
    }
    #expect(try file.verify().problems == [])
    try file.write { transaction in
      let store = try transaction.collection()
      let wasMade = try store.createIndex(
        IndexSpecification("arrTags", .array(path: "tags"), json: "[]"))
      #expect(wasMade)
      let tags = try #require(try store.indexes().first { $0.name == "arrTags" })
      #expect(tags.table == "6afb5d1c83901d88b1046b400b8a41b1b00b5d70")
      try change(transaction, store, &numbers)
      for index in try transaction.snapshot.indexes() { try transaction.deleteIndex(index.name) }
    }
    #expect(try file.verify().problems == [])
    try file.close()
    let plain = try PlainSQL(path)
    #expect(try plain.number("SELECT count(*) FROM sqlite_master WHERE type = 'trigger'") == 0)
    #expect(try plain.number("SELECT count(*) FROM sqlite_master WHERE name LIKE '%:%'") == 0)
  }
}
