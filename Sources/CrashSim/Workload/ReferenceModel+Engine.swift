// ReferenceModel+Engine.swift: the hash that the engine computes for the model's content.

import Engine

extension TableDeclaration {
  /// The table's schema in the engine; its key is not a column there.
  package var schema: TableSchema {
    TableSchema(
      name: name,
      columns: columns.map { column in
        ColumnSchema(
          name: column.name, type: column.type.engineType, isOptional: column.isOptional,
          collection: column.isList ? .list : .none, target: column.target,
          isIndexed: column.isIndexed, isUnique: column.isUnique,
          isFullText: column.isFullText)
      })
  }

  /// The row for which a statement sets no value.
  var emptyRow: [PlannedValue] { columns.map { .empty($0) } }
}

extension DeclaredType {
  /// The engine's name of the type.
  var engineType: ColumnType {
    switch self {
    case .int: .int
    case .string: .string
    case .bool: .bool
    case .double: .double
    case .binary: .binary
    case .date: .date
    case .uuid: .uuid
    case .mixed: .mixed
    case .link: .link
    }
  }
}

extension ReferenceModel {
  /// The value of `Snapshot.contentHash()` for this content.
  /// - Complexity: O(tables); with objects O(bytes of the rows).
  package func contentHash() -> UInt64 {
    hasher().finalize()
  }

  /// The content's hash with 0, 1, … `most` sentinel rows, see `Sentinel`.
  package func contentHashes(withSentinels most: Int) -> [UInt64] {
    var hasher = hasher()
    var hashes = [hasher.finalize()]
    let first = objects == nil ? tables.first : ObjectClasses.sentinelTable
    guard let table = first else { return hashes }
    if !hasTables { hasher.beginTable(table.schema) }
    for index in 0..<most {
      hasher.combine(key: Sentinel.key(index), table.emptyRow.map(\.engineValue))
      hashes.append(hasher.finalize())
    }
    return hashes
  }

  // The order of tables and rows does not affect the hash. Here the first table comes last, so that
  // sentinel rows can follow.
  private func hasher() -> ContentHasher {
    var hasher = ContentHasher()
    guard hasTables else { return hasher }
    if let objects {
      objects.feed(&hasher)
      return hasher
    }
    for table in tables.reversed() {
      hasher.beginTable(table.schema)
      hasher.combine(
        rowHashes: sums[table.name]?.hashes ?? 0, count: UInt64(count(of: table.name)))
    }
    return hasher
  }
}

/// The sum of a table's row hashes, updated with each change: a history needs the content's hash
/// after each of its transactions, which change few of many rows.
struct RowSum: Sendable, Hashable {
  private(set) var hashes: UInt64 = 0
  private let table: ContentHasher

  init(of declaration: TableDeclaration) {
    var hasher = ContentHasher()
    hasher.beginTable(declaration.schema)
    table = hasher
  }

  /// Subtracts the old row under a key, and adds the new one.
  mutating func replace(_ old: [PlannedValue]?, _ new: [PlannedValue]?, _ key: Int64) {
    hashes &-= old.map { table.rowHash(key: key, $0.map(\.engineValue)) } ?? 0
    hashes &+= new.map { table.rowHash(key: key, $0.map(\.engineValue)) } ?? 0
  }

  static func == (one: RowSum, other: RowSum) -> Bool { one.hashes == other.hashes }

  func hash(into hasher: inout Hasher) { hasher.combine(hashes) }
}

/// Faultline's own commit after a recovery: one empty row in the first table, which it creates if
/// the crash happened before the tables existed.
package enum Sentinel {
  /// The key of a sentinel row; a scenario cannot use it (`ScenarioBounds.keys`).
  static func key(_ index: Int) -> Int64 {
    Int64.max - Int64(index)
  }

  /// Commits a sentinel row.
  package static func commit(
    _ index: Int, to database: Database, _ table: TableDeclaration
  ) throws(EngineError) -> UInt64 {
    let transaction = try database.beginWrite()
    do {
      do throws(EngineError) {
        try transaction.createTable(table.schema)
      } catch  where error.code == .tableExists {}
      try transaction.insert(
        into: table.name, key: key(index), table.emptyRow.map(\.engineValue))
    } catch {
      transaction.cancel()
      throw error
    }
    return try transaction.commit().rawValue
  }
}
