// PlainSQL.swift: the second reader: SQL and bytes, and no code of the store.

import Foundation
import GRDB

/// A file's tables, read with plain SQL.
struct PlainSQL {
  let queue: DatabaseQueue

  /// Opens the database of a bundle, for reading and for planting damage.
  init(_ bundle: String) throws {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    configuration.busyMode = .timeout(10)
    queue = try DatabaseQueue(path: bundle + "/db.sqlite3", configuration: configuration)
  }

  /// A row of a table of records.
  struct Row: Equatable {
    var rowid: Int64
    var key: String
    var sequence: Int64?
    var flags: Int64
    var version: String
    var body: String
    var expiration: Int64?
  }

  func execute(_ sql: String) throws { try queue.write { try $0.execute(sql: sql) } }

  func number(_ sql: String) throws -> Int64? {
    try queue.read { try Int64.fetchOne($0, sql: sql) }
  }

  func texts(_ sql: String) throws -> [String] {
    try queue.read { try String.fetchAll($0, sql: sql) }
  }

  /// The columns of a table, in order.
  func columns(_ table: String) throws -> [String] {
    try texts("SELECT name FROM pragma_table_info('\(table)')")
  }

  /// The rows of a table, by key.
  func rows(_ table: String) throws -> [Row] {
    let expiration = try columns(table).contains("expiration") ? "expiration" : "NULL"
    return try queue.read { database in
      try GRDB.Row.fetchAll(
        database,
        sql: """
          SELECT rowid, key, sequence, flags, hex(version), hex(body), \(expiration)
          FROM "\(table)" ORDER BY key
          """
      ).map {
        Row(
          rowid: $0[0], key: $0[1], sequence: $0[2], flags: $0[3], version: $0[4], body: $0[5],
          expiration: $0[6])
      }
    }
  }

  /// `kvmeta` as `name lastSeq purgeCnt`, by name.
  func counters() throws -> [String] {
    try texts("SELECT name || ' ' || lastSeq || ' ' || purgeCnt FROM kvmeta ORDER BY name")
  }

  /// The SQL of all tables and indexes, in the order in which they were made.
  func schema() throws -> [String] {
    try texts("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
  }
}
