// QueryLimits.swift: the bounds of a query, so that no text makes a process grow or hang.

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
  /// The greatest number of an argument.
  public static let argumentMax = 9_999

  /// The most rows and values that one call looks at unless its caller says otherwise.
  public static let stepsDefault = 1 << 28

  /// The most values and rows that one call may look at.
  ///
  /// Paths over lists of lists and nested subqueries multiply, so a short text can ask for more
  /// work than there is time for. A server that runs other people's queries sets less, a program
  /// that knows its queries `Int.max`.
  public var stepsMax = QueryLimits.stepsDefault

  /// Makes the default bounds.
  public init() {}
}
