// ColumnCondition.swift: conditions that the engine's scans evaluate for whole columns: a column of
// the table itself compared with a constant, AND, OR and NOT of these, and a column reached through
// links: the matching rows there are found first, and then the links that lead to one of them.
// Invariant: a condition made here matches the same rows as the predicate it was made from, so a
// constant that a scan cannot express exactly gives no condition.

import Engine

/// A condition on the columns of one table.
indirect enum ColumnCondition: Sendable {
  case constant(Bool)
  case isNull(Int)
  case int(Int, Comparison<Int64>)
  case bool(Int, Bool)
  case double(Int, Comparison<Double>)
  case float(Int, Comparison<Float>)
  case text(Int, String, isPrefix: Bool)
  case search(Int, TextSearch)
  /// Integers, ascending, and texts, of which the value may be any.
  case ints(Int, [Int64])
  case texts(Int, [String])
  /// A link column, the table that it leads to, and the condition there.
  case linked(Int, table: Int, ColumnCondition)
  case all([ColumnCondition])
  case any([ColumnCondition])
  case not(ColumnCondition)

  /// The most bytes of a text that is searched for by a scan, whose work grows with them.
  private static let searchBytesMax = 64
  /// The most constants of a list that are searched by a scan each.
  private static let listCountMax = 16

  // MARK: making

  init?(_ predicate: BoundPredicate, _ schema: QuerySchema) {
    switch predicate {
    case .constant(let isTrue): self = .constant(isTrue)
    case .not(let member):
      guard let member = ColumnCondition(member, schema) else { return nil }
      self = .not(member)
    case .all(let members), .any(let members):
      var conditions: [ColumnCondition] = []
      for member in members {
        guard let condition = ColumnCondition(member, schema) else { return nil }
        conditions.append(condition)
      }
      if case .all = predicate { self = .all(conditions) } else { self = .any(conditions) }
    case .comparison(let comparison):
      guard let condition = Self.made(of: comparison, schema) else { return nil }
      self = condition
    }
  }

  private static func made(
    of comparison: BoundComparison, _ schema: QuerySchema
  ) -> ColumnCondition? {
    if let path = comparison.left.linkedColumn {
      guard comparison.leftQuantifier == .any, comparison.failsNull,
        let condition = made(of: comparison, path.column, schema)
      else { return nil }
      var (linked, target) = (condition, path.column.table)
      for link in path.links.reversed() {
        (linked, target) = (.linked(link.column, table: target, linked), link.table)
      }
      return linked
    }
    return comparison.left.ownColumn.flatMap { made(of: comparison, $0, schema) }
  }

  private static func made(
    of comparison: BoundComparison, _ id: ColumnID, _ schema: QuerySchema
  ) -> ColumnCondition? {
    let column = schema.column(id)
    if let search = search(comparison, id.column, column) { return search }
    guard comparison.isExact else { return nil }
    switch comparison.right {
    case .value(let value):
      return made(id.column, column, comparison.operation, value, schema)
    case .list(let members) where comparison.operation == .between:
      guard let lower = members[0].constant, let upper = members[1].constant,
        let first = made(id.column, column, .greaterEqual, lower, schema),
        let second = made(id.column, column, .lessEqual, upper, schema)
      else { return nil }
      return .all([first, second])
    case .list(let members):
      guard comparison.rightQuantifier == .any, comparison.operation == .equal else { return nil }
      var conditions: [ColumnCondition] = []
      for member in members {
        guard let value = member.constant,
          let condition = made(id.column, column, .equal, value, schema)
        else { return nil }
        conditions.append(condition)
      }
      return any(conditions, of: id.column)
    default: return nil
    }
  }

  /// A text column that is searched for a constant text, folded or at any place; nil for what the
  /// other conditions do faster.
  private static func search(
    _ comparison: BoundComparison, _ index: Int, _ column: ColumnSchema
  ) -> ColumnCondition? {
    guard column.type == .string, case .value(.string(let text)) = comparison.right,
      text.utf8.count <= searchBytesMax
    else { return nil }
    let place: TextSearch.Place
    switch comparison.operation {
    case .contains: place = .anywhere
    case .endsWith: place = .end
    case .beginsWith where !comparison.isExact: place = .start
    case .equal where !comparison.isExact, .notEqual where !comparison.isExact: place = .whole
    default: return nil
    }
    let found = ColumnCondition.search(
      index,
      TextSearch(
        text, at: place, ignoresCase: comparison.ignoresCase,
        ignoresMarks: comparison.ignoresMarks))
    return comparison.operation == .notEqual ? .not(found) : found
  }

  /// Any of the conditions that a list's constants give: many integers or texts are searched at
  /// once, other constants only where there are few.
  private static func any(_ conditions: [ColumnCondition], of column: Int) -> ColumnCondition? {
    guard conditions.count > listCountMax else { return .any(conditions) }
    var (ints, texts, others): ([Int64], [String], [ColumnCondition]) = ([], [], [])
    for condition in conditions {
      switch condition {
      case .int(_, .equal(let number)): ints.append(number)
      case .text(_, let text, isPrefix: false): texts.append(text)
      case .isNull where others.contains { if case .isNull = $0 { true } else { false } }: break
      default: others.append(condition)
      }
    }
    if !ints.isEmpty { others.append(.ints(column, ints.sorted())) }
    if !texts.isEmpty { others.append(.texts(column, texts)) }
    return others.count <= listCountMax ? .any(others) : nil
  }

  private static func made(
    _ index: Int, _ column: ColumnSchema, _ operation: BoundOperator, _ value: Value,
    _ schema: QuerySchema
  ) -> ColumnCondition? {
    if value == .null {
      guard column.type != .mixed else { return nil }
      switch operation {
      case .equal, .lessEqual, .greaterEqual: return .isNull(index)
      case .notEqual: return .not(.isNull(index))
      case .less, .greater: return .constant(false)
      default: return nil
      }
    }
    switch column.type {
    case .int: return int(index, operation, value)
    case .double:
      switch value {
      case .double(let number): return floating(operation, number).map { .double(index, $0) }
      case .float(let number): return floating(operation, Double(number)).map { .double(index, $0) }
      case .int(let number):
        guard let exact = Double(exactly: number) else { return nil }
        return floating(operation, exact).map { .double(index, $0) }
      default: return nil
      }
    case .float: return float(index, operation, value)
    case .bool:
      guard case .bool(let isTrue) = value else { return nil }
      switch operation {
      case .equal: return .bool(index, isTrue)
      case .notEqual: return .not(.bool(index, isTrue))
      default: return nil
      }
    case .string:
      guard case .string(let text) = value else { return nil }
      switch operation {
      case .equal: return .text(index, text, isPrefix: false)
      case .notEqual: return .not(.text(index, text, isPrefix: false))
      case .beginsWith: return .text(index, text, isPrefix: true)
      default: return nil
      }
    case .link: return link(index, column, operation, value, schema)
    default: return nil
    }
  }

  private static func link(
    _ index: Int, _ column: ColumnSchema, _ operation: BoundOperator, _ value: Value,
    _ schema: QuerySchema
  ) -> ColumnCondition? {
    guard case .typedLink(let table, let key) = value, Int(table) < schema.tables.count,
      schema.tables[Int(table)].schema.name == column.target
    else { return nil }
    switch operation {
    case .equal: return .int(index, .equal(key))
    case .notEqual: return .int(index, .notEqual(key))
    default: return nil
    }
  }

  // MARK: numbers

  private static func floating<Number>(
    _ operation: BoundOperator, _ number: Number
  ) -> Comparison<Number>? {
    switch operation {
    case .equal: .equal(number)
    case .notEqual: .notEqual(number)
    case .less: .less(number)
    case .lessEqual: .atMost(number)
    case .greater: .greater(number)
    case .greaterEqual: .atLeast(number)
    default: nil
    }
  }

  private static func int(
    _ index: Int, _ operation: BoundOperator, _ value: Value
  ) -> ColumnCondition? {
    switch value {
    case .int(let number): return floating(operation, number).map { .int(index, $0) }
    case .float(let number): return int(index, operation, Double(number))
    case .double(let number): return int(index, operation, number)
    default: return nil
    }
  }

  /// An int column against a number with a fraction, or one that no int reaches.
  private static func int(
    _ index: Int, _ operation: BoundOperator, _ number: Double
  ) -> ColumnCondition? {
    if let exact = Int64(exactly: number) {
      return floating(operation, exact).map { .int(index, $0) }
    }
    let isAbove: Bool
    switch operation {
    case .equal: return .constant(false)
    case .notEqual: return .constant(true)
    case .less, .lessEqual: isAbove = false
    case .greater, .greaterEqual: isAbove = true
    default: return nil
    }
    if number.isNaN { return .constant(false) }
    if number >= 0x1p63 { return isAbove ? .constant(false) : .int(index, .atMost(.max)) }
    if number < -0x1p63 { return isAbove ? .int(index, .atLeast(.min)) : .constant(false) }
    return isAbove
      ? .int(index, .atLeast(Int64(number.rounded(.up))))
      : .int(index, .atMost(Int64(number.rounded(.down))))
  }

  private static func float(
    _ index: Int, _ operation: BoundOperator, _ value: Value
  ) -> ColumnCondition? {
    let number: Double
    switch value {
    case .float(let exact): return floating(operation, exact).map { .float(index, $0) }
    case .double(let double): number = double
    case .int(let int):
      guard let exact = Double(exactly: int) else { return nil }
      number = exact
    default: return nil
    }
    let nearest = Float(number)
    if number.isNaN || Double(nearest) == number {
      return floating(operation, nearest).map { .float(index, $0) }
    }
    // No float equals the number: the floats below it are up to `nearest` or below that.
    let isBelow = Double(nearest) < number
    switch operation {
    case .equal: return .constant(false)
    case .notEqual: return .constant(true)
    case .less, .lessEqual: return .float(index, isBelow ? .atMost(nearest) : .less(nearest))
    case .greater, .greaterEqual:
      return .float(index, isBelow ? .greater(nearest) : .atLeast(nearest))
    default: return nil
    }
  }

  // MARK: running

  /// The linked tables that have to be scanned first.
  var linkedTables: [Int] {
    switch self {
    case .linked(_, let table, let condition): [table] + condition.linkedTables
    case .all(let members), .any(let members): members.flatMap(\.linkedTables)
    case .not(let member): member.linkedTables
    default: []
    }
  }

  /// The condition in the form of the engine's scans; `table` is the one it applies to, and
  /// `readers` returns the reader of a table.
  func test(
    _ table: Int, _ schema: QuerySchema, _ readers: (Int) throws(EngineError) -> TableReader
  ) throws(EngineError) -> RowTest {
    let reader = try readers(table)
    let columns = schema.tables[table].schema.columns
    switch self {
    case .constant(let isTrue): return isTrue ? .all([]) : .any([])
    case .isNull(let index): return try reader.test(isNull: columns[index].name)
    case .int(let index, let comparison):
      return try reader.test(reader.column(columns[index].name, of: Int64.self), comparison)
    case .bool(let index, let isTrue):
      return try reader.test(reader.column(columns[index].name, of: Bool.self), equalTo: isTrue)
    case .double(let index, let comparison):
      return try reader.test(reader.column(columns[index].name, of: Double.self), comparison)
    case .float(let index, let comparison):
      return try reader.test(reader.column(columns[index].name, of: Float.self), comparison)
    case .text(let index, let text, let isPrefix):
      let column = try reader.column(columns[index].name, of: String.self)
      return isPrefix
        ? try reader.test(column, withPrefix: text) : try reader.test(column, equalTo: text)
    case .search(let index, let search):
      return try reader.test(reader.column(columns[index].name, of: String.self), search)
    case .ints(let index, let numbers):
      let column = try reader.column(columns[index].name, of: Int64.self)
      return try reader.test(column, leadsToOneOf: numbers)
    case .texts(let index, let texts):
      let column = try reader.column(columns[index].name, of: String.self)
      return try reader.test(column, isOneOf: texts)
    case .linked(let index, let target, let condition):
      let keys = try readers(target).keys(where: condition.test(target, schema, readers))
      return try reader.test(
        reader.column(columns[index].name, of: Int64.self), leadsToOneOf: keys)
    case .not(let member): return .not(try member.test(table, schema, readers))
    case .all(let members), .any(let members):
      var tests: [RowTest] = []
      for member in members { tests.append(try member.test(table, schema, readers)) }
      if case .all = self { return .all(tests) }
      return .any(tests)
    }
  }
}

extension BoundComparison {
  /// Whether a null on the left certainly does not match.
  var failsNull: Bool {
    switch operation {
    case .equal, .less, .lessEqual, .greater, .greaterEqual, .between, .beginsWith, .endsWith,
      .contains:
      break
    default: return false
    }
    switch right {
    case .value(let value): return value != .null
    case .list(let members):
      return members.allSatisfy { member in member.constant.map { $0 != .null } ?? false }
    default: return false
    }
  }
}

extension BoundOperand {
  /// The column that the operand reads in the query's own row; nil when it does anything else.
  var ownColumn: ColumnID? {
    guard case .path(let path) = self, path.origin == 0, path.steps.count == 1,
      path.finish == .none, case .value(let id) = path.steps[0]
    else { return nil }
    return id
  }

  /// The column that the operand reads through single links; nil when it does anything else.
  fileprivate var linkedColumn: (links: [ColumnID], column: ColumnID)? {
    guard case .path(let path) = self, path.origin == 0, path.finish == .none,
      path.steps.count > 1, case .value(let id)? = path.steps.last
    else { return nil }
    var links: [ColumnID] = []
    for step in path.steps.dropLast() {
      guard case .link(let link) = step else { return nil }
      links.append(link)
    }
    return (links, id)
  }
}
