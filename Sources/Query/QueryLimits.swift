// QueryLimits.swift: the bounds of a query, so that no text can exhaust memory or hang a process.

/// Bounds of texts and of the work that one call may do.
public struct QueryLimits: Hashable, Sendable {
  /// The longest text, in bytes of UTF-8.
  public static let textBytesMax = 1 << 20
  /// The deepest nesting of parentheses, `NOT`, lists and subqueries.
  public static let depthMax = 100
  /// The most steps of one path.
  public static let pathStepsMax = 32
  /// The longest text of one number, in bytes.
  public static let numberBytesMax = 128
  /// The most rows that one path leads to from one row, where links of many multiply.
  public static let pathRowsMax = 1 << 22
  /// The most pairs of edges of one polygon that are checked for crossing.
  public static let polygonPairsMax = 1 << 22
  /// The greatest number of an argument.
  public static let argumentMax = 9_999

  /// The default limit of the rows and values that one call visits.
  public static let stepsDefault = 1 << 28

  /// The most values and rows that one call may visit.
  ///
  /// Paths over lists of lists and nested subqueries multiply, so a short text can require an
  /// unbounded amount of work. A server that runs untrusted queries sets a lower value, a program
  /// that runs only its own queries `Int.max`.
  public var stepsMax = QueryLimits.stepsDefault

  /// Makes the default bounds.
  public init() {}
}
