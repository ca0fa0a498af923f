// IndexTests.swift: indexes are made, used, replaced and dropped; and checked.

import Fleece
import Foundation
import Requirements
import Testing

@testable import DocumentStore

@Suite("Indexes")
struct IndexTests {
  private func save(
    _ id: String, _ json: String, _ transaction: WriteTransaction, in store: KeyStore
  ) throws {
    let body = try transaction.encode(json: json)
    try store.save(id, body: body, parent: try store.document(id)?.current?.id)
  }

  private let value = IndexSpecification("byName", .value, json: #"[[".name"]]"#)
  private let words = IndexSpecification("words", .fullText(FullTextOptions()), json: #"[".text"]"#)

  @Test("of values are used by queries, and hold what changes leave")
  func values() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { transaction in
      let store = try transaction.collection()
      try save("a", #"{"name":"Ann"}"#, transaction, in: store)
      let wasMade = try store.createIndex(value)
      #expect(wasMade)
      try save("b", #"{"name":"Bob"}"#, transaction, in: store)
      try save("a", #"{"name":"Cid"}"#, transaction, in: store)
    }
    try file.read { snapshot in
      let connection = snapshot.connection
      let query = "SELECT key FROM kv_default WHERE fl_value(body, 'name') = 'Cid'"
      #expect(try connection.texts(query) == ["a"])
      let plan = try connection.statement("EXPLAIN QUERY PLAN \(query)")
      defer { plan.reset() }
      var lines: [String] = []
      while try plan.step() { lines.append(plan.text(3)) }
      #expect(lines.contains { $0.contains("USING INDEX byName") }, "\(lines)")
    }
    #expect(try file.verify().problems == [])
    try file.close()
  }

  @Test(
    "of words find words, their stems and prefixes, and rank documents", .requires(.stemmer))
  func fullText() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    var options = FullTextOptions()
    options.language = "en"
    let wanted = IndexSpecification("w", .fullText(options), json: #"[[".text"],[".more.x"]]"#)
    try file.write { transaction in
      let store = try transaction.collection(try CollectionName("Notes"))
      let wasMade = try store.createIndex(wanted)
      #expect(wasMade)
      try save("a", #"{"text":"the runner ran","more":{"x":["runs"]}}"#, transaction, in: store)
      try save("b", #"{"text":"running, and RUNS"}"#, transaction, in: store)
      try save("c", #"{"text":"nothing"}"#, transaction, in: store)
      try store.save("c", body: nil, parent: try store.document("c")?.current?.id)
    }
    try file.read { snapshot in
      let connection = snapshot.connection
      func keys(_ pattern: String) throws -> [String] {
        try connection.texts(
          #"SELECT key FROM "kv_.\Notes" AS d JOIN "kv_.\Notes::w" ON docid = d.rowid "#
            + #"WHERE "kv_.\Notes::w" MATCH \#(literal(pattern)) ORDER BY key"#)
      }
      #expect(try keys("run") == ["a", "b"])
      #expect(try keys("runn*") == ["a"])
      #expect(try keys("nothing") == [])
      #expect(try keys("run AND runner") == ["a"])
      let ranks = try connection.texts(
        #"SELECT round(rank(matchinfo("kv_.\Notes::w")), 3) FROM "kv_.\Notes::w" "#
          + #"WHERE "kv_.\Notes::w" MATCH 'run' ORDER BY docid"#)
      // Of "run" the first text has 0 of 2 words and the list 1 of 1; the second text 2 of 2.
      #expect(ranks == ["1.0", "1.0"])
    }
    #expect(try file.verify().problems == [])
    try file.close()
  }

  @Test("have one name in the file: one of another collection takes it over")
  func names() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let other = try CollectionName("other")
    try file.write { transaction in
      let store = try transaction.collection()
      let second = try transaction.collection(other)
      #expect(try store.createIndex(value))
      #expect(try !store.createIndex(value))
      #expect(try second.createIndex(value))
      #expect(try store.indexes().isEmpty)
      #expect(try second.indexes().map(\.name) == ["byName"])
      var changed = value
      changed.expressions = #"[[".other"]]"#
      #expect(try second.createIndex(changed))
      changed.kind = .fullText(FullTextOptions())
      #expect(try second.createIndex(changed))
      var stems = FullTextOptions()
      stems.language = "en"
      changed.kind = .fullText(stems)
      #expect(try second.createIndex(changed))
      #expect(try !second.createIndex(changed))
      changed.kind = .array(path: "list")
      #expect(try second.createIndex(changed))
      #expect(try second.indexes().map(\.kind) == [.array])
      for bad in ["", "a\"b", "BYNAME"] {
        var wanted = value
        wanted.name = bad
        #expect(code { try store.createIndex(wanted) } == .invalidParameter, "\(bad)")
      }
      #expect(try transaction.deleteIndex("byName"))
      #expect(try !transaction.deleteIndex("byName"))
    }
    #expect(try file.verify().problems == [])
    try file.close()
    let plain = try PlainSQL(folder.bundle)
    #expect(try plain.texts("SELECT name FROM indexes") == [])
    let made = "name LIKE '%:%' OR type = 'trigger' OR name = 'byName' OR length(name) = 40"
    #expect(try plain.number("SELECT count(*) FROM sqlite_master WHERE \(made)") == 0)
  }

  @Test("refuse expressions that they cannot have, and stay as they were")
  func refusals() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let text = IndexSpecification.Kind.fullText(FullTextOptions())
    var german = FullTextOptions()
    german.language = "d e"
    try file.write { transaction in
      let store = try transaction.collection()
      #expect(try store.createIndex(value))
      for (kind, json) in [
        (.value, "[]"), (.value, "[["), (.value, #"{"WHERE":true}"#), (.value, #"[["nosuch()"]]"#),
        (.value, #"[["$p"]]"#), (text, "[]"), (text, #"[["length()",[".a"]]]"#),
        (text, #"[[".a\"b"]]"#), (.fullText(german), #"[[".a"]]"#), (.array(path: ""), "[]"),
        (.array(path: "a[].[]"), "[]"), (.array(path: "[]."), "[]"),
        (.array(path: "a"), #"{"WHAT":[],"WHERE":[">",[".x"],1]}"#),
        (.predictive, "[]"), (.predictive, #"[["PREDICTION()","m"]]"#),
        (.predictive, #"[["other()","m",{}]]"#),
      ] as [(IndexSpecification.Kind, String)] {
        let wanted = IndexSpecification("byName", kind, json: json)
        #expect(code { try store.createIndex(wanted) } == .invalidParameter, "\(kind) \(json)")
      }
      // The model is not registered: the table is made and not filled.
      try save("d", #"{"name":"x"}"#, transaction, in: store)
      let prediction = IndexSpecification(
        "byName", .predictive, json: #"[["PREDICTION()","m",{"x":[".name"]}]]"#)
      #expect(code { try store.createIndex(prediction) } == .sqlite)
      #expect(try store.indexes().map(\.kind) == [.value])
      let raw = try transaction.keyStore(.checkpoints)
      #expect(code { try raw.createIndex(value) } == .invalidParameter)
    }
    #expect(try file.verify().problems == [])
    try file.read { snapshot in
      let names = try snapshot.connection.texts(
        "SELECT name FROM sqlite_master WHERE name LIKE '%predict%'")
      #expect(names == [])
    }
    try file.close()
  }

  @Test("of arrays share tables, and the last one takes them along, inner ones first")
  func arrays() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    func tables(_ connection: Connection) throws -> Int {
      try connection.texts("SELECT name FROM sqlite_master WHERE length(name) = 40").count
    }
    try file.write { transaction in
      let store = try transaction.collection()
      let connection = transaction.connection
      try save(
        "d", #"{"a":[{"b":[1,2],"k":"x"},{"b":"scalar"},5,null,{"B":[9]}]}"#, transaction,
        in: store)
      let outer = IndexSpecification("outer", .array(path: "a"), json: #"[[".k"]]"#)
      for wanted in [
        outer, IndexSpecification("again", .array(path: "a"), json: "[]"),
        IndexSpecification("inner", .array(path: "a[].b"), json: "[]"),
        IndexSpecification("capital", .array(path: "a[].B"), json: "[]"),
      ] { #expect(try store.createIndex(wanted)) }
      #expect(try tables(connection) == 3)
      let inner = try #require(try store.indexes().first { $0.name == "inner" }?.table)
      // A scalar where an array could be is one row; a scalar that has no properties none.
      let rows = try connection.texts(
        "SELECT docid || ' ' || i || ' ' || quote(body) FROM \(identifier(inner)) ORDER BY 1")
      #expect(rows == ["1 0 1", "1 1 2", "2 0 'scalar'"])
      let listed = try store.indexes().first { $0.name == "capital" }?.listedTable
      #expect(listed == #"kv_default:unnest:a[].\B"#)
      try save("d", #"{"a":[{"b":[3]}]}"#, transaction, in: store)
      let changed = try connection.texts("SELECT body FROM \(identifier(inner))")
      #expect(changed == ["3"])
      for (name, left) in [("outer", 3), ("again", 3), ("capital", 2), ("inner", 0)] {
        #expect(try transaction.deleteIndex(name))
        #expect(try tables(connection) == left, "\(name)")
      }
      #expect(
        try store.createIndex(IndexSpecification("deep", .array(path: "a[].b[].c"), json: "[]")))
      #expect(try tables(connection) == 3)
      #expect(try transaction.deleteIndex("deep"))
      #expect(try tables(connection) == 0)
      #expect(try store.createIndex(outer))
    }
    #expect(try file.verify().problems == [])
    try file.close()
  }

  @Test("of predictions keep what the model makes, one row for each live document")
  func predictions() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    file.setModel(IndexGoldenTests.textinfo, named: "textinfo")
    let json = #"[["PREDICTION()","textinfo",{"text":[".bio"]}]]"#
    try file.write { transaction in
      let store = try transaction.collection()
      try save("a", #"{"bio":"hello"}"#, transaction, in: store)
      try save("none", #"{"bio":5}"#, transaction, in: store)
      #expect(try store.createIndex(IndexSpecification("p", .predictive, json: json)))
      #expect(try !store.createIndex(IndexSpecification("p", .predictive, json: json)))
      try save("b", #"{"bio":"x"}"#, transaction, in: store)
      try save("a", #"{"bio":"longer"}"#, transaction, in: store)
      let table = try #require(try store.indexes().first?.table)
      let lengths = try transaction.connection.texts(
        "SELECT fl_unnested_value(body, 'len') FROM \(identifier(table)) ORDER BY 1")
      #expect(lengths == ["1", "6"])
    }
    #expect(try file.verify().unchecked == [])
    file.setModel(nil, named: "textinfo")
    #expect(
      code {
        try file.write { transaction in
          try save("c", #"{"bio":"x"}"#, transaction, in: try transaction.collection())
        }
      } == .sqlite)
    let found = try file.verify()
    #expect(found.problems == [] && found.unchecked.count == 1)
    try file.close()
  }

  @Test("go with their collection, and do not come back with it")
  func collections() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let name = try CollectionName("c")
    try file.write { transaction in
      let store = try transaction.collection(name)
      #expect(try store.createIndex(value))
      #expect(try store.createIndex(words))
      #expect(try store.createIndex(IndexSpecification("arr", .array(path: "a[].b"), json: "[]")))
    }
    let wasThere = try file.write { try $0.deleteCollection(name) }
    #expect(wasThere)
    let left = try file.read { try $0.connection.texts("SELECT name FROM sqlite_master") }
    #expect(!left.contains { $0.contains("::") || $0.contains(":unnest:") || $0.count == 40 })
    #expect(try file.verify().problems == [])
    try file.close()
    // The real library leaves them: they go when the collection is made again.
    let real = try TemporaryFolder()
    let collections = try DataFile(path: try Golden.unpack("collections", into: real))
    try collections.write { transaction in
      let gone = try CollectionName("gone")
      let before = try transaction.snapshot.indexes().filter { $0.keyStore.collection == gone }
      #expect(!before.isEmpty)
      let store = try transaction.collection(gone)
      #expect(try store.indexes().isEmpty)
    }
    #expect(try collections.verify().problems == [])
    try collections.close()
  }

  @Test("are taken back with their transaction")
  func rollback() throws {
    struct Stop: Error {}
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try? file.write { transaction in
      let store = try transaction.collection()
      #expect(try store.createIndex(words))
      throw Stop()
    }
    let left = try file.read { try $0.indexes().count }
    #expect(left == 0)
    try file.write { transaction in
      let store = try transaction.collection()
      #expect(try store.createIndex(words))
      try? transaction.nested { inner in
        try inner.deleteIndex("words")
        throw Stop()
      }
      #expect(try store.indexes().count == 1)
      try save("d", #"{"text":"x"}"#, transaction, in: store)
    }
    #expect(try file.verify().problems == [])
    try file.close()
  }

  @Test(
    "are found damaged",
    arguments: [
      ("DELETE FROM \"TABLE\" WHERE docid = 1", "lacks an entry of row 1"),
      ("INSERT INTO \"TABLE\" VALUES (77, 0, 5)", "has an entry of row 77"),
      ("UPDATE \"TABLE\" SET body = 8 WHERE docid = 2", "has an entry of row 2"),
      ("DROP TRIGGER \"TABLE::preupdate\"", "lacks trigger"),
      ("DROP TABLE \"TABLE\"", "lacks table"),
      ("DELETE FROM indexes WHERE name = 'arr'", "belongs to no index"),
      ("UPDATE \"kv_default::words_content\" SET c0text = 'other' WHERE docid = 1", "row 1"),
      ("DELETE FROM \"kv_default::words_segdir\"", "words of"),
      ("DROP TRIGGER \"kv_default::words::ins\"", "lacks trigger"),
      ("DROP INDEX byName", "has no index in SQL"),
      ("UPDATE indexes SET expression = '=j[[' WHERE name = 'words'", "syntax"),
      ("UPDATE indexes SET type = 9 WHERE name = 'words'", "kind 9"),
    ])
  func damage(sql: String, message: String) throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let table = try file.write { transaction in
      let store = try transaction.collection()
      for id in ["a", "b"] {
        try save(id, #"{"name":"\#(id)","text":"some words","list":[1,2]}"#, transaction, in: store)
      }
      #expect(try store.createIndex(value))
      #expect(try store.createIndex(words))
      #expect(try store.createIndex(IndexSpecification("arr", .array(path: "list"), json: "[]")))
      return try #require(try store.indexes().first { $0.name == "arr" }?.table)
    }
    #expect(try file.verify().problems == [])
    try file.writer.run { () throws in
      // With the functions, so that SQLite lets an indexed table be changed.
      try file.writer.execute("DROP INDEX IF EXISTS arr")
      try file.writer.execute(
        "CREATE INDEX arr ON \"\(table)\" (fl_unnested_value(body)); "
          + sql.replacing("TABLE\"", with: "\(table)\"").replacing(
            "TABLE::", with: "\(table)::"))
    }
    let found = try file.verify()
    #expect(
      found.problems.contains {
        [.indexes, .indexContents].contains($0.rule) && $0.message.contains(message)
      }, "\(found.problems)")
    try file.close()
  }
}
