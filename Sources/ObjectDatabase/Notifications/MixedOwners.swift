// MixedOwners.swift: which value each collection in mixed values belongs to, so that a change
// within is a change of the object, or of the element, that holds it. The engine has no index of
// links in mixed values; this one is in memory, and is made for the first such change that has
// observers. Invariant: a row of `__mixed` belongs to one place for as long as it exists, and keys
// are never reused, so an owner that was found stays right until names change.

import Engine

/// The owners of collections in mixed values, as far as they are known.
final class MixedOwners {
  /// The place of a value: a row and its column, of a class or of `__mixed` itself.
  struct Owner {
    let table: String
    let column: String
    let key: Int64
  }

  /// Nil before the first search.
  private var owners: [Int64: Owner]?

  /// Takes over what a step to another version created.
  /// - Complexity: O(changed rows with mixed values + collections that they hold).
  func follow(_ changes: DatabaseChanges, _ newer: Snapshot) throws(EngineError) {
    guard owners != nil else { return }
    let isRenamed = changes.tables.contains { $0.formerName != nil || !$0.renamedColumns.isEmpty }
    guard !isRenamed, newer.hasTable(MixedCollections.tableName) else {
      owners = nil
      return
    }
    for table in changes.tables where !table.isRemoved {
      let columns = try mixedColumns(of: table.name, newer)
      guard !columns.isEmpty else { continue }
      let modified = table.modifications.filter { row in columns.contains { row.changes($0) } }
      try note(table.insertions + modified.map(\.key), table.name, columns, newer)
    }
    for key in changes[MixedCollections.tableName]?.deletions ?? [] { owners?[key] = nil }
  }

  /// The place that holds a collection; nil where the version has none.
  /// - Complexity: O(1), and once O(objects with mixed values + collections).
  func owner(of key: Int64, _ newer: Snapshot) throws(EngineError) -> Owner? {
    if let owners { return owners[key] }
    owners = [:]
    for table in newer.tables {
      let columns = try mixedColumns(of: table.name, newer)
      guard !columns.isEmpty else { continue }
      try note(try newer.keys(of: table.name), table.name, columns, newer)
    }
    return owners?[key]
  }

  private func mixedColumns(
    of table: String, _ newer: Snapshot
  ) throws(EngineError) -> [String] {
    try newer.schema(of: table).columns.filter { $0.type == .mixed }.map(\.name)
  }

  private func note(
    _ keys: [Int64], _ table: String, _ columns: [String], _ newer: Snapshot
  ) throws(EngineError) {
    let target = try newer.tableID(of: MixedCollections.tableName)
    for column in columns {
      for key in keys {
        guard let value = try newer.value(in: table, key: key, column: column) else { continue }
        for child in MixedCollections.keys(in: [value], target) {
          owners?[child] = Owner(table: table, column: column, key: key)
        }
      }
    }
  }
}

/// The changes within collections in mixed values, of one step.
struct NestedChanges {
  /// The collections that changed, or hold one that did.
  var collections: Set<Int64> = []
  /// The objects that hold them, by class and column.
  var rows: [String: [String: Set<Int64>]] = [:]
  /// The number of the table of collections; nil without any.
  var table: UInt32?

  /// Whether a value is a collection that changed, or holds one that did.
  func areIn(_ value: Value) -> Bool {
    if case .typedLink(let table, let key) = value, table == self.table {
      return collections.contains(key)
    }
    return false
  }

  /// Whether an object's column holds one.
  func areIn(_ key: Int64, _ info: ClassInfo, _ property: Property) -> Bool {
    rows[info.name]?[property.columnName]?.contains(key) ?? false
  }

  /// The objects of a class that hold one in any column.
  func objects(of info: ClassInfo) -> Set<Int64> {
    rows[info.name]?.values.reduce(into: []) { $0.formUnion($1) } ?? []
  }
}
