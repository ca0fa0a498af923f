// QueryFunction.swift: the functions of the language, their numbers of operands, and their names in
// SQL (LITECORE.md, part 10).

/// A function.
package struct QueryFunction: Sendable {
  /// The name in queries, in small letters.
  package let name: String
  /// The name in SQL.
  package let sqlName: String
  /// How many operands it may have.
  package let operands: ClosedRange<Int>
  /// Whether it takes the values of many rows.
  package let isAggregate: Bool

  fileprivate init(
    _ name: String, _ operands: ClosedRange<Int>, _ sqlName: String? = nil,
    isAggregate: Bool = false
  ) {
    self.name = name
    self.sqlName = sqlName ?? name
    self.operands = operands
    self.isAggregate = isAggregate
  }

  /// The function with a name, ignoring case.
  package static func named(_ name: String) -> QueryFunction? { byName[name.lowercased()] }

  /// The names of all functions.
  package static let names = all.map(\.name)

  private static let byName = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }

  /// All functions; the order decides among equally near names.
  package static let all =
    arrays + comparisons + numbers + patterns + texts + types + dates + aggregates

  private static let many = 126

  private static let arrays = [
    QueryFunction("array_avg", 1...1), QueryFunction("array_contains", 2...2),
    QueryFunction("array_count", 1...1), QueryFunction("array_ifnull", 1...1),
    QueryFunction("array_length", 1...1), QueryFunction("array_max", 1...1),
    QueryFunction("array_min", 1...1), QueryFunction("array_of", 0...many),
    QueryFunction("array_sum", 1...1),
  ]

  private static let comparisons = [
    QueryFunction("greatest", 1...many, "max"), QueryFunction("least", 1...many, "min"),
    QueryFunction("ifmissing", 2...many, "coalesce"),
    QueryFunction("ifnull", 2...many, "N1QL_ifnull"),
    QueryFunction("ifmissingornull", 2...many), QueryFunction("missingif", 2...2),
    QueryFunction("nullif", 2...2, "N1QL_nullif"),
  ]

  private static let numbers =
    [
      "abs", "acos", "asin", "atan", "ceil", "cos", "degrees", "exp", "floor", "ln", "log",
      "radians", "sign", "sin", "sqrt", "tan",
    ].map { QueryFunction($0, 1...1) }
    + ["round", "round_even", "trunc"].map { QueryFunction($0, 1...2) }
    + ["atan2", "power", "div", "idiv"].map { QueryFunction($0, 2...2) }
    + ["e", "pi"].map { QueryFunction($0, 0...0) }

  private static let patterns = [
    QueryFunction("regexp_contains", 2...2), QueryFunction("regexp_like", 2...2),
    QueryFunction("regexp_position", 2...2), QueryFunction("regexp_replace", 3...4),
  ]

  private static let texts = [
    QueryFunction("fl_like", 2...3), QueryFunction("concat", 2...many),
    QueryFunction("contains", 2...2), QueryFunction("length", 1...1, "N1QL_length"),
    QueryFunction("lower", 1...1, "N1QL_lower"), QueryFunction("ltrim", 1...2, "N1QL_ltrim"),
    QueryFunction("rtrim", 1...2, "N1QL_rtrim"), QueryFunction("trim", 1...2, "N1QL_trim"),
    QueryFunction("upper", 1...1, "N1QL_upper"),
  ]

  private static let types =
    ["array", "atom", "boolean", "number", "object", "string"].flatMap { type in
      [
        QueryFunction("is\(type)", 1...1), QueryFunction("is_\(type)", 1...1, "is\(type)"),
        QueryFunction("to\(type)", 1...1), QueryFunction("to_\(type)", 1...1, "to\(type)"),
      ]
    } + [QueryFunction("type", 1...1), QueryFunction("typename", 1...1, "type")]

  private static let dates = [
    QueryFunction("millis_to_str", 1...2), QueryFunction("millis_to_utc", 1...2),
    QueryFunction("millis_to_tz", 2...3), QueryFunction("str_to_millis", 1...1),
    QueryFunction("str_to_utc", 1...2), QueryFunction("str_to_tz", 2...3),
    QueryFunction("date_diff_str", 3...3), QueryFunction("date_diff_millis", 3...3),
    QueryFunction("date_add_str", 3...4), QueryFunction("date_add_millis", 3...3),
  ]

  private static let aggregates =
    ["array_agg", "avg", "max", "min", "sum"].map { QueryFunction($0, 1...1, isAggregate: true) }
    + [QueryFunction("count", 0...1, isAggregate: true)]
}
