// EarlySight.swift: a bundle as a crash left it, before the store has opened it: SQLite recovers a
// copy of its files.

import Foundation
import GRDB

/// The tables of a bundle that nobody has opened since.
struct EarlySight {
  let format: Int
  /// Columns by table.
  let columns: [String: Set<String>]
  /// The keys of what the file says of itself.
  let infoKeys: Set<String>
  /// The error of a file that SQLite cannot read.
  let error: String?

  /// Looks at a copy; nil when there is no database, or an empty one.
  init?(bundle: String, scratch: String) {
    let manager = FileManager.default
    let size = (try? manager.attributesOfItem(atPath: "\(bundle)/db.sqlite3"))?[.size] as? Int
    guard let size, size > 0 else { return nil }
    defer { try? manager.removeItem(atPath: scratch) }
    do {
      try manager.createDirectory(atPath: scratch, withIntermediateDirectories: true)
      for name in ["db.sqlite3", "db.sqlite3-wal", "db.sqlite3-journal"]
      where manager.fileExists(atPath: "\(bundle)/\(name)") {
        try manager.copyItem(atPath: "\(bundle)/\(name)", toPath: "\(scratch)/\(name)")
      }
      var (format, columns, infoKeys) = (0, [String: Set<String>](), Set<String>())
      let queue = try DatabaseQueue(path: "\(scratch)/db.sqlite3")
      try queue.read { database in
        format = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        let names = try String.fetchAll(
          database,
          sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '*::*'")
        for name in names {
          let rows = try GRDB.Row.fetchAll(
            database, sql: "PRAGMA table_info(\"\(name.replacing("\"", with: "\"\""))\")")
          columns[name] = Set(rows.map { $0.text(1) })
        }
        if columns["kv_info"] != nil {
          let rows = try GRDB.Row.fetchAll(database, sql: "SELECT key FROM kv_info")
          infoKeys = Set(rows.map { $0.text(0) })
        }
      }
      try queue.close()
      self.format = format
      self.columns = columns
      self.infoKeys = infoKeys
      error = nil
    } catch {
      format = 0
      columns = [:]
      infoKeys = []
      self.error = "\(error)"
    }
  }
}
