// Schema.swift: tables, columns and values as callers name them.

/// What a column holds.
public enum ColumnType: UInt8, Sendable {
  /// A signed 64-bit integer.
  case int = 1
  /// Text of up to 16 MiB in UTF-8.
  case string = 2
}

/// A column of a table.
public struct ColumnSchema: Hashable, Sendable {
  /// The name, 1 to 255 bytes of UTF-8, unique in its table.
  public var name: String
  /// What the column holds.
  public var type: ColumnType

  /// Makes a column.
  public init(name: String, type: ColumnType) {
    self.name = name
    self.type = type
  }
}

/// A table: rows under keys, which are signed 64-bit integers.
public struct TableSchema: Hashable, Sendable {
  /// The name, 1 to 255 bytes of UTF-8, unique in the database.
  public var name: String
  /// The columns, at most 128; the key is not one of them.
  public var columns: [ColumnSchema]

  /// Makes a table.
  public init(name: String, columns: [ColumnSchema]) {
    self.name = name
    self.columns = columns
  }

  var shape: LeafShape { LeafShape(columns.map(\.type)) }

  func validate() throws(EngineError) {
    var names: Set<String> = []
    for candidate in [name] + columns.map(\.name) {
      guard (1...Layout.nameBytesMax).contains(candidate.utf8.count) else {
        throw EngineError(
          code: .schemaMismatch,
          message: "the name \"\(candidate)\" has \(candidate.utf8.count) bytes; use 1 to 255")
      }
    }
    for column in columns where !names.insert(column.name).inserted {
      throw EngineError(
        code: .schemaMismatch, message: "table \(name) has two columns named \(column.name)")
    }
    guard columns.count <= Layout.columnCountMax else {
      throw EngineError(
        code: .limit,
        message: "table \(name) has \(columns.count) columns; at most \(Layout.columnCountMax)")
    }
  }
}

/// A value of a row.
public enum Value: Hashable, Sendable {
  /// An integer.
  case int(Int64)
  /// A text.
  case string(String)
}
