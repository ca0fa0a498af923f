// Evaluation+Paths.swift: the values that operands have for a row.

import Engine

/// The values of an operand.
enum OperandValues {
  case one(Value)
  case many([Value])

  var all: [Value] {
    switch self {
    case .one(let value): [value]
    case .many(let values): values
    }
  }
}

extension Evaluation {
  /// The values of an operand for the row of the query, followed by those of the subqueries around
  /// the operand.
  func values(_ operand: BoundOperand, _ rows: [QueriedRow]) throws(QueryError) -> OperandValues {
    switch operand {
    case .value(let value): return .one(value)
    case .path(let path): return try values(path, rows)
    case .list(let members):
      var values: [Value] = []
      for member in members { values += try self.values(member, rows).all }
      return .many(values)
    case .arithmetic(let first, let terms):
      var result = try values(first, rows)
      for term in terms {
        let next = try values(term.operand, rows)
        switch (result, next) {
        case (.one(let left), .one(let right)):
          result = .one(Numbers.result(left, term.arithmetic, right))
        case (.many(let left), .one(let right)):
          result = .many(left.map { Numbers.result($0, term.arithmetic, right) })
        case (.one(let left), .many(let right)):
          result = .many(right.map { Numbers.result(left, term.arithmetic, $0) })
        case (.many, .many): preconditionFailure("the binder lets one side have several values")
        }
      }
      return result
    case .subquery(let subquery):
      return .one(.int(try count(subquery, rows)))
    case .engineLink(let table, let key):
      return .one(.typedLink(table: try index(of: table), key: key))
    case .object(let table, let key, let isRowKey):
      return .one(try object(table, key, isRowKey: isRowKey))
    case .number(let text): return .one(Numbers.value(text, nil))
    case .words, .area: return .many([])
    }
  }

  /// The link to the object of a key; a dangling one when there is none.
  func object(_ table: Int, _ key: Value, isRowKey: Bool) throws(QueryError) -> Value {
    let nowhere = Value.typedLink(table: .max, key: 0)
    if isRowKey {
      guard case .int(let number) = key, try row(table, number) != nil else { return nowhere }
      return .typedLink(table: UInt32(table), key: number)
    }
    let definition = schema.tables[table]
    guard let name = definition.primaryKey, let index = definition.column(named: name) else {
      return nowhere
    }
    let id = ColumnID(table: table, column: index)
    let column = schema.column(id)
    if column.isIndexed || column.isUnique {
      let found = try asking { () throws(EngineError) in
        try source.keys(in: self.name(table), column: column.name, equalTo: key)
      }
      return found.first.map { .typedLink(table: UInt32(table), key: $0) } ?? nowhere
    }
    let keys = try asking { () throws(EngineError) in try source.keys(of: self.name(table)) }
    for candidate in keys {
      guard let row = try row(table, candidate) else { continue }
      if Matching.equal(try value(id, row), key) {
        return .typedLink(table: UInt32(table), key: candidate)
      }
    }
    return nowhere
  }

  // MARK: paths

  private func values(_ path: BoundPath, _ rows: [QueriedRow]) throws(QueryError) -> OperandValues {
    if let total = try total(path, rows) { return .one(total) }
    switch path.finish {
    case .none, .type, .length:
      guard path.isMany else {
        var row = rows[path.origin]
        for step in path.steps.dropLast() {
          guard let next = try self.rows(step, row).first else {
            return .one(try finished(.null, path.finish))
          }
          row = next
        }
        let value = try self.values(path.steps[path.steps.count - 1], row)[0]
        return .one(try finished(value, path.finish))
      }
      let values = try all(path, rows)
      guard path.finish != .none else { return .many(values) }
      var finished: [Value] = []
      for value in values { finished.append(try self.finished(value, path.finish)) }
      return .many(finished)
    case .count:
      if path.steps.count == 1, case .elements(let id) = path.steps[0] {
        return .one(.int(Int64(try elementCount(id, rows[path.origin]))))
      }
      return .one(.int(Int64(try all(path, rows).count)))
    case .linkCount:
      return .one(.int(Int64(try all(path, rows).count(where: { $0 != .null }))))
    case .sum where path.isMixed, .average where path.isMixed:
      return .one(
        Numbers.mixedSum(try all(path, rows), isAverage: path.finish == .average))
    case .minimum where path.isMixed, .maximum where path.isMixed:
      return .one(
        Numbers.mixedExtreme(try all(path, rows), isGreatest: path.finish == .maximum))
    case .sum: return .one(Numbers.sum(try all(path, rows), empty: zero(path)))
    case .average: return .one(Numbers.average(try all(path, rows)))
    case .minimum: return .one(Numbers.extreme(try all(path, rows), isGreatest: false))
    case .maximum: return .one(Numbers.extreme(try all(path, rows), isGreatest: true))
    }
  }

  /// What an operation on each value makes of it.
  private func finished(_ value: Value, _ finish: PathFinish) throws(QueryError) -> Value {
    switch finish {
    case .type: .int(try nestedType(value) ?? TypeSet.of(value))
    case .length: try nestedCount(value).map { .int($0) } ?? Numbers.length(value)
    default: value
    }
  }

  /// The sum of no values, with the type that a sum of values has.
  private func zero(_ path: BoundPath) -> Value {
    switch path.steps.last {
    case .value(let id), .elements(let id):
      switch schema.column(id).type {
      case .float, .double: .double(0)
      case .decimal128: .decimal128(.zero)
      default: .int(0)
      }
    default: .int(0)
    }
  }

  /// Every value that a path leads to.
  private func all(_ path: BoundPath, _ rows: [QueriedRow]) throws(QueryError) -> [Value] {
    var values: [Value] = []
    for row in try reached(path, rows) {
      values += try self.values(path.steps[path.steps.count - 1], row)
    }
    if let tally = path.tally { visited(values.count, of: tally) }
    return values
  }

  /// The rows before the last step.
  private func reached(_ path: BoundPath, _ rows: [QueriedRow]) throws(QueryError) -> [QueriedRow] {
    var reached = [rows[path.origin]]
    for step in path.steps.dropLast() {
      var next: [QueriedRow] = []
      for row in reached {
        next += try self.rows(step, row)
        guard next.count <= QueryLimits.pathRowsMax else {
          throw QueryError(
            .limit,
            "a path leads to more than \(QueryLimits.pathRowsMax) rows from the row "
              + "\(name(row.table))[\(row.key)]; follow fewer collections of links in one path")
        }
      }
      reached = next
    }
    return reached
  }

  /// The rows that a path leads to.
  func rows(_ path: BoundPath, _ rows: [QueriedRow]) throws(QueryError) -> [QueriedRow] {
    let before = try reached(path, rows)
    if path.steps.last == .itself { return before }
    var found: [QueriedRow] = []
    for row in before {
      found += try self.rows(
        try self.values(path.steps[path.steps.count - 1], row), areMixed: false)
    }
    return found
  }

  /// The rows that links lead to; mixed ones may lead to rows that were deleted.
  private func rows(_ links: [Value], areMixed: Bool) throws(QueryError) -> [QueriedRow] {
    var rows: [QueriedRow] = []
    for link in links {
      guard case .typedLink(let table, let key) = link, Int(table) < schema.tables.count,
        let row = try areMixed ? existingRow(Int(table), key) : row(Int(table), key)
      else { continue }
      rows.append(row)
    }
    return rows
  }

  private func isMixed(_ id: ColumnID) -> Bool { schema.column(id).type == .mixed }

  /// The rows that one step leads to.
  private func rows(_ step: BoundStep, _ row: QueriedRow) throws(QueryError) -> [QueriedRow] {
    switch step {
    case .link(let id): return try rows([try value(id, row)], areMixed: isMixed(id))
    case .namedLinks(let ids): return try rows(try values(named: ids, row), areMixed: true)
    case .links(let id): return try rows(try elements(id, row), areMixed: isMixed(id))
    case .element(let id, let choice, _):
      return try rows([try element(id, choice, row)], areMixed: isMixed(id))
    case .nested: return try rows(try values(step, row), areMixed: true)
    case .backlinks(let id):
      var found: [QueriedRow] = []
      for key in try backlinks(id, row) {
        if let origin = try self.row(id.table, key) { found.append(origin) }
      }
      return found
    default: preconditionFailure("the binder ends paths with the other steps")
    }
  }

  /// The values of a property that each table has in its own column; in a row whose table has none
  /// it is null, or empty when the property has several values elsewhere.
  private func values(
    named ids: [ColumnID?], _ row: QueriedRow
  ) throws(QueryError) -> [Value] {
    guard let id = ids[row.table] else {
      let areSeveral = ids.contains { $0.map { schema.column($0).collection != .none } ?? false }
      return areSeveral ? [] : [.null]
    }
    return schema.column(id).collection == .none ? [try value(id, row)] : try elements(id, row)
  }

  /// The values that the last step leads to; of steps for one value exactly one.
  private func values(_ step: BoundStep, _ row: QueriedRow) throws(QueryError) -> [Value] {
    switch step {
    case .value(let id): return [try value(id, row)]
    case .elements(let id): return try elements(id, row)
    case .nested(let id, let choice, let choices):
      let starts: [Value]
      if let choice {
        starts = [try element(id, choice, row)]
      } else {
        starts =
          schema.column(id).collection == .none ? [try value(id, row)] : try elements(id, row)
      }
      var found: [Value] = []
      for start in starts { found += try chosen(choices, in: start) }
      return found
    case .named(let ids): return try values(named: ids, row)
    case .keys(let id): return try elements(id, row, areKeys: true)
    case .element(let id, let choice, _): return [try element(id, choice, row)]
    case .elementCount(let id): return [.int(Int64(try elementCount(id, row)))]
    case .linkCount(let ids): return [.int(try linkCount(ids, row))]
    case .itself: return [.typedLink(table: UInt32(row.table), key: row.key)]
    case .link, .links, .backlinks, .namedLinks:
      preconditionFailure("the binder does not end paths so")
    }
  }
}
