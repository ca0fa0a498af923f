// IndexProbe.swift: conditions that a search index evaluates. Invariant: a probe finds exactly the
// rows that match its condition.

import Engine

/// A lookup in the index of a column.
struct IndexProbe: Sendable {
  /// Which values.
  enum Wanted: Sendable {
    /// Any of these.
    case values([Value])
    /// Those from one to another, both included.
    case range(Value, Value)
    /// Texts with words.
    case words(WordSearch)
  }

  let column: ColumnID
  let wanted: Wanted
  let isUnique: Bool

  init?(_ predicate: BoundPredicate, _ schema: QuerySchema) {
    guard case .comparison(let comparison) = predicate, let id = comparison.left.ownColumn,
      comparison.isExact
    else { return nil }
    let definition = schema.column(id)
    if comparison.operation == .text {
      guard definition.isFullText, case .words(let search) = comparison.right,
        search.isIndexable
      else { return nil }
      (column, wanted, isUnique) = (id, .words(search), false)
      return
    }
    guard definition.isIndexed || definition.isUnique || definition.type == .link else {
      return nil
    }
    guard let wanted = Self.wanted(comparison, definition, schema) else { return nil }
    column = id
    self.wanted = wanted
    isUnique = definition.isUnique
  }

  private static func wanted(
    _ comparison: BoundComparison, _ column: ColumnSchema, _ schema: QuerySchema
  ) -> Wanted? {
    switch comparison.right {
    case .value(let value):
      if comparison.operation == .equal {
        return key(value, column, schema).map { .values($0) }
      }
      return range(comparison.operation, value, column)
    case .list(let members) where comparison.operation == .between:
      guard
        case .range(let lower, _)? = members[0].constant.flatMap({
          range(.greaterEqual, $0, column)
        }),
        case .range(_, let upper)? = members[1].constant.flatMap({ range(.lessEqual, $0, column) })
      else { return nil }
      return .range(lower, upper)
    case .list(let members)
    where comparison.operation == .equal && comparison.rightQuantifier == .any:
      var keys: [Value] = []
      for member in members {
        guard let value = member.constant, let key = key(value, column, schema) else {
          return nil
        }
        keys += key
      }
      return .values(keys)
    default: return nil
    }
  }

  /// The values of the column's type that are equal to a constant: one, or none.
  private static func key(_ value: Value, _ column: ColumnSchema, _ schema: QuerySchema) -> [Value]?
  {
    switch (column.type, value) {
    case (.link, .null): return nil
    case (_, .null): return [.null]
    case (.int, .int), (.string, .string), (.bool, .bool), (.binary, .binary), (.date, .date),
      (.objectId, .objectId), (.uuid, .uuid):
      return [value]
    case (.int, .double(let number)): return Int64(exactly: number).map { [.int($0)] } ?? []
    case (.link, .typedLink(let table, let key)):
      guard Int(table) < schema.tables.count else { return [] }
      return schema.tables[Int(table)].schema.name == column.target ? [.link(key)] : []
    default: return nil
    }
  }

  private static func range(
    _ operation: BoundOperator, _ value: Value, _ column: ColumnSchema
  ) -> Wanted? {
    switch (column.type, value) {
    case (.int, .int(let number)):
      switch operation {
      case .less where number > .min: return .range(.int(.min), .int(number - 1))
      case .lessEqual: return .range(.int(.min), .int(number))
      case .greater where number < .max: return .range(.int(number + 1), .int(.max))
      case .greaterEqual: return .range(.int(number), .int(.max))
      default: return nil
      }
    case (.date, .date):
      switch operation {
      case .lessEqual: return .range(.firstDate, value)
      case .greaterEqual: return .range(value, .lastDate)
      default: return nil
      }
    default: return nil
    }
  }

  // MARK: running

  /// How many rows it finds; nil when that requires finding them.
  func count(_ evaluation: Evaluation) throws(QueryError) -> Int? {
    switch wanted {
    case .values, .words: return nil
    case .range(let lower, let upper):
      return try asking { () throws(EngineError) in
        try evaluation.source.count(
          in: evaluation.name(column.table), column: evaluation.schema.column(column).name,
          between: lower, and: upper)
      }
    }
  }

  /// The keys of the rows it finds, ascending.
  func keys(_ evaluation: Evaluation) throws(QueryError) -> [Int64] {
    let table = evaluation.name(column.table)
    let name = evaluation.schema.column(column).name
    switch wanted {
    case .range(let lower, let upper):
      return try asking { () throws(EngineError) in
        try evaluation.source.keys(in: table, column: name, between: lower, and: upper).sorted()
      }
    case .words(let search):
      return try asking { () throws(EngineError) in
        try evaluation.source.keys(in: table, column: name, matching: search)
      }
    case .values(let values):
      var found: [Int64] = []
      for value in values {
        found += try asking { () throws(EngineError) in
          try evaluation.source.keys(in: table, column: name, equalTo: value)
        }
      }
      guard values.count > 1 else { return found }
      found.sort()
      var distinct: [Int64] = []
      for key in found where distinct.last != key { distinct.append(key) }
      return distinct
    }
  }
}
