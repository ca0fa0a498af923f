// QueryLimits.swift: how long, deep and wide a query may be. SQLite has its own limits (127
// operands of a function, 64 sources, expressions 1,000 deep, about 100 open parentheses); a query
// within these reaches none of them but the last.

/// The limits of a query.
package enum QueryLimits {
  /// Bytes of its text.
  package static let sizeMaxBytes = 1 << 18
  /// Nodes of its JSON.
  package static let nodesMax = 20_000
  /// Operators, functions and literals in each other.
  package static let depthMax = 50
  /// Operands of a function, items of a literal array; a dict has at most half as many pairs.
  package static let operandsMax = 126
  /// Operands along one way down the SQL.
  package static let chainMax = 900
  /// Sources of one SELECT, with the tables of indexes that it uses.
  package static let sourcesMax = 60
  /// Columns of a result.
  package static let columnsMax = 1000
  /// Bytes of the SQL before the name of a column is written as its expression.
  package static let sqlMaxBytes = 1 << 20
}
