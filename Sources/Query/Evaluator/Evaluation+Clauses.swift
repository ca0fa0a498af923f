// Evaluation+Clauses.swift: SORT, DISTINCT and LIMIT, one after another as written. Sorting is
// stable: rows that are equal in a SORT keep their order.

import Engine

extension Evaluation {
  /// A row by its key when there is one, also in a write transaction.
  func existingRow(_ table: Int, _ key: Int64) throws(QueryError) -> QueriedRow? {
    if snapshot != nil { return try row(table, key) }
    let columns = schema.tables[table].schema.columns
    guard let first = columns.first else {
      let keys = try asking { () throws(EngineError) in try source.keys(of: name(table)) }
      return keys.contains(key) ? try row(table, key) : nil
    }
    let value = try asking { () throws(EngineError) in
      try source.value(in: name(table), key: key, column: first.name)
    }
    return value == nil ? nil : try row(table, key)
  }

  /// The keys that the clauses leave, in their order.
  func applied(
    _ clauses: [BoundClause], to keys: [Int64], of table: Int
  ) throws(QueryError) -> [Int64] {
    var keys = keys
    for clause in clauses {
      switch clause {
      case .limit(let count): keys = Array(keys.prefix(count))
      case .sort(let sortKeys):
        let values = try values(of: sortKeys.map(\.path), for: keys, in: table)
        let order = keys.indices.sorted { left, right in
          for (index, key) in sortKeys.enumerated() {
            let order = Value.orderByValue(values[index][left], values[index][right])
            if order != 0 { return (order < 0) == key.isAscending }
          }
          return left < right
        }
        keys = order.map { keys[$0] }
      case .distinct(let paths):
        let values = try values(of: paths, for: keys, in: table)
        var seen: Set<[Value]> = []
        keys = keys.indices.filter { index in
          seen.insert(values.map { $0[index].byValue }).inserted
        }.map { keys[$0] }
      }
    }
    return keys
  }

  private func values(
    of paths: [BoundPath], for keys: [Int64], in table: Int
  ) throws(QueryError) -> [[Value]] {
    var values: [[Value]] = Array(repeating: [], count: paths.count)
    for key in keys {
      let row = try row(table, key)
      for (index, path) in paths.enumerated() {
        guard let row else {
          values[index].append(.null)
          continue
        }
        let found = try self.values(.path(path), [row])
        values[index].append(found.all.first ?? .null)
      }
    }
    return values
  }
}
