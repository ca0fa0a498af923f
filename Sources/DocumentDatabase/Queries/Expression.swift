// Expression.swift: the expressions of queries, with the methods that combine them.

import Foundation

/// Makes expressions.
///
/// Foundation has a type of this name, too. A file that imports both says which one it means:
/// `typealias Expression = DocumentDatabase.Expression`.
public enum Expression {
  /// A property of the document.
  /// - Parameter property: Its path: `address.city`.
  /// - Returns: The expression.
  public static func property(_ property: String) -> PropertyExpression {
    PropertyExpression(path: property)
  }

  /// The document with all of its properties.
  /// - Returns: The expression.
  public static func all() -> PropertyExpression { PropertyExpression(path: "") }

  /// A value.
  /// - Parameter value: A value of a type that documents hold, other than a blob; nil is null.
  /// - Returns: The expression.
  public static func value(_ value: Any?) -> any ExpressionProtocol {
    CombinedExpression(ExpressionTerm(Item(converting: value)))
  }

  /// A text.
  /// - Parameter value: The text; nil is null.
  /// - Returns: The expression.
  public static func string(_ value: String?) -> any ExpressionProtocol { self.value(value) }

  /// An integer.
  /// - Parameter value: The integer.
  /// - Returns: The expression.
  public static func int(_ value: Int) -> any ExpressionProtocol { self.value(value) }

  /// An integer.
  /// - Parameter value: The integer.
  /// - Returns: The expression.
  public static func int64(_ value: Int64) -> any ExpressionProtocol { self.value(value) }

  /// A number.
  /// - Parameter value: The number.
  /// - Returns: The expression.
  public static func float(_ value: Float) -> any ExpressionProtocol { self.value(value) }

  /// A number.
  /// - Parameter value: The number.
  /// - Returns: The expression.
  public static func double(_ value: Double) -> any ExpressionProtocol { self.value(value) }

  /// A boolean.
  /// - Parameter value: The boolean.
  /// - Returns: The expression.
  public static func boolean(_ value: Bool) -> any ExpressionProtocol { self.value(value) }

  /// A date.
  /// - Parameter value: The date; nil is null.
  /// - Returns: The expression.
  public static func date(_ value: Date?) -> any ExpressionProtocol { self.value(value) }

  /// An array.
  /// - Parameter value: The array; nil is null.
  /// - Returns: The expression.
  public static func array(_ value: [Any]?) -> any ExpressionProtocol { self.value(value) }

  /// A dictionary.
  /// - Parameter value: The dictionary; nil is null.
  /// - Returns: The expression.
  public static func dictionary(_ value: [String: Any]?) -> any ExpressionProtocol {
    self.value(value)
  }

  /// A parameter of the query.
  /// - Parameter name: Its name.
  /// - Returns: The expression.
  public static func parameter(_ name: String) -> any ExpressionProtocol {
    CombinedExpression("$" + name, [])
  }

  /// The opposite.
  /// - Parameter expression: A condition.
  /// - Returns: The expression.
  public static func not(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("NOT", [expression])
  }

  /// The opposite.
  /// - Parameter expression: A condition.
  /// - Returns: The expression.
  public static func negated(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    not(expression)
  }

  /// A full-text index, for `FullTextFunction`.
  /// - Parameter name: Its name.
  /// - Returns: The index.
  public static func fullTextIndex(_ name: String) -> FullTextIndexExpression {
    FullTextIndexExpression(name: name, alias: nil)
  }
}

/// A property of a document.
public struct PropertyExpression: ExpressionProtocol {
  let path: String
  var alias: String?

  init(path: String) { self.path = path }

  /// The property of a source of the query.
  /// - Parameter alias: The source's name.
  /// - Returns: The expression.
  public func from(_ alias: String) -> PropertyExpression {
    var copy = self
    copy.alias = alias
    return copy
  }

  /// The expression in the query language.
  public var term: ExpressionTerm {
    let parts = [alias ?? "", path].filter { !$0.isEmpty }
    return ExpressionTerm("." + parts.joined(separator: "."), [])
  }
}

/// Metadata of a document.
public struct MetaExpression: ExpressionProtocol {
  let property: String
  /// The name of a column with it.
  let title: String
  var alias: String?

  /// The metadata of a source's document.
  /// - Parameter alias: The source's name.
  /// - Returns: The expression.
  public func from(_ alias: String) -> MetaExpression {
    var copy = self
    copy.alias = alias
    return copy
  }

  /// The expression in the query language.
  public var term: ExpressionTerm {
    ExpressionTerm("." + (alias.map { $0 + "." } ?? "") + property, [])
  }
}

/// Metadata of documents.
public enum Meta {
  /// The document's ID.
  public static let id = MetaExpression(property: "_id", title: "id")
  /// The revision's ID.
  public static let revisionID = MetaExpression(property: "_revisionID", title: "revisionID")
  /// Its place in the order of changes.
  public static let sequence = MetaExpression(property: "_sequence", title: "sequence")
  /// Whether it is deleted; a query with it sees deleted documents.
  public static let isDeleted = MetaExpression(property: "_deleted", title: "deleted")
  /// When it expires, in milliseconds since 1970.
  public static let expiration = MetaExpression(property: "_expiration", title: "expiration")
}

extension ExpressionProtocol {
  /// The sum.
  /// - Parameter expression: The other operand.
  /// - Returns: The expression.
  public func add(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("+", [self, expression])
  }

  /// The difference.
  /// - Parameter expression: The other operand.
  /// - Returns: The expression.
  public func subtract(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("-", [self, expression])
  }

  /// The product.
  /// - Parameter expression: The other operand.
  /// - Returns: The expression.
  public func multiply(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("*", [self, expression])
  }

  /// The quotient.
  /// - Parameter expression: The other operand.
  /// - Returns: The expression.
  public func divide(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("/", [self, expression])
  }

  /// The remainder.
  /// - Parameter expression: The other operand.
  /// - Returns: The expression.
  public func modulo(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("%", [self, expression])
  }

  /// Whether this value is less.
  /// - Parameter expression: The other operand.
  /// - Returns: The expression.
  public func lessThan(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("<", [self, expression])
  }

  /// Whether this value is not more.
  /// - Parameter expression: The other operand.
  /// - Returns: The expression.
  public func lessThanOrEqualTo(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("<=", [self, expression])
  }

  /// Whether this value is more.
  /// - Parameter expression: The other operand.
  /// - Returns: The expression.
  public func greaterThan(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression(">", [self, expression])
  }

  /// Whether this value is not less.
  /// - Parameter expression: The other operand.
  /// - Returns: The expression.
  public func greaterThanOrEqualTo(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression(">=", [self, expression])
  }

  /// Whether both are equal.
  /// - Parameter expression: The other operand.
  /// - Returns: The expression.
  public func equalTo(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("=", [self, expression])
  }

  /// Whether both are not equal.
  /// - Parameter expression: The other operand.
  /// - Returns: The expression.
  public func notEqualTo(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("!=", [self, expression])
  }

  /// Whether both are true.
  /// - Parameter expression: The other operand.
  /// - Returns: The expression.
  public func and(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("AND", [self, expression])
  }

  /// Whether one of them is true.
  /// - Parameter expression: The other operand.
  /// - Returns: The expression.
  public func or(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("OR", [self, expression])
  }

  /// Whether both are equal, or both null, or both missing.
  /// - Parameter expression: The other operand.
  /// - Returns: The expression.
  public func `is`(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("IS", [self, expression])
  }

  /// The opposite of `is`.
  /// - Parameter expression: The other operand.
  /// - Returns: The expression.
  public func isNot(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("IS NOT", [self, expression])
  }

  /// Whether a text has a form: `%` stands for any letters, `_` for one.
  /// - Parameter expression: The other operand.
  /// - Returns: The expression.
  public func like(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("LIKE", [self, expression])
  }

  /// Whether a text matches a regular expression.
  /// - Parameter expression: The regular expression.
  /// - Returns: The expression.
  public func regex(_ expression: any ExpressionProtocol) -> any ExpressionProtocol {
    CombinedExpression("regexp_like()", [self, expression])
  }

  /// Whether there is a value other than null.
  /// - Returns: The expression.
  public func isValued() -> any ExpressionProtocol { CombinedExpression("IS VALUED", [self]) }

  /// Whether the value is null or missing.
  /// - Returns: The expression.
  public func isNotValued() -> any ExpressionProtocol { Expression.not(isValued()) }

  /// Whether the value is within bounds.
  /// - Parameters:
  ///   - expression1: The lower bound, within.
  ///   - expression2: The upper bound, within.
  /// - Returns: The expression.
  public func between(
    _ expression1: any ExpressionProtocol, and expression2: any ExpressionProtocol
  ) -> any ExpressionProtocol {
    CombinedExpression("BETWEEN", [self, expression1, expression2])
  }

  /// Whether the value is one of several.
  /// - Parameter expressions: These.
  /// - Returns: The expression.
  public func `in`(_ expressions: [any ExpressionProtocol]) -> any ExpressionProtocol {
    CombinedExpression("IN", [self, CombinedExpression("[]", expressions)])
  }

  /// The same value, whose texts are compared by other rules.
  /// - Parameter collation: The rules.
  /// - Returns: The expression.
  public func collate(_ collation: any CollationProtocol) -> any ExpressionProtocol {
    CombinedExpression(
      ExpressionTerm("COLLATE", [ExpressionTerm(.dict(collation.options)), term]))
  }
}
