// ReferenceModel+Engine.swift: the model's content as the number that the engine gives for the
// same.

import Engine

extension TableDeclaration {
  /// The table as the engine declares it; its key is no column there.
  var schema: TableSchema {
    TableSchema(
      name: name,
      columns: columns.map { column in
        ColumnSchema(
          name: column.name, type: column.type.engineType, isOptional: column.isOptional,
          collection: column.isList ? .list : .none, target: column.target,
          isIndexed: column.isIndexed)
      })
  }

  /// The row that a statement fills nothing of.
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
  /// What `Snapshot.contentHash()` gives for this content.
  /// - Complexity: O(bytes of the rows).
  public func contentHash() -> UInt64 {
    hasher().finalize()
  }

  /// The content's hash with 0, 1, … `most` sentinel rows, see `Sentinel`.
  func contentHashes(withSentinels most: Int) -> [UInt64] {
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

  // The order of tables and rows does not count for the hash. Here the first table comes last, so
  // that sentinel rows can follow.
  private func hasher() -> ContentHasher {
    var hasher = ContentHasher()
    guard hasTables else { return hasher }
    if let objects {
      objects.feed(&hasher)
      return hasher
    }
    for table in tables.reversed() {
      hasher.beginTable(table.schema)
      forEachRow(of: table.name) { key, values in
        hasher.combine(key: key, values.map(\.engineValue))
      }
    }
    return hasher
  }
}

/// The lab's own commit after a recovery: one empty row in the first table, which it creates if a
/// crash came before the tables.
enum Sentinel {
  /// The key of a sentinel row; a scenario cannot use it (`ScenarioBounds.keys`).
  static func key(_ index: Int) -> Int64 {
    Int64.max - Int64(index)
  }

  /// Commits a sentinel row.
  static func commit(
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
