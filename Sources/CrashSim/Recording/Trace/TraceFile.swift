// TraceFile.swift: stores a trace as an SQLite file. docs/reference/trace-format.md describes the
// format. A tree file is a trace file without events. The schema's text is compared on load, so a
// file cannot contain views, triggers or generated columns; a malicious file gives a `LabError`.

import Foundation
import GRDB
import LabCore

/// Saves and loads traces.
public enum TraceFile {
  /// Version of the schema below.
  static let formatVersion = 1

  static let tables: [(name: String, sql: String)] = [
    ("meta", "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL)"),
    (
      "inodes",
      "CREATE TABLE inodes(inode INTEGER PRIMARY KEY, type TEXT NOT NULL, mode INTEGER NOT NULL, "
        + "user INTEGER NOT NULL, \"group\" INTEGER NOT NULL, size INTEGER NOT NULL, "
        + "target BLOB, device INTEGER NOT NULL)"
    ),
    (
      "entries",
      "CREATE TABLE entries(parent INTEGER NOT NULL, name BLOB NOT NULL, inode INTEGER NOT NULL, "
        + "PRIMARY KEY(parent, name))"
    ),
    (
      "xattrs",
      "CREATE TABLE xattrs(inode INTEGER NOT NULL, name BLOB NOT NULL, value BLOB NOT NULL, "
        + "PRIMARY KEY(inode, name))"
    ),
    (
      "extents",
      "CREATE TABLE extents(inode INTEGER NOT NULL, offset INTEGER NOT NULL, bytes BLOB NOT NULL, "
        + "PRIMARY KEY(inode, offset))"
    ),
    (
      "events",
      "CREATE TABLE events(seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, inode INTEGER, path TEXT, "
        + "parent INTEGER, name BLOB, other_inode INTEGER, other_parent INTEGER, other_name BLOB, "
        + "type TEXT, mode INTEGER, user INTEGER, \"group\" INTEGER, device INTEGER, "
        + "offset INTEGER, length INTEGER, old_size INTEGER, new_size INTEGER, payload BLOB, "
        + "flags INTEGER NOT NULL, process INTEGER NOT NULL, thread INTEGER NOT NULL, "
        + "time_ns INTEGER NOT NULL)"
    ),
  ]

  /// Only in a trace with faults: a file without it is the same as from old Faultline versions.
  static let faultsTable = (
    name: "faults",
    sql: "CREATE TABLE faults(number INTEGER PRIMARY KEY, seq INTEGER NOT NULL, "
      + "is_of_event INTEGER NOT NULL, rule INTEGER NOT NULL, kind TEXT NOT NULL, "
      + "effect TEXT NOT NULL, errno INTEGER NOT NULL, path TEXT NOT NULL, offset INTEGER, "
      + "length INTEGER, process INTEGER NOT NULL, thread INTEGER NOT NULL)"
  )

  /// Only in a trace that begins with modification times that programs chose.
  static let timesTable = (
    name: "times",
    sql: "CREATE TABLE times(inode INTEGER PRIMARY KEY, modification TEXT NOT NULL)"
  )

  /// Only in a trace whose processes announced phases.
  static let phasesTable = (
    name: "phases",
    sql: "CREATE TABLE phases(number INTEGER PRIMARY KEY, seq INTEGER NOT NULL, "
      + "process INTEGER NOT NULL, phase TEXT)"
  )

  /// Only in a trace with call stacks.
  static let callStackTables = [
    (name: "modules", sql: "CREATE TABLE modules(number INTEGER PRIMARY KEY, path TEXT NOT NULL)"),
    (
      name: "stacks",
      sql: "CREATE TABLE stacks(stack INTEGER NOT NULL, depth INTEGER NOT NULL, "
        + "module INTEGER NOT NULL, address INTEGER NOT NULL, PRIMARY KEY(stack, depth))"
    ),
    (
      name: "event_stacks",
      sql: "CREATE TABLE event_stacks(seq INTEGER PRIMARY KEY, stack INTEGER NOT NULL)"
    ),
  ]

  /// Which of the optional tables exist.
  struct Extras {
    var markUnit = MarkUnit.writes
    var faults = false
    var phases = false
    var times = false
    var callStacks = false
  }

  /// Saves a trace, replacing the file.
  ///
  /// The bytes reach the system, not necessarily the medium.
  /// - Throws: `LabError` when the file cannot be written or the trace does not fit the format.
  /// - Complexity: O(size of the trace).
  public static func save(_ trace: Trace, to path: String) throws(LabError) {
    for suffix in ["", "-journal", "-wal", "-shm"] { PathCalls.removeFile(path + suffix) }
    do {
      var configuration = Configuration()
      let pageBytes = pageBytes(of: trace)
      configuration.prepareDatabase { database in
        try database.execute(sql: "PRAGMA page_size = \(pageBytes)")
        try database.execute(sql: "PRAGMA journal_mode = OFF")
        try database.execute(sql: "PRAGMA synchronous = OFF")
        try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
      }
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      try queue.write { database in
        for table in tables { try database.execute(sql: table.sql) }
        if !trace.faults.isEmpty { try database.execute(sql: faultsTable.sql) }
        if !trace.phases.isEmpty { try database.execute(sql: phasesTable.sql) }
        if trace.initial.inodes.values.contains(where: { $0.modificationTime != nil }) {
          try database.execute(sql: timesTable.sql)
        }
        if !trace.callStacks.stacks.isEmpty {
          for table in callStackTables { try database.execute(sql: table.sql) }
        }
        try database.execute(
          sql: "INSERT INTO meta VALUES('format', 'faultline trace'), ('version', ?)",
          arguments: ["\(formatVersion)"])
        if trace.markUnit == .lines {
          try database.execute(
            sql: "INSERT INTO meta VALUES('marks', ?)", arguments: [trace.markUnit.rawValue])
        }
        try TraceFileWriter(database).write(trace)
      }
      try queue.close()
    } catch let error as LabError {
      throw error
    } catch {
      throw .lab("cannot save the trace to \(path): \(error)")
    }
  }

  /// A page of 4 KiB holds only one payload of 2 KiB or more, but suits small traces best.
  private static func pageBytes(of trace: Trace) -> Int {
    var payloadBytes = trace.initial.contentBytes
    for event in trace.events {
      guard case .operation(.write(_, _, let payload)) = event.body else { continue }
      payloadBytes += payload.countBytes
    }
    return payloadBytes > 16 << 20 ? 32_768 : 4096
  }

  /// Loads a trace and validates all of it.
  /// - Throws: `LabError` with the error in the file.
  /// - Complexity: O(size of the file).
  public static func load(_ path: String) throws(LabError) -> Trace {
    guard PathCalls.canAccess(path, 4) else {
      throw .usage("cannot read the trace file \(path)")
    }
    do {
      var configuration = Configuration()
      configuration.readonly = true
      configuration.prepareDatabase { database in
        try database.execute(sql: "PRAGMA trusted_schema = OFF")
        try database.execute(sql: "PRAGMA cell_size_check = ON")
      }
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      let trace = try queue.read { database in
        try TraceFileReader(database).read(checkSchema(of: database))
      }
      try queue.close()
      return trace
    } catch let error as LabError {
      throw .usage("\(path) is not a sound trace file: \(error.message)")
    } catch {
      throw .usage("\(path) is not a sound trace file: \(error)")
    }
  }

  private static func checkSchema(of database: Database) throws -> Extras {
    for table in tables {
      guard try isThere(table, in: database) else {
        throw LabError.usage("table \(table.name) is not as the format has it")
      }
    }
    let format = try metaValue("format", in: database)
    let version = try metaValue("version", in: database)
    guard format == "faultline trace", version == "\(formatVersion)" else {
      throw LabError.usage(
        "format=\(format ?? "nil") version=\(version ?? "nil"), want version=\(formatVersion)")
    }
    let ofStacks = try callStackTables.count { try isThere($0, in: database) }
    guard ofStacks == 0 || ofStacks == callStackTables.count else {
      throw LabError.usage(
        "\(ofStacks) of \(callStackTables.count) tables of call stacks; want all or none")
    }
    let unit = try metaValue("marks", in: database) ?? MarkUnit.writes.rawValue
    guard let markUnit = MarkUnit(rawValue: unit) else {
      throw LabError.usage("marks=\(unit), want lines or writes")
    }
    return Extras(
      markUnit: markUnit,
      faults: try isThere(faultsTable, in: database),
      phases: try isThere(phasesTable, in: database),
      times: try isThere(timesTable, in: database), callStacks: ofStacks > 0)
  }

  /// False when there is no object of that name; an object other than the table is an error.
  private static func isThere(
    _ table: (name: String, sql: String), in database: Database
  ) throws -> Bool {
    let rows = try Row.fetchAll(
      database, sql: "SELECT type, sql FROM sqlite_schema WHERE name = ?", arguments: [table.name])
    if rows.isEmpty { return false }
    guard rows.count == 1, rows[0].databaseText(0) == "table",
      rows[0].databaseText(1) == table.sql
    else { throw LabError.usage("table \(table.name) is not as the format has it") }
    return true
  }

  private static func metaValue(_ key: String, in database: Database) throws -> String? {
    try Row.fetchOne(database, sql: "SELECT value FROM meta WHERE key = ?", arguments: [key])?
      .databaseText(0)
  }
}

extension Row {
  /// The column's text, or nil if it has another type.
  func databaseText(_ index: Int) -> String? {
    let value: DatabaseValue = self[index]
    if case .string(let text) = value.storage { return text }
    return nil
  }
}

extension FileType {
  /// The name used in trace files.
  package var word: String {
    switch self {
    case .regular: "regular"
    case .directory: "directory"
    case .symbolicLink: "symbolicLink"
    case .fifo: "fifo"
    case .socket: "socket"
    case .characterDevice: "characterDevice"
    case .blockDevice: "blockDevice"
    }
  }

  init?(word: String) {
    let all: [FileType] = [
      .regular, .directory, .symbolicLink, .fifo, .socket, .characterDevice, .blockDevice,
    ]
    guard let type = all.first(where: { $0.word == word }) else { return nil }
    self = type
  }
}
