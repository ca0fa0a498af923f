// Evaluation+Conditions.swift: whether a row passes a condition.

import Engine

extension Evaluation {
  /// Whether a condition holds for the row of the query, followed by those of the subqueries around
  /// the condition.
  func passes(_ predicate: BoundPredicate, _ rows: [QueriedRow]) throws(QueryError) -> Bool {
    switch predicate {
    case .constant(let isTrue): return isTrue
    case .all(let members):
      for member in members {
        guard try passes(member, rows) else { return false }
      }
      return true
    case .any(let members):
      for member in members {
        if try passes(member, rows) { return true }
      }
      return false
    case .not(let member): return try !passes(member, rows)
    case .comparison(let comparison): return try passes(comparison, rows)
    }
  }

  private func passes(
    _ comparison: BoundComparison, _ rows: [QueriedRow]
  ) throws(QueryError) -> Bool {
    try spend(1)
    if let answer = try inPlace(comparison, rows) { return answer }
    let left = try values(comparison.left, rows)
    let right = comparison.operation == .between ? .one(.null) : try values(comparison.right, rows)
    switch (left, right) {
    case (.many(let left), .many(let right)) where comparison.isWhole:
      return try areInPairs(left, right, comparison, rows)
    case (.one(let value), _): return try passes(value, right, comparison, rows)
    case (.many(let values), _):
      return try Self.quantified(comparison.leftQuantifier, values) { value throws(QueryError) in
        try passes(value, right, comparison, rows)
      }
    }
  }

  /// Whether two collections have as many elements, and each pair of them passes; `!=` means that
  /// not all are equal.
  private func areInPairs(
    _ left: [Value], _ right: [Value], _ comparison: BoundComparison, _ rows: [QueriedRow]
  ) throws(QueryError) -> Bool {
    let isDifference = comparison.operation == .notEqual
    guard left.count == right.count else { return isDifference }
    for (left, right) in zip(left, right)
    where try passes(left, .one(right), comparison, rows) == isDifference {
      return isDifference
    }
    return !isDifference
  }

  private func passes(
    _ left: Value, _ right: OperandValues, _ comparison: BoundComparison, _ rows: [QueriedRow]
  ) throws(QueryError) -> Bool {
    switch comparison.operation {
    case .between: return try isBetween(left, comparison, rows)
    case .text:
      guard case .words(let words) = comparison.right, case .string(let text) = left else {
        return false
      }
      try spend(text.utf8.count >> 6)
      return words.matches(text)
    case .within: return try isWithin(left, comparison)
    default: break
    }
    if comparison.operation == .like || comparison.operation == .contains {
      try spend(left, right)
    }
    let left = Self.folded(left, comparison)
    switch right {
    case .one(let value):
      return Matching.passes(
        comparison.operation, left, Self.folded(value, comparison))
    case .many(let values):
      try spend(values.count)
      return try Self.quantified(comparison.rightQuantifier, values) { value in
        Matching.passes(comparison.operation, left, Self.folded(value, comparison))
      }
    }
  }

  /// Counts the work of searching a text, which grows with both sizes.
  private func spend(_ text: Value, _ wanted: OperandValues) throws(QueryError) {
    guard let text = Text.byteCount(text) else { return }
    for value in wanted.all {
      guard let wanted = Text.byteCount(value) else { continue }
      try spend(text * wanted >> 12)
    }
  }

  /// A text without the differences that the comparison ignores.
  private static func folded(_ value: Value, _ comparison: BoundComparison) -> Value {
    if comparison.isExact { return value }
    if case .binary(let bytes) = value, comparison.ignoresCase {
      return .binary(Text.folded(bytes))
    }
    guard case .string(var text) = value else { return value }
    if comparison.ignoresMarks { text = Text.withoutMarks(text) }
    return .string(comparison.ignoresCase ? Text.folded(text) : text)
  }

  private static func quantified(
    _ quantifier: Quantifier, _ values: [Value], _ test: (Value) throws(QueryError) -> Bool
  ) throws(QueryError) -> Bool {
    for value in values where try test(value) != (quantifier == .all) {
      return quantifier == .any
    }
    return quantifier != .any
  }

  private func isBetween(
    _ value: Value, _ comparison: BoundComparison, _ rows: [QueriedRow]
  ) throws(QueryError) -> Bool {
    guard case .list(let ends) = comparison.right,
      case .one(let lower) = try values(ends[0], rows),
      case .one(let upper) = try values(ends[1], rows)
    else { return false }
    return Matching.passes(.greaterEqual, value, lower)
      && Matching.passes(.lessEqual, value, upper)
  }

  /// Whether the row of a link is a point in the area.
  private func isWithin(_ link: Value, _ comparison: BoundComparison) throws(QueryError) -> Bool {
    guard case .area(let area) = comparison.right, case .typedLink(let table, let key) = link,
      Int(table) < schema.tables.count, let place = try row(Int(table), key)
    else { return false }
    let columns = schema.tables[Int(table)]
    guard let type = columns.column(named: "type"),
      let coordinates = columns.column(named: "coordinates"),
      try value(ColumnID(table: Int(table), column: type), place) == .string("Point")
    else { return false }
    let numbers = try elements(ColumnID(table: Int(table), column: coordinates), place)
    guard numbers.count >= 2, case .double(let longitude) = numbers[0],
      case .double(let latitude) = numbers[1]
    else { return false }
    return area.contains(GeoPoint(longitude: longitude, latitude: latitude))
  }

  // MARK: texts in place

  /// The result for a text column and a constant text, without making a String; nil for others.
  private func inPlace(
    _ comparison: BoundComparison, _ rows: [QueriedRow]
  ) throws(QueryError) -> Bool? {
    guard let wanted = comparison.wantedBytes, case .path(let path) = comparison.left,
      path.steps.count == 1, case .value(let id) = path.steps[0], path.finish == .none
    else { return nil }
    let operation = comparison.operation
    let answer = try withText(id, rows[path.origin]) { text in
      switch operation {
      case .equal: Self.is(wanted, in: text, at: 0) && text.count == wanted.count
      case .notEqual: !(Self.is(wanted, in: text, at: 0) && text.count == wanted.count)
      case .beginsWith: Self.is(wanted, in: text, at: 0)
      case .endsWith: Self.is(wanted, in: text, at: text.count - wanted.count)
      default: Self.isAnywhere(wanted, in: text)
      }
    }
    guard let answer else { return nil }
    return answer ?? (operation == .notEqual)
  }

  private static func `is`(_ wanted: [UInt8], in text: Span<UInt8>, at start: Int) -> Bool {
    guard start >= 0, text.count - start >= wanted.count else { return false }
    for index in wanted.indices where text[start + index] != wanted[index] { return false }
    return true
  }

  private static func isAnywhere(_ wanted: [UInt8], in text: Span<UInt8>) -> Bool {
    guard let first = wanted.first else { return true }
    guard text.count >= wanted.count else { return false }
    for start in 0...(text.count - wanted.count) where text[start] == first {
      if `is`(wanted, in: text, at: start) { return true }
    }
    return false
  }
}
