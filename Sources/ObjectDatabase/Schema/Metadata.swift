// Metadata.swift: what the file stores about its classes beyond the engine's table schemas, in two
// tables of this layer (docs/reference/object-database.md, "In the file"):
//   __realm    row 0: the schema version
//   __classes  a row per class under the id of its table: name, primary key, embedded, next key
// Invariants: a next key is greater than every key that the table ever had, so keys are never
// reused; names of classes never begin with two underscores.

import Engine

/// The content of one row of `__classes`.
struct ClassRecord: Equatable {
  var primaryKey: String?
  var isEmbedded = false
  var nextKey: Int64 = 0
}

/// The schema of a file in one version.
struct FileSchema {
  /// Nil when the file was never opened by this layer.
  var version: UInt64?
  /// Whether the file is written with a recorder only, and changes its schema by adding only.
  let isRecorded: Bool
  /// Table and record by class name.
  var classes: [String: (table: TableSchema, record: ClassRecord)] = [:]

  static let versionTable = "__realm"
  static let classTable = "__classes"
  private static let versionKey: Int64 = 0

  static let versionSchema = TableSchema(
    name: versionTable, columns: [ColumnSchema(name: "schemaVersion", type: .int)])
  static let classSchema = TableSchema(
    name: classTable,
    columns: [
      ColumnSchema(name: "name", type: .string, isUnique: true),
      ColumnSchema(name: "primaryKey", type: .string, isOptional: true),
      ColumnSchema(name: "isEmbedded", type: .bool),
      ColumnSchema(name: "nextKey", type: .int),
    ])

  /// Reads the schema of a version or of a transaction.
  /// - Throws: `EngineError` with code `.corrupted` when the tables have invalid content.
  init(_ source: some ReadableVersion) throws(EngineError) {
    let tables = source.tables
    isRecorded = source.hasTable(ChangeRecording.markTable)
    for table in tables where table.name == Self.classTable {
      guard table == Self.classSchema else {
        throw Self.damaged(
          "table \(table.name) has other columns than the object database gives it")
      }
    }
    if source.hasTable(Self.versionTable),
      let versionRow = try source.row(in: Self.versionTable, key: Self.versionKey)
    {
      guard case .int(let number) = versionRow.first else {
        throw Self.damaged("table \(Self.versionTable) holds \(versionRow), no schema version")
      }
      version = UInt64(bitPattern: number)
    }
    for table in tables where !table.name.hasPrefix(ClassInfo.reservedPrefix) {
      var record = ClassRecord(nextKey: -1)
      if let (_, row) = try Self.record(of: table.name, in: source) {
        record = try Self.record(row)
      }
      classes[table.name] = (table, record)
    }
  }

  private static func record(_ row: [Value]) throws(EngineError) -> ClassRecord {
    guard row.count == 4, case .bool(let isEmbedded) = row[2], case .int(let nextKey) = row[3]
    else { throw Self.damaged("table \(classTable) holds \(row), no class") }
    var record = ClassRecord(isEmbedded: isEmbedded, nextKey: nextKey)
    if case .string(let name) = row[1] { record.primaryKey = name }
    return record
  }

  /// The row of a class, with its key; nil when there is none.
  private static func record(
    of name: String, in source: some ReadableVersion
  ) throws(EngineError) -> (key: Int64, row: [Value])? {
    guard source.hasTable(classTable),
      let key = try source.firstKey(in: classTable, column: "name", equalTo: .string(name)),
      let row = try source.row(in: classTable, key: key)
    else { return nil }
    return (key, row)
  }

  private static func damaged(_ message: String) -> EngineError {
    EngineError(code: .corrupted, message: message)
  }

  // MARK: writing

  /// Makes the two tables where they are missing.
  static func prepare(_ write: WriteTransaction) throws(EngineError) {
    if !write.hasTable(versionTable) { try write.createTable(versionSchema) }
    if !write.hasTable(classTable) { try write.createTable(classSchema) }
  }

  static func setVersion(_ version: UInt64, _ write: WriteTransaction) throws(EngineError) {
    try write.upsert(
      into: versionTable, key: versionKey, [.int(Int64(bitPattern: version))])
  }

  /// Writes the record of a class; its next key does not change.
  static func setClass(
    _ name: String, primaryKey: String?, isEmbedded: Bool, _ write: WriteTransaction
  ) throws(EngineError) {
    let next = try nextKey(of: name, write)
    if let old = try record(of: name, in: write) {
      try write.delete(from: classTable, key: old.key)
    }
    try write.insert(
      into: classTable, key: Int64(try write.tableID(of: name)),
      [
        .string(name), primaryKey.map { .string($0) } ?? .null, .bool(isEmbedded), .int(next),
      ])
  }

  static func removeClass(_ name: String, _ write: WriteTransaction) throws(EngineError) {
    guard let old = try record(of: name, in: write) else { return }
    try write.delete(from: classTable, key: old.key)
  }

  /// The next free key of a class; for a table made by another program, the one after its last row.
  static func nextKey(of name: String, _ write: WriteTransaction) throws(EngineError) -> Int64 {
    if let (_, row) = try record(of: name, in: write) { return try record(row).nextKey }
    guard let last = try write.keys(of: name).last else { return 0 }
    guard last < .max else { throw noKeyLeft(name) }
    return max(0, last + 1)
  }

  static func setNextKey(
    _ next: Int64, of name: String, _ write: WriteTransaction
  ) throws(EngineError) {
    guard let (key, _) = try record(of: name, in: write) else {
      throw Self.damaged("table \(classTable) has no row for \(name), which has a table")
    }
    try write.set(.int(next), in: classTable, key: key, column: "nextKey")
  }

  static func noKeyLeft(_ name: String) -> EngineError {
    damaged("table \(name) has used up all keys; copy its objects into a new file")
  }
}
