// FunctionTests.swift: SQL functions over bodies, in SQL.

import Fleece
import Foundation
import Testing

@testable import DocumentStore

@Suite("SQL functions")
struct FunctionTests {
  /// A document's body, evaluated expressions, and what SQLite says of each value.
  private func evaluate(_ json: String, _ expressions: [String]) throws -> [String] {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let found = try file.write { transaction in
      let store = try transaction.collection()
      try store.save("d", body: try transaction.encode(json: json))
      return try expressions.map { expression in
        let values = try file.writer.texts(
          "SELECT quote(\(expression)) FROM kv_default WHERE key = 'd'")
        return try #require(values.first)
      }
    }
    try file.close()
    return found
  }

  @Test("fl_value finds values of each kind, and makes them values of SQL")
  func values() throws {
    let json =
      #"{"n":null,"t":true,"f":false,"i":-7,"u":18446744073709551615,"d":1.5,"s":"é'","#
      + #""a":[1,[2,{"k":"x"}]],"o":{"a long key of more than 16":3},"e":[]}"#
    let cases: [(String, String)] = [
      ("n", "X''"), ("t", "1"), ("f", "0"), ("i", "-7"), ("u", "-1"), ("d", "1.5"),
      ("s", "'é'''"), ("a[0]", "1"), ("a[-1][1].k", "'x'"), ("o.a long key of more than 16", "3"),
      ("e", "X'6000'"), ("x", "NULL"), ("a.b", "NULL"), ("s.t", "NULL"), ("a[9]", "NULL"),
      // Keys of a value of its own are texts, whatever the document has.
      ("a[1][1]", "X'7001416B41788003'"),
    ]
    let found = try evaluate(json, cases.map { "fl_value(body, '\($0.0)')" })
    for (one, found) in zip(cases, found) { #expect(found == one.1, "\(one.0)") }
    let whole = try evaluate(json, ["fl_value(body, NULL) = fl_value(body, '')"])
    #expect(whole == ["1"])
  }

  @Test("subtypes tell null, booleans and missing apart within a statement")
  func subtypes() throws {
    let json = #"{"n":null,"t":true,"i":1,"s":"x","d":2.5,"a":[null,1]}"#
    let all = ["n", "t", "i", "s", "d", "a", "missing"]
    let pairs = all.map { "'\($0)', fl_value(body, '\($0)')" }.joined(separator: ", ")
    let dict = "dict_of(\(pairs), 'null', fl_null(), 'false', fl_bool(0), 'five', fl_bool(5))"
    let array = "array_of(fl_value(body, 'n'), fl_value(body, 'missing'), fl_value(body, 't'), 3)"
    let found = try evaluate(json, [dict, array])
    let texts = try found.map { text in
      let bytes = try #require([UInt8](hex: String(text.dropFirst(2).dropLast())))
      return try FleeceDocument(bytes).withRoot { (root) throws(FleeceError) in try root.json() }
    }
    #expect(
      texts[0] == #"{"a":[null,1],"d":2.5,"false":false,"five":true,"i":1,"n":null,"null":null,"#
        + #""s":"x","t":true}"#)
    #expect(texts[1] == "[null,true,3]")
  }

  @Test("fl_exists, fl_count, nested and unnested values")
  func collections() throws {
    let json = #"{"a":[1,null,"x",null],"o":{"p":1,"q":null},"n":null,"s":"t"}"#
    let cases: [(String, String)] = [
      ("fl_exists(body, 'n')", "1"), ("fl_exists(body, 'x')", "0"),
      ("fl_count(body, 'a')", "2"), ("fl_count(body, 'o')", "2"), ("fl_count(body, 's')", "NULL"),
      ("fl_count(body, 'x')", "NULL"),
      ("fl_nested_value(fl_value(body, 'o'), 'p')", "1"),
      ("fl_nested_value(fl_value(body, 'o'), 'r')", "NULL"),
      ("fl_nested_value('text', 'p')", "NULL"), ("fl_nested_value(fl_null(), 'p')", "NULL"),
      ("fl_unnested_value(3)", "3"), ("fl_unnested_value('x', 'p')", "NULL"),
      ("fl_unnested_value(x'')", "NULL"),
      ("fl_unnested_value(fl_value(body, 'o'), 'p')", "1"),
      ("fl_unnested_value(fl_value(body, 'o')) = fl_value(body, 'o')", "1"),
      ("fl_value(NULL, 'a')", "NULL"), ("fl_count(NULL, '')", "0"),
    ]
    let found = try evaluate(json, cases.map(\.0))
    for (one, found) in zip(cases, found) { #expect(found == one.1, "\(one.0)") }
  }

  @Test("fl_fts_value has the text of everything in a value")
  func fullText() throws {
    let json =
      #"{"s":"a b","n":null,"t":true,"i":12,"d":1.0,"a":["x",false],"o":{"b":1,"a":"two"},"#
      + #""deep":[["p",["q"]],["r"],"s"],"e":[]}"#
    let cases = [
      ("s", "'a b'"), ("n", "''"), ("t", "'T'"), ("i", "'12'"), ("d", "'1.0'"), ("a", "' x F'"),
      ("o", "' two 1'"), ("x", "NULL"), ("e", "''"),
      // Items of a collection first, then its collections, the last one first.
      ("deep", "'   s r p  q'"),
    ]
    let found = try evaluate(json, cases.map { "fl_fts_value(body, '\($0.0)')" })
    for (one, found) in zip(cases, found) { #expect(found == one.1, "\(one.0)") }
  }

  @Test("fl_each has a row for each item, value of a dict, or the value itself")
  func each() throws {
    let json = #"{"a":[5,null,{"k":"v"}],"o":{"b":1,"a":true},"s":"x","n":null,"e":[]}"#
    let row =
      "coalesce(e.key, '-') || ' ' || e.rowid || ' ' || e.type || ' ' || quote(e.value)"
    let dict = "2 6 X'7001416B41768003'"
    let cases: [(String, String)] = [
      ("kv_default.body, 'a'", "- 0 2 5;- 1 0 X'';- \(dict)"),
      ("kv_default.body, 'o'", "a 0 1 1;b 1 2 1"), ("kv_default.body, 's'", "- 0 3 'x'"),
      ("kv_default.body, 'n'", "- 0 0 X''"), ("kv_default.body, 'e'", ""),
      ("kv_default.body, 'x'", ""), ("NULL, 'a'", ""), ("'text'", "- 0 3 'text'"),
      ("fl_value(kv_default.body, 'a')", "- 0 2 5;- 1 0 X'';- \(dict)"),
      ("fl_value(kv_default.body, 'a'), '[2]'", "k 0 3 'v'"),
    ]
    let found = try evaluate(
      json,
      cases.map { "(SELECT group_concat(\(row), ';') FROM fl_each(\($0.0)) AS e)" }
        + ["(SELECT count(*) FROM fl_each)"])
    for (one, found) in zip(cases, found) {
      #expect(found == (one.1.isEmpty ? "NULL" : literal(one.1)), "\(one.0)")
    }
    #expect(found.last == "0")
    let nested = try evaluate(
      json,
      [
        "(SELECT fl_nested_value(e.body, 'k') FROM fl_each(kv_default.body, 'a') AS e "
          + "WHERE e.rowid = 2)"
      ])
    #expect(nested == ["'v'"])
  }

  @Test("read the current revision in trees of 2.x")
  func oldTrees() throws {
    let folder = try TemporaryFolder()
    var options = DataFile.Options()
    options.isReadOnly = true
    let file = try DataFile(path: try Golden.unpack("real-2.7", into: folder), options: options)
    let notes = try Golden.notes("real-2.7", in: folder)
    try file.read { snapshot in
      let connection = snapshot.connection
      var count = 0
      for row in notes where row.hasTreeInBody {
        let current = (row.fields["tree"] as? [[String: Any]])?.first
        let body = try #require((current?["body"] ?? row.body) as? [String: Any])
        guard let key = body.keys.sorted().first else { continue }
        let escaped = key.replacing("\\", with: "\\\\").replacing(".", with: "\\.")
        let sql =
          "SELECT fl_exists(body, \(literal(escaped))) FROM \(identifier(row.table)) "
          + "WHERE key = \(literal(row.id))"
        let isThere = try connection.number(sql)
        #expect(isThere == 1, "\(row.id)")
        count += 1
      }
      #expect(count > 0)
    }
    try file.close()
  }

  @Test("report damage as errors, and calls with wrong arguments")
  func errors() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.writer.run { () throws in
      for sql in [
        "fl_value(x'ffff', 'a')", "fl_value(x'8001', '')", "fl_value(x'7000', '[')",
        "fl_nested_value(x'70', 'a')", "dict_of('a')", "dict_of(1, 2)", "rank(x'01')",
        "rank(x'ffffffffffffffff')", "prediction('none', dict_of())",
        "(SELECT count(*) FROM fl_each(x'7f', ''))",
      ] {
        #expect(code { _ = try file.writer.number("SELECT \(sql)") } == .sqlite, "\(sql)")
      }
      // Bytes that begin as a tree of 2.x and are none have no body.
      let count = try file.writer.number("SELECT fl_count(x'0000000900008000ff', '')")
      #expect(count == 0)
    }
    try file.close()
  }

  @Test("fl_blob reads blobs, fl_version revisions")
  func blobs() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { transaction in
      let digest = try transaction.putBlob(Array("hello".utf8))
      let store = try transaction.collection()
      let json = #"{"b":{"@type":"blob","digest":"\#(digest)"},"no":{"digest":"sha1-x"}}"#
      let document = try store.save("d", body: try transaction.encode(json: json))
      let connection = transaction.connection
      let texts = try connection.texts(
        "SELECT quote(fl_blob(body, 'b')) || quote(fl_blob(body, 'no')) || fl_version(version) "
          + "FROM kv_default")
      let id = try #require(document.current).id
      #expect(texts == ["X'68656C6C6F'NULL\(id)"])
    }
    try file.close()
  }
}
