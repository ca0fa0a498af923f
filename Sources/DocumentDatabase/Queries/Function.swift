// Function.swift: the functions of queries.

/// Calls functions.
public enum Function {
  /// The absolute value.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func abs(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("abs()", [expression])
  }

  /// The arc cosine.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func acos(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("acos()", [expression])
  }

  /// The arc sine.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func asin(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("asin()", [expression])
  }

  /// The arc tangent.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func atan(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("atan()", [expression])
  }

  /// The nearest integer that is not less.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func ceil(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("ceil()", [expression])
  }

  /// The cosine.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func cos(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("cos()", [expression])
  }

  /// An angle in degrees.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func degrees(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("degrees()", [expression])
  }

  /// A power of e.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func exp(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("exp()", [expression])
  }

  /// The nearest integer that is not more.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func floor(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("floor()", [expression])
  }

  /// The natural logarithm.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func ln(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("ln()", [expression])
  }

  /// The logarithm to base 10.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func log(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("log()", [expression])
  }

  /// An angle in radians.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func radians(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("radians()", [expression])
  }

  /// The nearest integer.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func round(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("round()", [expression])
  }

  /// -1, 0 or 1.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func sign(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("sign()", [expression])
  }

  /// The sine.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func sin(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("sin()", [expression])
  }

  /// The square root.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func sqrt(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("sqrt()", [expression])
  }

  /// The tangent.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func tan(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("tan()", [expression])
  }

  /// The integer towards 0.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func trunc(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("trunc()", [expression])
  }

  /// The number of letters.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func length(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("length()", [expression])
  }

  /// The text in small letters.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func lower(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("lower()", [expression])
  }

  /// The text without white space at its start.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func ltrim(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("ltrim()", [expression])
  }

  /// The text without white space at its end.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func rtrim(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("rtrim()", [expression])
  }

  /// The text without white space around it.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func trim(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("trim()", [expression])
  }

  /// The text in capital letters.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func upper(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("upper()", [expression])
  }

  /// The average of all rows.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func avg(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("avg()", [expression])
  }

  /// The largest value of all rows.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func max(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("max()", [expression])
  }

  /// The smallest value of all rows.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func min(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("min()", [expression])
  }

  /// The sum of all rows.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func sum(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("sum()", [expression])
  }

  /// The number of rows with a value.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func count(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("count()", [expression])
  }

  /// Milliseconds since 1970 of a date as a text.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func stringToMillis(_ expression: any ExpressionProtocol) -> any ExpressionProtocol
  {
    CombinedExpression("str_to_millis()", [expression])
  }

  /// A date as a text, in UTC.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func stringToUTC(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("str_to_utc()", [expression])
  }

  /// A text in local time for milliseconds since 1970.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func millisToString(_ expression: any ExpressionProtocol) -> any ExpressionProtocol
  {
    CombinedExpression("millis_to_str()", [expression])
  }

  /// A text in UTC for milliseconds since 1970.
  /// - Parameter expression: The value.
  /// - Returns: The expression.
  public static func millisToUTC(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("millis_to_utc()", [expression])
  }

  /// The number of rows.
  /// - Returns: The expression.
  public static func countAll() -> any ExpressionProtocol {
    CombinedExpression("count()", [Expression.all()])
  }

  /// The angle of a point.
  /// - Parameters:
  ///   - y: Its height.
  ///   - x: Its width.
  /// - Returns: The expression.
  public static func atan2(
    y: any ExpressionProtocol, x: any ExpressionProtocol
  ) -> any ExpressionProtocol {
    CombinedExpression("atan2()", [y, x])
  }

  /// The number e.
  /// - Returns: The expression.
  public static func e() -> any ExpressionProtocol { CombinedExpression("e()", []) }

  /// The number pi.
  /// - Returns: The expression.
  public static func pi() -> any ExpressionProtocol { CombinedExpression("pi()", []) }

  /// A power.
  /// - Parameters:
  ///   - base: The base.
  ///   - exponent: The exponent.
  /// - Returns: The expression.
  public static func power(
    base: any ExpressionProtocol, exponent: any ExpressionProtocol
  ) -> any ExpressionProtocol {
    CombinedExpression("power()", [base, exponent])
  }

  /// The nearest number with some digits.
  /// - Parameters:
  ///   - expression: The number.
  ///   - digits: The number of digits after the point.
  /// - Returns: The expression.
  public static func round(
    _ expression: any ExpressionProtocol, digits: Int
  ) -> any ExpressionProtocol {
    CombinedExpression("round()", [expression, Expression.int(digits)])
  }

  /// The number towards 0 with some digits.
  /// - Parameters:
  ///   - expression: The number.
  ///   - digits: The number of digits after the point.
  /// - Returns: The expression.
  public static func trunc(
    _ expression: any ExpressionProtocol, digits: Int
  ) -> any ExpressionProtocol {
    CombinedExpression("trunc()", [expression, Expression.int(digits)])
  }

  /// Whether a text contains another.
  /// - Parameters:
  ///   - expression: The text.
  ///   - substring: The other one.
  /// - Returns: The expression.
  public static func contains(
    _ expression: any ExpressionProtocol, substring: any ExpressionProtocol
  ) -> any ExpressionProtocol {
    CombinedExpression("contains()", [expression, substring])
  }
}

/// Functions of arrays.
public enum ArrayFunction {
  /// Whether an array contains a value.
  /// - Parameters:
  ///   - expression: The array.
  ///   - value: The value.
  /// - Returns: The expression.
  public static func contains(
    _ expression: any ExpressionProtocol, value: any ExpressionProtocol
  ) -> any ExpressionProtocol {
    CombinedExpression("array_contains()", [expression, value])
  }

  /// The number of items of an array.
  /// - Parameter expression: The array.
  /// - Returns: The expression.
  public static func length(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("array_length()", [expression])
  }
}

/// Conditions on the items of arrays.
public enum ArrayExpression {
  /// An item in a condition.
  /// - Parameter name: The variable's name, with a path: `item.price`.
  /// - Returns: The expression.
  public static func variable(_ name: String) -> any ExpressionProtocol {
    CombinedExpression("?" + name, [])
  }

  /// Whether some item satisfies a condition.
  /// - Parameter variable: The name of an item in the condition.
  /// - Returns: The beginning of the expression.
  public static func any(_ variable: String) -> ArrayExpressionIn {
    ArrayExpressionIn(word: "ANY", variable: variable)
  }

  /// Whether all items satisfy a condition, also when there are none.
  /// - Parameter variable: The name of an item in the condition.
  /// - Returns: The beginning of the expression.
  public static func every(_ variable: String) -> ArrayExpressionIn {
    ArrayExpressionIn(word: "EVERY", variable: variable)
  }

  /// Whether there are items and all satisfy a condition.
  /// - Parameter variable: The name of an item in the condition.
  /// - Returns: The beginning of the expression.
  public static func anyAndEvery(_ variable: String) -> ArrayExpressionIn {
    ArrayExpressionIn(word: "ANY AND EVERY", variable: variable)
  }
}

/// A condition on items, before its array is named.
public struct ArrayExpressionIn: Sendable {
  let word: String
  let variable: String

  /// The array.
  /// - Parameter expression: The array.
  /// - Returns: The expression without its condition.
  public func `in`(_ expression: any ExpressionProtocol) -> ArrayExpressionSatisfies {
    ArrayExpressionSatisfies(word: word, variable: variable, array: expression)
  }
}

/// A condition on items, before the condition is given.
public struct ArrayExpressionSatisfies: Sendable {
  let word: String
  let variable: String
  let array: any ExpressionProtocol

  /// The condition.
  /// - Parameter expression: The condition, with variables.
  /// - Returns: The expression.
  public func satisfies(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression(
      ExpressionTerm(word, [ExpressionTerm(text: variable), array.term, expression.term]))
  }
}

/// A full-text index in a query.
public struct FullTextIndexExpression: Sendable {
  let name: String
  var alias: String?

  /// The index of a source's collection.
  /// - Parameter alias: The source's name.
  /// - Returns: The index.
  public func from(_ alias: String) -> FullTextIndexExpression {
    FullTextIndexExpression(name: name, alias: alias)
  }

  var term: ExpressionTerm { ExpressionTerm(text: (alias.map { $0 + "." } ?? "") + name) }
}

/// Functions of full-text search.
public enum FullTextFunction {
  /// Whether a document has words.
  /// - Parameters:
  ///   - index: The index: `Expression.fullTextIndex(name)`.
  ///   - query: The words: `"red OR blu*"`.
  /// - Returns: The expression.
  public static func match(
    _ index: FullTextIndexExpression, query: String
  ) -> any ExpressionProtocol {
    CombinedExpression(ExpressionTerm("MATCH()", [index.term, ExpressionTerm(text: query)]))
  }

  /// How well a document matches.
  /// - Parameter index: The index.
  /// - Returns: The expression.
  public static func rank(_ index: FullTextIndexExpression) -> any ExpressionProtocol {
    CombinedExpression(ExpressionTerm("RANK()", [index.term]))
  }

  /// Whether a document has words.
  /// - Parameters:
  ///   - indexName: The index's name.
  ///   - query: The words.
  /// - Returns: The expression.
  public static func match(indexName: String, query: String) -> any ExpressionProtocol {
    match(Expression.fullTextIndex(indexName), query: query)
  }

  /// How well a document matches.
  /// - Parameter indexName: The index's name.
  /// - Returns: The expression.
  public static func rank(_ indexName: String) -> any ExpressionProtocol {
    rank(Expression.fullTextIndex(indexName))
  }
}

/// A full-text search by the name of its index.
public struct FullTextExpression: Sendable {
  private let index: FullTextIndexExpression

  /// A search.
  /// - Parameter name: The index's name.
  /// - Returns: The search.
  public static func index(_ name: String) -> FullTextExpression {
    FullTextExpression(index: Expression.fullTextIndex(name))
  }

  /// Whether a document has words.
  /// - Parameter query: The words.
  /// - Returns: The expression.
  public func match(_ query: String) -> any ExpressionProtocol {
    FullTextFunction.match(index, query: query)
  }
}
