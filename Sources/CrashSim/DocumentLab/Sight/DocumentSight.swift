// DocumentSight.swift: what lies in a bundle, read by plain SQL and by a second reader of bodies
// and trees: nothing here uses the store.

import FleeceReference
import Foundation
import GRDB
import LabCore
import Workload

/// A bundle's contents.
package struct DocumentSight {
  /// A row of a table of records.
  struct Row {
    let isDead: Bool
    let number: Int64
    let key: String
    let sequence: Int64?
    let flags: Int64
    let version: [UInt8]
    let body: [UInt8]?
    let extra: [UInt8]?
    let expiration: Int64?
  }

  /// The two tables of a collection.
  struct Store {
    /// Its plain name: `default`, `.NAME`.
    let name: String
    let hasLive: Bool
    let hasDead: Bool
    var rows: [Row] = []
    var last: Int64?
    var purges: Int64 = 0
    var deadPurges: Int64 = 0

    /// The name in scenarios.
    var collection: String {
      name == "default" ? DocumentModel.defaultCollection : String(name.dropFirst())
    }
    var live: [Row] { rows.filter { !$0.isDead } }
  }

  /// A row of the list of indexes.
  struct ListedIndex {
    let name: String
    let type: Int64
    let store: String
    let expression: String
    let table: String?

    var kind: DeclaredIndex? {
      [0: .value, 1: .fullText, 2: .array, 3: .predictive][type]
    }
  }

  /// An object of SQLite's schema.
  struct SchemaObject {
    let type: String
    let name: String
    let table: String
  }

  let bundle: String
  let format: Int
  let stores: [Store]
  let columns: [String: Set<String>]
  let counters: [String: (last: Int64, purges: Int64)]
  let info: [String: [UInt8]]
  let keys: [String]
  let indexes: [ListedIndex]
  let objects: [SchemaObject]
  /// Rows of full-text tables: their numbers, by index.
  let wordRows: [String: [Int64]]
  /// Rows of tables of arrays and results: number of the record, place, value, by table.
  let itemRows: [String: [(number: Int64, place: Int64, value: [UInt8])]]

  /// Reads a bundle.
  /// - Parameter bundle: Its path.
  /// - Throws: SQLite's errors.
  package init(bundle: String) throws {
    self.bundle = bundle
    var configuration = Configuration()
    configuration.readonly = true
    configuration.foreignKeysEnabled = false
    let queue = try DatabaseQueue(path: "\(bundle)/db.sqlite3", configuration: configuration)
    let reading = try queue.read { try Reading($0) }
    try queue.close()
    format = reading.format
    stores = reading.stores
    columns = reading.columns
    counters = reading.counters
    info = reading.info
    keys = reading.keys
    indexes = reading.indexes
    objects = reading.objects
    wordRows = reading.wordRows
    itemRows = reading.itemRows
  }

  /// The table of an index: that of arrays has a hash of its plain name since 3.2.1.
  func table(of index: ListedIndex) -> String? {
    guard let plain = index.table, columns[plain] == nil else { return index.table }
    let hashed = PlainDigest.sha1Hex(Array(plain.utf8))
    return columns[hashed] == nil ? plain : hashed
  }

  /// The values of blob files, by name.
  func blobs() -> [String: [UInt8]] {
    let folder = "\(bundle)/Attachments"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    var blobs: [String: [UInt8]] = [:]
    for name in names where name.hasSuffix(".blob") {
      blobs[name] = Array(FileManager.default.contents(atPath: "\(folder)/\(name)") ?? Data())
    }
    return blobs
  }

  /// A body as canonical JSON; nil when it does not decode.
  func text(_ body: [UInt8]) -> String? {
    guard case .success(let value) = NaiveReader.read(body) else { return nil }
    return PlainText.canonical(value, keys)
  }

  /// A body as a value of scenarios; nil when it does not decode or has other kinds.
  func value(_ body: [UInt8]) -> DocumentValue? {
    guard case .success(let value) = NaiveReader.read(body) else { return nil }
    return PlainText.value(value, keys)
  }

  /// What it is compared with the model by.
  package var lines: [String] {
    var lines = ["keys \(keys.joined(separator: ","))"]
    for store in stores {
      lines.append("collection \(store.collection)")
      for row in store.rows {
        let tree = row.extra.flatMap { try? PlainTree(reading: $0) }
        lines.append(
          DocumentModel.line(
            store.collection, row.key, sequence: row.sequence ?? 0, flags: row.flags,
            generation: tree?.entries.first?.generation ?? 0, expiration: row.expiration,
            body: row.body.map { text($0) ?? "that does not decode" } ?? "missing"))
      }
    }
    for (name, counter) in counters where !name.hasPrefix("del_") {
      guard name == "default" || name.hasPrefix(".") else { continue }
      let dead = counters["del_\(name)"]?.purges ?? 0
      guard counter.last != 0 || counter.purges != 0 || dead != 0 else { continue }
      let collection =
        name == "default" ? DocumentModel.defaultCollection : String(name.dropFirst())
      lines.append(
        DocumentModel.counters(
          collection, last: counter.last, purges: counter.purges, dead: dead))
    }
    for index in indexes {
      let collection =
        index.store == "default"
        ? DocumentModel.defaultCollection : String(index.store.dropFirst())
      let kind = index.kind?.rawValue ?? "type \(index.type)"
      lines.append("index \(index.name) of \(collection), \(kind)")
    }
    return lines.sorted()
  }
}

/// Reads everything within one transaction.
private struct Reading {
  var format = 0
  var stores: [DocumentSight.Store] = []
  var columns: [String: Set<String>] = [:]
  var counters: [String: (last: Int64, purges: Int64)] = [:]
  var info: [String: [UInt8]] = [:]
  var keys: [String] = []
  var indexes: [DocumentSight.ListedIndex] = []
  var objects: [DocumentSight.SchemaObject] = []
  var wordRows: [String: [Int64]] = [:]
  var itemRows: [String: [(number: Int64, place: Int64, value: [UInt8])]] = [:]
  private let database: Database

  init(_ database: Database) throws {
    self.database = database
    format = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    try readSchema()
    try readInfo()
    try readStores()
    try readIndexes()
  }

  private mutating func readSchema() throws {
    for row in try GRDB.Row.fetchAll(
      database, sql: "SELECT type, name, tbl_name FROM sqlite_master")
    {
      let object = DocumentSight.SchemaObject(
        type: row.text(0), name: row.text(1), table: row.text(2))
      objects.append(object)
      guard object.type == "table", !object.name.contains("::") else { continue }
      let names = try GRDB.Row.fetchAll(
        database, sql: "PRAGMA table_info(\(Self.quoted(object.name)))")
      columns[object.name] = Set(names.map { $0.text(1) })
    }
  }

  static func quoted(_ name: String) -> String {
    "\"" + name.replacing("\"", with: "\"\"") + "\""
  }

  private mutating func readInfo() throws {
    if columns["kv_info"] != nil {
      for row in try GRDB.Row.fetchAll(database, sql: "SELECT key, body FROM kv_info") {
        info[row.text(0)] = row.bytes(1) ?? []
      }
    }
    if let bytes = info["SharedKeys"], case .success(.array(let items)) = NaiveReader.read(bytes) {
      keys = items.map { item in
        if case .text(let text) = item { String(decoding: text, as: UTF8.self) } else { "?" }
      }
    }
    guard let names = columns["kvmeta"] else { return }
    let purges = names.contains("purgeCnt") ? "purgeCnt" : "0"
    for row in try GRDB.Row.fetchAll(
      database, sql: "SELECT name, lastSeq, \(purges) FROM kvmeta")
    {
      counters[row.text(0)] = (row.number(1) ?? 0, row.number(2) ?? 0)
    }
  }

  private mutating func readStores() throws {
    var names: Set<String> = []
    for table in columns.keys where table.hasPrefix("kv_") && !table.contains(":") {
      let isDead = table.hasPrefix("kv_del_")
      let name = table.dropFirst(isDead ? 7 : 3).replacing("\\", with: "")
      if name == "default" || name.hasPrefix(".") { names.insert(String(name)) }
    }
    for name in names.sorted() {
      let mangled = Self.mangled(name)
      let (live, dead) = ("kv_\(mangled)", "kv_del_\(mangled)")
      var store = DocumentSight.Store(
        name: name, hasLive: columns[live] != nil, hasDead: columns[dead] != nil)
      if store.hasLive { store.rows += try rows(of: live, isDead: false) }
      if store.hasDead { store.rows += try rows(of: dead, isDead: true) }
      store.last = counters[name]?.last
      store.purges = counters[name]?.purges ?? 0
      store.deadPurges = counters["del_\(name)"]?.purges ?? 0
      stores.append(store)
    }
  }

  private static func mangled(_ name: String) -> String {
    name.map { ("A"..."Z").contains($0) ? "\\\($0)" : "\($0)" }.joined()
  }

  private func rows(of table: String, isDead: Bool) throws -> [DocumentSight.Row] {
    let has = columns[table] ?? []
    let extra = has.contains("extra") ? "extra" : "NULL"
    let expiration = has.contains("expiration") ? "expiration" : "NULL"
    let sql = """
      SELECT rowid, key, sequence, flags, version, body, \(extra), \(expiration)
      FROM \(Self.quoted(table)) ORDER BY rowid
      """
    return try GRDB.Row.fetchAll(database, sql: sql).map { row in
      DocumentSight.Row(
        isDead: isDead, number: row.number(0) ?? 0, key: row.text(1), sequence: row.number(2),
        flags: row.number(3) ?? 0, version: row.bytes(4) ?? [], body: row.bytes(5),
        extra: row.bytes(6), expiration: row.number(7))
    }
  }

  private mutating func readIndexes() throws {
    guard columns["indexes"] != nil else { return }
    for row in try GRDB.Row.fetchAll(
      database,
      sql: "SELECT name, type, keyStore, expression, indexTableName FROM indexes ORDER BY name")
    {
      indexes.append(
        DocumentSight.ListedIndex(
          name: row.text(0), type: row.number(1) ?? -1, store: row.text(2),
          expression: row.text(3), table: row.text(4).isEmpty ? nil : row.text(4)))
    }
    for table in columns.keys {
      let has = columns[table] ?? []
      if has.contains("docid"), has.contains("body"), !table.contains("::") {
        let place = has.contains("i") ? "i" : "0"
        itemRows[table] = try GRDB.Row.fetchAll(
          database,
          sql: "SELECT docid, \(place), CAST(body AS BLOB) FROM \(Self.quoted(table)) ORDER BY 1, 2"
        ).map { ($0.number(0) ?? 0, $0.number(1) ?? 0, $0.bytes(2) ?? []) }
      }
    }
    for index in indexes where index.type == 1 {
      guard let table = index.table else { continue }
      let content = "\(table)_content"
      guard objects.contains(where: { $0.name == content }) else { continue }
      wordRows[index.name] = try Int64.fetchAll(
        database, sql: "SELECT docid FROM \(Self.quoted(content)) ORDER BY docid")
    }
  }
}

/// Columns of damaged files may have any type: none of these traps.
extension GRDB.Row {
  func text(_ index: Int) -> String { String.fromDatabaseValue(self[index] as DatabaseValue) ?? "" }

  func number(_ index: Int) -> Int64? { Int64.fromDatabaseValue(self[index] as DatabaseValue) }

  func bytes(_ index: Int) -> [UInt8]? {
    Data.fromDatabaseValue(self[index] as DatabaseValue).map(Array.init)
  }
}
