// PlainQueries.swift: whole queries answered the simple way: every combination of sources, one
// after the other, then conditions, groups, order and limits.

/// A collection of documents.
package struct PlainCollection {
  package let documents: [(id: String, value: PlainValue)]

  package init(_ documents: [(id: String, value: PlainValue)]) { self.documents = documents }

  /// The rows of a query, and whether their order counts.
  package func rows(
    of query: PlainValue
  ) throws -> (rows: [[PlainValue]], isOrdered: Bool) {
    guard case .dict(let clauses) = query else { throw PlainValue.Open() }
    var scopes = try sources(clauses["FROM"])
    var columns = list(clauses["WHAT"])
    let names = Self.unwrap(&columns)
    for index in scopes.indices { scopes[index].columns = names }
    if let condition = clauses["WHERE"] {
      scopes = try scopes.filter { try PlainExpressions.value(condition, $0).truth == true }
    }
    let order = list(clauses["ORDER_BY"])
    var rows: [(columns: [PlainValue], keys: [PlainValue])]
    if let grouping = clauses["GROUP_BY"] {
      rows = try groups(
        scopes, by: list(grouping), columns, order: order, having: clauses["HAVING"])
    } else if columns.contains(where: { Self.isAggregate($0) }) {
      rows = [(try columns.map { try Self.column($0, scopes) }, [])]
    } else {
      rows = try scopes.map { scope in
        (
          try columns.map { try Self.column($0, [scope]) },
          try order.map { try PlainExpressions.value(Self.term($0).expression, scope) }
        )
      }
    }
    if clauses["DISTINCT"] == .boolean(true) { rows = try Self.distinct(rows) }
    if !order.isEmpty { rows = try sorted(rows, order) }
    var found = rows.map(\.columns)
    if case .integer(let offset)? = clauses["OFFSET"] {
      found = Array(found.dropFirst(Int(max(0, offset))))
    }
    if case .integer(let limit)? = clauses["LIMIT"] {
      found = Array(found.prefix(Int(max(0, limit))))
    }
    return (found, !order.isEmpty)
  }

  private func list(_ value: PlainValue?) -> [PlainValue] {
    if case .array(let items)? = value { return items }
    return []
  }

  private func sources(_ from: PlainValue?) throws -> [PlainScope] {
    var scopes = documents.map { document in
      PlainScope(sources: [("_doc", document.value, document.id)])
    }
    for (index, source) in list(from).enumerated() {
      guard case .dict(let keys) = source, case .text(let name)? = keys["AS"] else {
        throw PlainValue.Open()
      }
      if index == 0 {
        scopes = documents.map { PlainScope(sources: [(name, $0.value, $0.id)]) }
      } else if let unnest = keys["UNNEST"] {
        scopes = try scopes.flatMap { scope in
          PlainExpressions.items(of: try PlainExpressions.value(unnest, scope)).map { item in
            var inner = scope
            inner.sources.append((name, item, nil))
            return inner
          }
        }
      } else {
        let isLeft = keys["JOIN"] == .text("LEFT OUTER")
        scopes = try scopes.flatMap { try join($0, name, keys["ON"], isLeft: isLeft) }
      }
    }
    return scopes
  }

  private func join(
    _ scope: PlainScope, _ name: String, _ condition: PlainValue?, isLeft: Bool
  ) throws -> [PlainScope] {
    var found: [PlainScope] = []
    for document in documents {
      var inner = scope
      inner.sources.append((name, document.value, document.id))
      let isMet = try condition.map { try PlainExpressions.value($0, inner).truth == true } ?? true
      if isMet { found.append(inner) }
    }
    if found.isEmpty, isLeft {
      var inner = scope
      inner.sources.append((name, .missing, nil))
      found.append(inner)
    }
    return found
  }

  /// Takes the names off columns.
  /// - Returns: Their expressions, by name.
  private static func unwrap(_ columns: inout [PlainValue]) -> [String: PlainValue] {
    var names: [String: PlainValue] = [:]
    for (index, column) in columns.enumerated() {
      guard case .array(let list) = column, list.count == 3, list[0] == .text("AS"),
        case .text(let name) = list[2]
      else { continue }
      columns[index] = list[1]
      names[name] = list[1]
    }
    return names
  }

  private static let aggregates = ["count()", "sum()", "min()", "max()", "avg()"]

  private static func isAggregate(_ expression: PlainValue) -> Bool {
    guard case .array(let list) = expression, case .text(let name)? = list.first else {
      return false
    }
    return aggregates.contains(name)
  }

  private static let booleans = [
    "=", "!=", "<", "<=", ">", ">=", "IS", "IS NOT", "NOT", "BETWEEN", "AND", "OR", "NOT IN",
    "EVERY", "ANY AND EVERY",
  ]

  /// A column's value, of one row or of a group.
  private static func column(
    _ expression: PlainValue, _ scopes: [PlainScope]
  ) throws -> PlainValue {
    if isAggregate(expression) { return try aggregate(expression, scopes) }
    guard let scope = scopes.first else { throw PlainValue.Open() }
    let value = try PlainExpressions.value(expression, scope.withoutColumns)
    guard case .array(let list) = expression, case .text(let name)? = list.first,
      booleans.contains(name)
    else { return value }
    return value.truth.map { value == .null ? .null : .boolean($0) } ?? .missing
  }

  private static func aggregate(
    _ expression: PlainValue, _ scopes: [PlainScope]
  ) throws -> PlainValue {
    guard case .array(let list) = expression, case .text(let name)? = list.first else {
      throw PlainValue.Open()
    }
    let values = try scopes.map { try PlainExpressions.value(list[1], $0.withoutColumns) }
      .filter { $0 != .missing }
    if name == "count()" { return .integer(Int64(values.count)) }
    guard let first = values.first else { return .missing }
    if name == "min()" || name == "max()" {
      var best = first
      for value in values.dropFirst() {
        let order = try value.order(best)
        if order == 0, value != best { throw PlainValue.Open() }
        if name == "max()" ? order > 0 : order < 0 { best = value }
      }
      return best
    }
    // Sums are of doubles or of integers, depending on the values; texts are not tested.
    guard !values.contains(where: { if case .text = $0 { true } else { false } }) else {
      throw PlainValue.Open()
    }
    let numbers = values.map(\.number)
    let sum = numbers.reduce(0) { $0 + $1.double }
    if name == "avg()" { return .real(sum / Double(values.count)) }
    let isWhole = values.allSatisfy {
      switch $0 {
      case .integer, .boolean: true
      default: false
      }
    }
    return isWhole ? .integer(Int64(sum)) : .real(sum)
  }

  private func groups(
    _ scopes: [PlainScope], by grouping: [PlainValue], _ columns: [PlainValue],
    order: [PlainValue], having: PlainValue?
  ) throws -> [(columns: [PlainValue], keys: [PlainValue])] {
    var groups: [(keys: [PlainValue], scopes: [PlainScope])] = []
    for scope in scopes {
      let keys = try grouping.map { try PlainExpressions.value($0, scope) }
      if let index = groups.firstIndex(where: { $0.keys == keys }) {
        groups[index].scopes.append(scope)
      } else {
        groups.append((keys, [scope]))
      }
    }
    return try groups.compactMap { group in
      if case .array(let list)? = having, list.count == 3 {
        let value = try Self.aggregate(list[1], group.scopes)
        guard case .text(let name) = list[0],
          try PlainOperators.value(name, [value, list[2]]).truth == true
        else { return nil }
      }
      return (
        try columns.map { try Self.column($0, group.scopes) },
        try order.map { try Self.column(Self.term($0).expression, group.scopes) }
      )
    }
  }

  private static func distinct(
    _ rows: [(columns: [PlainValue], keys: [PlainValue])]
  ) throws -> [(columns: [PlainValue], keys: [PlainValue])] {
    var kept: [(columns: [PlainValue], keys: [PlainValue])] = []
    for row in rows where !kept.contains(where: { $0.columns == row.columns }) { kept.append(row) }
    return kept
  }

  private static func term(_ term: PlainValue) -> (expression: PlainValue, isDown: Bool) {
    guard case .array(let list) = term, list.count == 2, list[0] == .text("DESC") else {
      return (term, false)
    }
    return (list[1], true)
  }

  private func sorted(
    _ rows: [(columns: [PlainValue], keys: [PlainValue])], _ order: [PlainValue]
  ) throws -> [(columns: [PlainValue], keys: [PlainValue])] {
    let directions = order.map { Self.term($0).isDown }
    var sorted: [(columns: [PlainValue], keys: [PlainValue])] = []
    for row in rows {
      var place = sorted.count
      while place > 0, try precedes(row.keys, sorted[place - 1].keys, directions) { place -= 1 }
      sorted.insert(row, at: place)
    }
    return sorted
  }

  private func precedes(
    _ first: [PlainValue], _ second: [PlainValue], _ directions: [Bool]
  ) throws -> Bool {
    for (index, (one, two)) in zip(first, second).enumerated() {
      let order = try one.order(two)
      if order != 0 { return directions[index] ? order > 0 : order < 0 }
    }
    return false
  }
}
