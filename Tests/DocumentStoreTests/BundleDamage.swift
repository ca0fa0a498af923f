// BundleDamage.swift: damages a bundle in a way that follows from a seed.

import Foundation
import GRDB
import TestFiles

/// Damages one bundle.
struct BundleDamage {
  private let bundle: String
  private var numbers: SeededNumbers

  init(_ bundle: String, seed: UInt64) {
    self.bundle = bundle
    numbers = SeededNumbers(seed: seed &* 7919 &+ 17)
  }

  /// Damages it.
  /// - Returns: What was done.
  mutating func apply() throws -> String {
    switch numbers.below(10) {
    case 0: return try bytes(of: "/db.sqlite3")
    case 1: return try pages()
    case 2: return try bytes(of: "/db.sqlite3-wal")
    case 3: return try blobs()
    case 4, 5: return try names()
    default: return try rows()
    }
  }

  // MARK: Bytes and pages

  private mutating func bytes(of file: String) throws -> String {
    let path = bundle + file
    guard var bytes = FileManager.default.contents(atPath: path), !bytes.isEmpty else {
      return try bytes(of: "/db.sqlite3")
    }
    if numbers.below(6) == 0 {
      bytes = bytes.prefix(numbers.below(bytes.count))
    } else {
      for _ in 0...numbers.below(6) {
        bytes[numbers.below(bytes.count)] ^= 1 << UInt8(numbers.below(8))
      }
    }
    try bytes.write(to: URL(filePath: path))
    return "bytes of \(file)"
  }

  private mutating func pages() throws -> String {
    let path = bundle + "/db.sqlite3"
    var bytes = try Data(contentsOf: URL(filePath: path))
    let count = bytes.count / 4096
    func range(_ page: Int) -> Range<Int> { page * 4096..<(page + 1) * 4096 }
    let (first, second) = (numbers.below(count), numbers.below(count))
    switch numbers.below(3) {
    case 0: bytes.replaceSubrange(range(first), with: Data(count: 4096))
    case 1:
      let page = bytes.subdata(in: range(second))
      bytes.replaceSubrange(range(first), with: page)
    default:
      // A torn page: half of it is another one's.
      let half = bytes.subdata(in: range(second).lowerBound..<range(second).lowerBound + 2048)
      bytes.replaceSubrange(range(first).lowerBound..<range(first).lowerBound + 2048, with: half)
    }
    try bytes.write(to: URL(filePath: path))
    return "pages \(first) and \(second)"
  }

  // MARK: Blobs

  private mutating func blobs() throws -> String {
    let folder = bundle + "/Attachments"
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    guard !names.isEmpty else { return try rows() }
    let path = folder + "/" + names[numbers.below(names.count)]
    let manager = FileManager.default
    let kind = numbers.below(7)
    var bytes = manager.contents(atPath: path) ?? Data()
    if kind != 4 { try manager.removeItem(atPath: path) }
    switch kind {
    case 0: break
    case 1: try bytes.prefix(bytes.count / 2).write(to: URL(filePath: path))
    case 2: try (bytes + [0]).write(to: URL(filePath: path))
    case 3:
      bytes = bytes.isEmpty ? Data([1]) : Data([bytes[0] ^ 1]) + bytes.dropFirst()
      try bytes.write(to: URL(filePath: path))
    case 4: try manager.moveItem(atPath: path, toPath: folder + "/incoming_abcdef")
    case 5: try manager.createDirectory(atPath: path, withIntermediateDirectories: false)
    default: try manager.createSymbolicLink(atPath: path, withDestinationPath: "nowhere")
    }
    return "blob \(kind)"
  }

  // MARK: Rows and names

  /// SQL on the database, behind triggers and indexes of functions that only a store has.
  private func withPlainTables(_ body: (GRDB.Database) throws -> Void) throws {
    let hidden =
      "FROM sqlite_master WHERE sql GLOB '*fl_*' OR type = 'trigger' "
      + "OR sql LIKE '%LCUnicode%' OR sql LIKE '%prediction%'"
    let rows = try onConnection { database in
      let rows = try Row.fetchAll(
        database, sql: "SELECT type, name, tbl_name, rootpage, sql \(hidden)")
      try database.execute(sql: "PRAGMA writable_schema = 1")
      try database.execute(sql: "DELETE \(hidden)")
      try Self.newSchema(database)
      return rows
    }
    // A connection of its own, which has not read what is hidden.
    try onConnection { database in
      try body(database)
      try database.execute(sql: "PRAGMA writable_schema = 1")
      for row in rows {
        let values: [DatabaseValue] = [row[0], row[1], row[2], row[3], row[4]]
        try database.execute(
          sql: "INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)",
          arguments: StatementArguments(values))
      }
      try Self.newSchema(database)
    }
  }

  private func onConnection<Value>(_ body: (GRDB.Database) throws -> Value) throws -> Value {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    let queue = try DatabaseQueue(path: bundle + "/db.sqlite3", configuration: configuration)
    defer { try? queue.close() }
    return try queue.write(body)
  }

  /// Every connection reads the schema again.
  private static func newSchema(_ database: GRDB.Database) throws {
    let version = try Int64.fetchOne(database, sql: "PRAGMA schema_version") ?? 0
    try database.execute(sql: "PRAGMA schema_version = \(version + 1)")
  }

  private static let values = [
    "NULL", "x''", "x'00'", "-1", "0", "2", "4", "0x10001", "9223372036854775807", "'text'", "''",
    "x'ffffffffffffffff'", "1e300", "'=n'", "'[['", #"'{"WHAT":[],"WHERE":3}'"#,
    "CAST(x'c3' AS TEXT)", "x'6002'", "x'70ff'", "x'00000010ffff020101017000'",
  ]

  private mutating func rows() throws -> String {
    var changes: [String] = []
    var numbers = numbers
    try withPlainTables { database in
      let tables = try String.fetchAll(
        database,
        sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%' "
          + "AND name NOT LIKE 'sqlite%' ORDER BY name")
      for _ in 0...numbers.below(3) {
        let name = tables[numbers.below(tables.count)]
        let table = "\"" + name + "\""
        let columns = try String.fetchAll(
          database, sql: "SELECT name FROM pragma_table_info('\(name)') ORDER BY cid")
        let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0
        guard count > 0 else { continue }
        let column = "\"" + columns[numbers.below(columns.count)] + "\""
        let row = numbers.below(count)
        let key = "\"" + columns[0] + "\""
        let place = "\(key) IS (SELECT \(key) FROM \(table) LIMIT 1 OFFSET \(row))"
        let old = try Data.fetchOne(
          database, sql: "SELECT CAST(\(column) AS BLOB) FROM \(table) WHERE \(place)")
        let sql: String
        switch numbers.below(8) {
        case 0: sql = "DELETE FROM \(table) WHERE \(place)"
        case 1:
          let twice = "\(column) || \(column)"
          sql = "UPDATE OR IGNORE \(table) SET \(column) = \(twice) WHERE \(place)"
        case 2, 3, 4:
          let value = Self.values[numbers.below(Self.values.count)]
          sql = "UPDATE OR IGNORE \(table) SET \(column) = \(value) WHERE \(place)"
        case 5:
          let other = "SELECT \(column) FROM \(table) LIMIT 1 OFFSET \(numbers.below(count))"
          sql = "UPDATE OR IGNORE \(table) SET \(column) = (\(other)) WHERE \(place)"
        default:
          guard var bytes = old, !bytes.isEmpty else { continue }
          if numbers.below(3) == 0 {
            bytes = bytes.prefix(numbers.below(bytes.count))
          } else {
            bytes[bytes.startIndex + numbers.below(bytes.count)] ^= 1 << UInt8(numbers.below(8))
          }
          let hex = Array(bytes).hex
          sql = "UPDATE OR IGNORE \(table) SET \(column) = x'\(hex)' WHERE \(place)"
        }
        changes.append(String(sql.prefix(120)))
        do { try database.execute(sql: sql) } catch is DatabaseError { continue }
      }
    }
    self.numbers = numbers
    return changes.joined(separator: "; ")
  }

  /// A letter of the name or of the SQL of something in the schema, or something left out.
  private mutating func names() throws -> String {
    var changed = ""
    var numbers = numbers
    try onConnection { database in
      try database.execute(sql: "PRAGMA writable_schema = 1")
      let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") ?? 1
      let row = try Row.fetchOne(
        database,
        sql: "SELECT rowid, name, sql FROM sqlite_master LIMIT 1 OFFSET \(numbers.below(count))")
      guard let row else { return }
      let rowid: Int64 = row[0]
      if numbers.below(6) == 0 {
        let name: String? = row[1]
        changed = "without \(name ?? "")"
        try database.execute(sql: "DELETE FROM sqlite_master WHERE rowid = \(rowid)")
      } else {
        let column = numbers.below(3) == 0 ? 1 : 2
        let found: String? = row[column]
        guard let text = found, !text.isEmpty else { return }
        var letters = Array(text.unicodeScalars)
        let place = numbers.below(letters.count)
        let other = Unicode.Scalar(UInt8(0x20 + numbers.below(0x5f)))
        letters[place] = other
        let new = String(String.UnicodeScalarView(letters))
        changed = "\(text) became \(new)"
        let names = ["", "name", "sql"]
        try database.execute(
          sql: "UPDATE sqlite_master SET \(names[column]) = ? WHERE rowid = \(rowid)",
          arguments: [new])
      }
      try Self.newSchema(database)
    }
    self.numbers = numbers
    return changed
  }
}
