// Evaluation.swift: one run of a query: how rows, values and links of the source are read.
// Invariants: links among values are `.typedLink` with the index of the table in the query's
// schema; `stepsLeft` falls with each row and element visited, so a run ends.

import Engine

/// A row that a query visits.
struct QueriedRow {
  let table: Int
  let key: Int64
  /// Its position, when the source is a snapshot.
  let position: RowPosition?
}

/// A column for reading in place.
private enum ColumnAccess {
  case int(TableColumn<Int64>)
  case link(TableColumn<Int64>)
  case bool(TableColumn<Bool>)
  case double(TableColumn<Double>)
  case float(TableColumn<Float>)
  case string(TableColumn<String>)
  /// Of a type that is read as a value.
  case other
}

/// One run of a query.
final class Evaluation {
  let source: any ReadableVersion
  let schema: QuerySchema
  let snapshot: Snapshot?
  private(set) var stepsLeft: Int
  private let stepsMax: Int
  private var readers: [TableReader?]
  private var columns: [[ColumnAccess?]]
  private var tableIndexes: [UInt32: UInt32]?
  /// What is known of the plan's tallies, by their numbers.
  var tallies: [Int: TallyState] = [:]
  /// The table of a link that stands for a collection in a mixed value.
  static let collections = UInt32.max - 1

  init(_ source: any ReadableVersion, _ schema: QuerySchema, _ limits: QueryLimits) {
    self.source = source
    self.schema = schema
    snapshot = source.scannedSnapshot
    stepsMax = limits.stepsMax
    stepsLeft = limits.stepsMax
    readers = Array(repeating: nil, count: schema.tables.count)
    columns = schema.tables.map { Array(repeating: nil, count: $0.schema.columns.count) }
  }

  /// Counts work.
  @inline(__always)
  func spend(_ steps: Int) throws(QueryError) {
    stepsLeft -= steps
    guard stepsLeft >= 0 else {
      throw QueryError(
        .limit,
        "the query looked at more than \(stepsMax) rows and values; narrow it down, or raise "
          + "limits.stepsMax")
    }
  }

  func name(_ table: Int) -> String { schema.tables[table].schema.name }

  // MARK: rows

  /// The reader of a table; nil when the source is not a snapshot.
  func reader(_ table: Int) throws(QueryError) -> TableReader? {
    guard let snapshot else { return nil }
    if let reader = readers[table] { return reader }
    let reader = try asking { () throws(EngineError) in try snapshot.reader(for: name(table)) }
    readers[table] = reader
    return reader
  }

  /// The reader of a table, if it was created before.
  func knownReader(_ table: Int) -> TableReader? { readers[table] }

  /// A row by its key, or nil.
  func row(_ table: Int, _ key: Int64) throws(QueryError) -> QueriedRow? {
    try spend(1)
    if let reader = try reader(table) {
      let position = try asking { () throws(EngineError) in try reader.find(key) }
      return position.map { QueriedRow(table: table, key: key, position: $0) }
    }
    return QueriedRow(table: table, key: key, position: nil)
  }

  // MARK: values

  private func access(_ id: ColumnID, _ reader: TableReader) throws(QueryError) -> ColumnAccess {
    if let known = columns[id.table][id.column] { return known }
    let column = schema.column(id)
    let access = try asking { () throws(EngineError) -> ColumnAccess in
      guard column.collection == .none else { return .other }
      switch column.type {
      case .int: return .int(try reader.column(column.name, of: Int64.self))
      case .link: return .link(try reader.column(column.name, of: Int64.self))
      case .bool: return .bool(try reader.column(column.name, of: Bool.self))
      case .double: return .double(try reader.column(column.name, of: Double.self))
      case .float: return .float(try reader.column(column.name, of: Float.self))
      case .string: return .string(try reader.column(column.name, of: String.self))
      default: return .other
      }
    }
    columns[id.table][id.column] = access
    return access
  }

  /// The value of a column without collections.
  func value(_ id: ColumnID, _ row: QueriedRow) throws(QueryError) -> Value {
    if let position = row.position, let reader = try reader(id.table) {
      let access = try access(id, reader)
      let value = try asking { () throws(EngineError) in
        try Self.value(access, reader, position)
      }
      if let value { return try normalized(value, id) }
    }
    let name = schema.column(id).name
    let value = try asking { () throws(EngineError) in
      try source.value(in: self.name(id.table), key: row.key, column: name)
    }
    return try normalized(value ?? .null, id)
  }

  private static func value(
    _ access: ColumnAccess, _ reader: TableReader, _ position: RowPosition
  ) throws(EngineError) -> Value? {
    switch access {
    case .int(let column):
      if try reader.isNull(at: position, column) { return .null }
      return .int(try reader.int(at: position, column))
    case .link(let column):
      if try reader.isNull(at: position, column) { return .null }
      return .link(try reader.int(at: position, column))
    case .bool(let column):
      if try reader.isNull(at: position, column) { return .null }
      return .bool(try reader.bool(at: position, column))
    case .double(let column):
      if try reader.isNull(at: position, column) { return .null }
      return .double(try reader.double(at: position, column))
    case .float(let column):
      if try reader.isNull(at: position, column) { return .null }
      return .float(try reader.float(at: position, column))
    case .string(let column):
      if try reader.isNull(at: position, column) { return .null }
      return .string(try reader.string(at: position, column))
    case .other: return nil
    }
  }

  /// Calls `body` with the bytes of a text, in place.
  /// - Returns: What `body` returns; false for a null; nil when the text is not read in place.
  func withText(
    _ id: ColumnID, _ row: QueriedRow, _ body: (Span<UInt8>) -> Bool
  ) throws(QueryError) -> Bool?? {
    guard let position = row.position, let reader = try reader(id.table),
      case .string(let column) = try access(id, reader)
    else { return nil }
    return try asking { () throws(EngineError) -> Bool?? in
      if try reader.isNull(at: position, column) { return .some(nil) }
      return .some(try reader.withUTF8(at: position, column, body))
    }
  }

  /// Links with the table as the query's schema numbers it.
  func normalized(_ value: Value, _ id: ColumnID) throws(QueryError) -> Value {
    switch value {
    case .link(let key):
      guard let target = schema.column(id).target else { return value }
      return .typedLink(table: UInt32(try schema.table(named: target)), key: key)
    case .typedLink(let table, let key): return .typedLink(table: try index(of: table), key: key)
    default: return value
    }
  }

  /// The index of a table that the database numbers; `UInt32.max` when the schema lacks it, and
  /// `collections` for that of collections in mixed values.
  func index(of table: UInt32) throws(QueryError) -> UInt32 {
    if let tableIndexes { return tableIndexes[table] ?? .max }
    var indexes: [UInt32: UInt32] = [:]
    for index in schema.tables.indices {
      let id = try asking { () throws(EngineError) in try source.tableID(of: name(index)) }
      indexes[id] = UInt32(index)
    }
    if let table = schema.mixedCollections?.name, source.hasTable(table) {
      let id = try asking { () throws(EngineError) in try source.tableID(of: table) }
      indexes[id] = Self.collections
    }
    tableIndexes = indexes
    return indexes[table] ?? .max
  }

  // MARK: collections

  func path(_ id: ColumnID, _ row: QueriedRow) -> CollectionPath {
    CollectionPath(table: name(id.table), key: row.key, column: schema.column(id).name)
  }

  /// The elements of a collection, or the keys of a dictionary.
  func elements(
    _ id: ColumnID, _ row: QueriedRow, areKeys: Bool = false
  ) throws(QueryError) -> [Value] {
    var found: [Value] = []
    try asking { () throws(EngineError) in
      try source.forEach(in: path(id, row)) { key, value in
        found.append(areKeys ? .string(key ?? "") : value)
      }
    }
    try spend(found.count)
    if areKeys || schema.column(id).type != .link && schema.column(id).type != .mixed {
      return found
    }
    for index in found.indices { found[index] = try normalized(found[index], id) }
    return found
  }

  func elementCount(_ id: ColumnID, _ row: QueriedRow) throws(QueryError) -> Int {
    try asking { () throws(EngineError) in try source.count(of: path(id, row)) }
  }

  /// Calls `body` with the key of each element of a collection of links.
  func forEachLink(
    _ id: ColumnID, _ row: QueriedRow, _ body: (Int64) -> Void
  ) throws(QueryError) {
    var visited = 0
    try asking { () throws(EngineError) in
      try source.forEach(in: path(id, row)) { _, value in
        visited += 1
        if case .link(let key) = value { body(key) }
      }
    }
    try spend(visited)
  }

  /// One element; null when there is none.
  func element(
    _ id: ColumnID, _ choice: ElementChoice, _ row: QueriedRow
  ) throws(QueryError) -> Value {
    try normalized(try element(choice, of: path(id, row)) ?? .null, id)
  }

  /// The rows of a column that link to a row; a row that does so twice is returned twice.
  func backlinks(_ id: ColumnID, _ row: QueriedRow) throws(QueryError) -> [Int64] {
    let links = try asking { () throws(EngineError) in
      try source.backlinks(
        to: row.key, in: name(row.table), from: name(id.table), column: schema.column(id).name)
    }
    var keys: [Int64] = []
    for link in links {
      try spend(link.count)
      keys += Array(repeating: link.key, count: link.count)
    }
    return keys
  }

  func linkCount(_ ids: [ColumnID], _ row: QueriedRow) throws(QueryError) -> Int64 {
    var sum: Int64 = 0
    for id in ids {
      let count = try asking { () throws(EngineError) in
        try source.backlinkCount(
          to: row.key, in: name(row.table), from: name(id.table), column: schema.column(id).name)
      }
      sum = sum.addingReportingOverflow(Int64(count)).overflow ? .max : sum + Int64(count)
    }
    return sum
  }
}
