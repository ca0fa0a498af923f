// Support.swift: what the tests of queries share: the real library's queries, and descriptions of
// the databases they are about.

import DocumentQuery
import Foundation
import TestFiles

/// A query of the real library, with what it made of it.
struct GoldenQuery {
  let database: String
  let json: String
  let sql: String
  let titles: [String]
  let error: String

  static let all = (try? rows("queries.tsv") + rows("queries-values.tsv.gz")) ?? []

  private static func rows(_ name: String) throws -> [GoldenQuery] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")
    let url = folder.appending(path: name)
    let data = try PackedFile.contents(url)
    return try String(decoding: data, as: UTF8.self).split(separator: "\n").dropFirst().map {
      line in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      let titles = try JSONDecoder().decode([String].self, from: Data(fields[4].utf8))
      return GoldenQuery(
        database: fields[0], json: fields[1], sql: fields[3], titles: titles,
        error: fields.count > 6 ? fields[6] : "")
    }
  }
}

extension QuerySchema {
  /// A database with the default collection alone.
  static let plain = QuerySchema(
    databaseName: "db", collections: [collection("_default")])

  /// The databases of the golden queries.
  static let golden: [String: QuerySchema] = [
    "basic": QuerySchema(
      databaseName: "basic", collections: [collection("_default", indexes: basicIndexes)]),
    "values": QuerySchema(databaseName: "values", collections: [collection("_default")]),
    "collections": QuerySchema(
      databaseName: "collections",
      collections: [
        collection("_default"), collection("Widgets"), collection("my_default"),
        collection(
          "widgets",
          indexes: [
            Index(
              name: "byName_widgets", kind: .fullText,
              table: "kv_.widgets::by\\Name_widgets"),
            Index(
              name: "un_widgets", kind: .array(path: "items"),
              table: "91ba620fd8e3f6cfe71f11ed102486354440cd0d"),
          ]), collection("chairs", scope: "inventory"),
      ]),
  ]

  private static let basicIndexes = [
    Index(name: "ftsBio", kind: .fullText, table: "kv_default::fts\\Bio"),
    Index(name: "ftsEn", kind: .fullText, table: "kv_default::fts\\En"),
    Index(name: "ftsStop", kind: .fullText, table: "kv_default::fts\\Stop"),
    Index(name: "ftsWhere", kind: .fullText, table: "kv_default::fts\\Where"),
    Index(
      name: "arrTags", kind: .array(path: "tags"),
      table: "6afb5d1c83901d88b1046b400b8a41b1b00b5d70"),
    Index(
      name: "arrKind", kind: .array(path: "contacts"),
      table: "42e4f661ecc2f3f6375b066daabb494f0461d4bd"),
    Index(
      name: "arrPhones", kind: .array(path: "contacts[].phones"),
      table: "eaa93c08a77c5f980585101e53ead49e2c78adb1"),
    Index(
      name: "predLen",
      kind: .predictive(
        expressions: #"[["PREDICTION()","textinfo",{"text":[".bio"]},".len"]]"#),
      table: #"kv_default:predict:\S9\L\I\Op\I\Ad\P\S\Np7\N\S\Kya4o\Q\X4\Ax\I="#),
  ]

  static func collection(
    _ name: String, scope: String = defaultName, indexes: [Index] = []
  ) -> Collection {
    let isDefault = name == defaultName && scope == defaultName
    let store = isDefault ? "default" : (scope == defaultName ? ".\(name)" : ".\(scope).\(name)")
    let mangled = store.map { $0.isUppercase ? "\\\($0)" : String($0) }.joined()
    return Collection(
      name: name, scope: scope, table: "kv_\(mangled)", deadTable: "kv_del_\(mangled)",
      view: "all_\(mangled)", indexes: indexes)
  }
}

/// The SQL of a query over the default collection.
func sql(_ json: String, _ schema: QuerySchema = .plain) throws -> String {
  try QueryTranslation(json: json, schema: schema).sql
}

/// What follows WHERE for a condition.
func condition(_ json: String) throws -> String {
  let sql = try sql(#"{"WHAT":[["._id"]],"WHERE":\#(json)}"#)
  let head = "SELECT fl_result(_doc.key) FROM kv_default AS _doc WHERE ("
  let tail = ") AND (_doc.flags & 1 = 0)"
  guard sql.hasPrefix(head), sql.hasSuffix(tail) else { return sql }
  return String(sql.dropFirst(head.count).dropLast(tail.count))
    .replacingOccurrences(of: "_doc.", with: "")
}

/// The error that a query ends in.
func refusal(_ json: String, _ schema: QuerySchema = .plain) -> DocumentQueryError? {
  do { _ = try QueryTranslation(json: json, schema: schema) } catch { return error }
  return nil
}
