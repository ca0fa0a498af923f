// PlanRun.swift: runs a plan: one index if it narrows down the rows, else scans of columns, and the
// other conditions on the remaining rows.

import Engine

extension Evaluation {
  /// An index is not worth its lookups when it gives more than one row of this many.
  private static let scanShare = 16
  /// Linked tables are scanned when they have at most this many rows per row of the query's table.
  private static let linkedShare = 8

  /// The condition with objects looked up, once for the whole run.
  func resolved(_ predicate: BoundPredicate) throws(QueryError) -> BoundPredicate {
    switch predicate {
    case .constant: return predicate
    case .not(let member): return .not(try resolved(member))
    case .all(let members):
      var found: [BoundPredicate] = []
      for member in members { found.append(try resolved(member)) }
      return .all(found)
    case .any(let members):
      var found: [BoundPredicate] = []
      for member in members { found.append(try resolved(member)) }
      return .any(found)
    case .comparison(var comparison):
      comparison.left = try resolved(comparison.left)
      comparison.right = try resolved(comparison.right)
      return .comparison(comparison)
    }
  }

  private func resolved(_ operand: BoundOperand) throws(QueryError) -> BoundOperand {
    switch operand {
    case .object(let table, let key, let isRowKey):
      return .value(try object(table, key, isRowKey: isRowKey))
    case .engineLink(let table, let key):
      return .value(.typedLink(table: try index(of: table), key: key))
    case .list(let members):
      var found: [BoundOperand] = []
      for member in members { found.append(try resolved(member)) }
      return .list(found)
    case .subquery(let subquery):
      return .subquery(
        BoundSubquery(
          collection: subquery.collection, predicate: try resolved(subquery.predicate)))
    default: return operand
    }
  }

  /// The number of rows that pass, when scans alone give it.
  func scannedCount(_ plan: Plan, _ table: Int) throws(QueryError) -> Int? {
    guard let (reader, test) = try scan(plan, table) else { return nil }
    return try asking { () throws(EngineError) in try reader.count(where: test) }
  }

  /// The sum of an int column over the rows that pass, when scans alone give it.
  func scannedSum(
    _ plan: Plan, _ table: Int, ofColumn name: String
  ) throws(QueryError) -> (total: Int128, count: Int)? {
    guard let (reader, test) = try scan(plan, table) else { return nil }
    return try asking { () throws(EngineError) in
      try reader.sum(reader.column(name, of: Int64.self), where: test)
    }
  }

  /// The whole condition as one test, when scans alone decide it and no index is cheaper.
  func scan(
    _ plan: Plan, _ table: Int
  ) throws(QueryError) -> (reader: TableReader, test: RowTest)? {
    guard let reader = try reader(table), !plan.conditions.contains(where: { $0.column == nil }),
      try narrowest(plan, table) == nil
    else { return nil }
    let (test, rest) = try split(plan, table, reader)
    return rest.isEmpty ? (reader, test) : nil
  }

  /// The conditions that scans evaluate, as one test, and those to be tested per row.
  private func split(
    _ plan: Plan, _ table: Int, _ reader: TableReader
  ) throws(QueryError) -> (test: RowTest, rest: [BoundPredicate]) {
    try spend(reader.rowCount)
    var tests: [RowTest] = []
    var rest: [BoundPredicate] = []
    for condition in plan.conditions {
      if let column = condition.column, try isWorthScanning(column, reader.rowCount) {
        tests.append(try test(column, table))
      } else {
        rest.append(condition.predicate)
      }
    }
    return (tests.count == 1 ? tests[0] : .all(tests), rest)
  }

  /// Whether the linked tables of a condition are small enough; their scans count as work.
  private func isWorthScanning(
    _ condition: ColumnCondition, _ rowCount: Int
  ) throws(QueryError) -> Bool {
    var linked = 0
    for table in condition.linkedTables { linked += try reader(table)?.rowCount ?? 0 }
    guard linked / Self.linkedShare <= rowCount else { return false }
    try spend(linked)
    return true
  }

  private func test(_ condition: ColumnCondition, _ table: Int) throws(QueryError) -> RowTest {
    for linked in condition.linkedTables { _ = try reader(linked) }
    return try asking { () throws(EngineError) in
      try condition.test(table, schema) { table throws(EngineError) in
        guard let reader = knownReader(table) else {
          preconditionFailure("the readers of all linked tables were made above")
        }
        return reader
      }
    }
  }

  /// The keys of the rows that pass, ascending.
  func keys(_ plan: Plan, _ table: Int) throws(QueryError) -> [Int64] {
    if let used = try narrowest(plan, table), let probe = plan.conditions[used].probe {
      let keys = try probe.keys(self)
      let rest = plan.conditions.indices.filter { $0 != used }.map { plan.conditions[$0].predicate }
      // For a value that many rows have, scanning is faster than looking up each row.
      let canScan = snapshot != nil && plan.conditions[used].column != nil && !rest.isEmpty
      let isMost = canScan ? try isMost(keys.count, of: table) : false
      if !isMost { return try filtered(keys, table, rest) }
    }
    guard let reader = try reader(table) else {
      let keys = try asking { () throws(EngineError) in try source.keys(of: name(table)) }
      return try filtered(keys, table, plan.conditions.map(\.predicate))
    }
    let (test, rest) = try split(plan, table, reader)
    if rest.isEmpty {
      return try asking { () throws(EngineError) in try reader.keys(where: test) }
    }
    return try scanned(reader, test, table, rest)
  }

  private func scanned(
    _ reader: TableReader, _ test: RowTest, _ table: Int, _ rest: [BoundPredicate]
  ) throws(QueryError) -> [Int64] {
    var keys: [Int64] = []
    var failure: QueryError?
    let condition = rest.count == 1 ? rest[0] : BoundPredicate.all(rest)
    do throws(EngineError) {
      try reader.forEachRow(where: test) { position throws(EngineError) in
        do throws(QueryError) {
          let row = QueriedRow(table: table, key: position.key, position: position)
          if try passes(condition, [row]) { keys.append(position.key) }
        } catch {
          // The engine's closure throws the engine's errors; ours waits outside.
          failure = error
          throw error.engineError ?? EngineError(code: .limit, message: error.message)
        }
      }
    } catch {
      throw failure ?? QueryError(error)
    }
    return keys
  }

  private func filtered(
    _ keys: [Int64], _ table: Int, _ rest: [BoundPredicate]
  ) throws(QueryError) -> [Int64] {
    guard !rest.isEmpty else { return keys }
    let condition = rest.count == 1 ? rest[0] : BoundPredicate.all(rest)
    var found: [Int64] = []
    for key in keys {
      guard let row = try row(table, key) else { continue }
      if try passes(condition, [row]) { found.append(key) }
    }
    return found
  }

  /// The condition whose index gives the fewest rows; nil when scanning is cheaper.
  private func narrowest(_ plan: Plan, _ table: Int) throws(QueryError) -> Int? {
    var best: (index: Int, count: Int)?
    for (index, condition) in plan.conditions.enumerated() {
      guard let probe = condition.probe else { continue }
      if probe.isUnique, case .values = probe.wanted { return index }
      // The number of rows with these values is unknown; for an indexed column it is usually small.
      let count = try probe.count(self) ?? 0
      if best.map({ count < $0.count }) ?? true { best = (index, count) }
    }
    guard let best else { return nil }
    let canScan = snapshot != nil && plan.conditions[best.index].column != nil
    let isMost = canScan ? try isMost(best.count, of: table) : false
    return isMost ? nil : best.index
  }

  /// Whether these are too many rows for a lookup each.
  private func isMost(_ count: Int, of table: Int) throws(QueryError) -> Bool {
    let rows = try asking { () throws(EngineError) in try source.count(of: name(table)) }
    return count > rows / Self.scanShare
  }
}
