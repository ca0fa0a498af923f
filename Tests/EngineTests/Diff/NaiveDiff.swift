// NaiveDiff.swift: what differs between two snapshots, by reading both in full. It shares nothing
// with the comparison under test but the types of the answer.

import Testing

@testable import Engine

/// Everything that a snapshot holds.
struct NaiveContent {
  let version: Version
  let tables: [TableRecord]
  /// By table id and key.
  private(set) var rows: [UInt32: [Int64: [Value]]] = [:]

  init(_ snapshot: Snapshot) throws {
    version = snapshot.version
    tables = snapshot.state.group.tables
    for table in tables {
      var rows: [Int64: [Value]] = [:]
      try snapshot.forEach(in: table.schema.name) { key, values in rows[key] = values }
      self.rows[table.id] = rows
    }
  }
}

enum NaiveDiff {

  /// What a row has in a column from the moment it is added on.
  private static func added(_ column: ColumnSchema) -> Value {
    switch column.collection {
    case .list: return .list([])
    case .set: return .set([])
    case .dictionary: return .dictionary([])
    case .none: break
    }
    if column.isOptional { return .null }
    switch column.type {
    case .int: return .int(0)
    case .string: return .string("")
    case .bool: return .bool(false)
    case .float: return .float(0)
    case .double: return .double(0)
    case .binary: return .binary([])
    case .date: return .date(seconds: 0, nanoseconds: 0)
    case .objectId: return .objectId(ObjectId(high: 0, low: 0))
    case .uuid: return .uuid(UUIDBytes(high: 0, low: 0))
    case .decimal128: return .decimal128(Decimal128(high: 0, low: 0))
    case .link, .mixed: return .null
    }
  }

  static func changes(from older: Snapshot, to newer: Snapshot) throws -> DatabaseChanges {
    changes(from: try NaiveContent(older), to: try NaiveContent(newer))
  }

  static func changes(from older: NaiveContent, to newer: NaiveContent) -> DatabaseChanges {
    var changes = DatabaseChanges(from: older.version, to: newer.version)
    for table in newer.tables {
      let former = older.tables.first { $0.id == table.id }
      var found = TableChanges(name: table.schema.name)
      if let former {
        if former.schema.name != table.schema.name { found.formerName = former.schema.name }
      } else {
        found.isAdded = true
        changes.addedTables.append(table.schema.name)
      }
      compare(
        older.rows[table.id] ?? [:], newer.rows[table.id] ?? [:], former, table, &found)
      if found != TableChanges(name: table.schema.name) { changes.tables.append(found) }
    }
    for table in older.tables where !newer.tables.contains(where: { $0.id == table.id }) {
      changes.removedTables.append(table.schema.name)
      var found = TableChanges(name: table.schema.name)
      found.isRemoved = true
      found.deletions = (older.rows[table.id] ?? [:]).keys.sorted()
      changes.tables.append(found)
    }
    return changes
  }

  private static func compare(
    _ before: [Int64: [Value]], _ after: [Int64: [Value]], _ former: TableRecord?,
    _ table: TableRecord, _ found: inout TableChanges
  ) {
    let names = table.schema.columns.map(\.name)
    let places = table.columns.map { column in
      former?.columns.firstIndex { $0.id == column.id }
    }
    if let former {
      for (name, place) in zip(names, places) {
        guard let place else {
          found.addedColumns.append(name)
          continue
        }
        let formerName = former.schema.columns[place].name
        if formerName != name {
          found.renamedColumns.append(TableChanges.Rename(from: formerName, to: name))
        }
      }
      found.removedColumns = former.schema.columns.indices.filter { !places.contains($0) }
        .map { former.schema.columns[$0].name }
    }
    found.insertions = after.keys.filter { before[$0] == nil }.sorted()
    found.deletions = before.keys.filter { after[$0] == nil }.sorted()
    for key in after.keys.sorted() {
      guard let values = after[key], let old = before[key] else { continue }
      var mask: UInt128 = 0
      for index in values.indices {
        let earlier = places[index].map { old[$0] } ?? added(table.schema.columns[index])
        if earlier != values[index] { mask |= 1 << UInt128(index) }
      }
      if mask != 0 {
        found.modifications.append(RowModification(key: key, mask: mask, names: names))
      }
    }
  }
}
