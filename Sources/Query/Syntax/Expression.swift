// Expression.swift: the syntax tree of a query, before its names are bound. Invariants of a tree
// that the parser made: `all` and `any` have two members or more, sums and products have one term
// or more, and nesting is bounded by `QueryLimits.depthMax`.

import Engine

/// A condition.
package indirect enum QueryPredicate: Hashable, Sendable {
  case constant(Bool)
  case all([QueryPredicate])
  case any([QueryPredicate])
  case not(QueryPredicate)
  case comparison(QueryComparison)
}

/// How a comparison takes the values of a collection.
package enum Quantifier: String, Hashable, Sendable, CaseIterable {
  case any = "ANY"
  case all = "ALL"
  case none = "NONE"
}

/// The operator of a comparison.
package enum ComparisonOperator: String, Hashable, Sendable, CaseIterable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessEqual = "<="
  case greater = ">"
  case greaterEqual = ">="
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  case contains = "CONTAINS"
  case like = "LIKE"
  case between = "BETWEEN"
  case `in` = "IN"
  case text = "TEXT"
  case geoWithin = "GEOWITHIN"

  /// Whether the operator can ignore case and marks.
  package var takesCase: Bool {
    switch self {
    case .between, .text, .geoWithin: false
    default: true
    }
  }

  /// Whether the operator compares the order of its operands.
  package var isOrder: Bool {
    switch self {
    case .less, .lessEqual, .greater, .greaterEqual: true
    default: false
    }
  }
}

/// Two operands held against each other.
package struct QueryComparison: Hashable, Sendable {
  package var left: QueryOperand
  package var leftQuantifier: Quantifier?
  package var comparison: ComparisonOperator
  /// Whether the operator has `[c]`.
  package var ignoresCase = false
  /// Whether it has `[d]`: marks above and below letters are ignored.
  package var ignoresMarks = false
  package var right: QueryOperand
  package var rightQuantifier: Quantifier?

  package init(
    _ left: QueryOperand, _ comparison: ComparisonOperator, _ right: QueryOperand,
    ignoresCase: Bool = false, ignoresMarks: Bool = false, leftQuantifier: Quantifier? = nil,
    rightQuantifier: Quantifier? = nil
  ) {
    self.left = left
    self.comparison = comparison
    self.right = right
    self.ignoresCase = ignoresCase
    self.ignoresMarks = ignoresMarks
    self.leftQuantifier = leftQuantifier
    self.rightQuantifier = rightQuantifier
  }
}

/// An operand.
package indirect enum QueryOperand: Hashable, Sendable {
  case literal(QueryLiteral)
  case argument(Int)
  case list([QueryOperand])
  case path(QueryPath)
  case arithmetic(QueryOperand, [ArithmeticTerm])
  case subquery(QuerySubquery)
  case shape(QueryShape)
}

/// A constant.
package enum QueryLiteral: Hashable, Sendable {
  case value(Value)
  /// A number that is not a 64-bit integer, as written: it is a binary or a decimal number
  /// depending on the other operand.
  case number(String)
  /// `obj("Table", primary key)`, or `obj("Table", O5)` with the key of the row.
  case object(table: String, key: Value, isRowKey: Bool)
}

/// An operator between numbers.
package enum ArithmeticOperator: String, Hashable, Sendable, CaseIterable {
  case add = "+"
  case subtract = "-"
  case multiply = "*"
  case divide = "/"

  /// Whether it binds like `*`.
  package var isProduct: Bool { self == .multiply || self == .divide }
}

/// An operator and its right operand; the terms of one chain have equal precedence.
package struct ArithmeticTerm: Hashable, Sendable {
  package var arithmetic: ArithmeticOperator
  package var operand: QueryOperand

  package init(_ arithmetic: ArithmeticOperator, _ operand: QueryOperand) {
    self.arithmetic = arithmetic
    self.operand = operand
  }
}

/// Steps from a row to its values.
package struct QueryPath: Hashable, Sendable {
  /// The variable of a subquery that it starts at; nil for the row of the query.
  package var variable: String?
  package var steps: [QueryStep]

  package init(variable: String? = nil, _ steps: [QueryStep]) {
    self.variable = variable
    self.steps = steps
  }

  /// Whether it begins with the row itself, not with a property of it.
  var startsAtItself: Bool {
    guard variable == nil else { return false }
    switch steps.first {
    case .property, .backlinks, .links, .operation, .pathArgument: return false
    case .index, .firstElement, .lastElement, .allElements, .elementCount, .key, .argument, nil:
      return true
    }
  }
}

/// One step of a path.
package enum QueryStep: Hashable, Sendable {
  case property(String)
  /// `@links.Table.property`
  case backlinks(table: String, property: String)
  /// `@links`, which only `@count` can follow.
  case links
  case operation(PathOperation)
  case index(Int)
  case firstElement
  case lastElement
  /// `[*]`
  case allElements
  /// `[SIZE]`
  case elementCount
  case key(String)
  /// `[$0]`
  case argument(Int)
  /// `$K0`: the steps that an argument names.
  case pathArgument(Int)
}

/// The operation of a path on its values.
package enum PathOperation: String, Hashable, Sendable, CaseIterable {
  case count, size, sum, avg, min, max, type, keys, values
}

/// The number of elements that pass: `SUBQUERY(collection, $variable, predicate).@count`.
package struct QuerySubquery: Hashable, Sendable {
  package var collection: QueryPath
  package var variable: String
  package var predicate: QueryPredicate

  package init(collection: QueryPath, variable: String, predicate: QueryPredicate) {
    self.collection = collection
    self.variable = variable
    self.predicate = predicate
  }
}

/// A point on the Earth as written: degrees, each a text of a number or an argument.
package struct QueryPoint: Hashable, Sendable {
  package var longitude: QueryOperand
  package var latitude: QueryOperand

  package init(longitude: QueryOperand, latitude: QueryOperand) {
    self.longitude = longitude
    self.latitude = latitude
  }
}

/// A part of the Earth's surface.
package indirect enum QueryShape: Hashable, Sendable {
  case box(QueryPoint, QueryPoint)
  /// The radius is in radians.
  case circle(QueryPoint, radius: QueryOperand)
  /// Rings; the first one is the outer one.
  case polygon([[QueryPoint]])
}

/// A clause applied to the rows that were found.
package enum QueryClause: Hashable, Sendable {
  case sort([SortKey])
  case distinct([QueryPath])
  case limit(Int)
}

/// A path to sort by.
package struct SortKey: Hashable, Sendable {
  package var path: QueryPath
  package var isAscending: Bool

  package init(_ path: QueryPath, isAscending: Bool) {
    self.path = path
    self.isAscending = isAscending
  }
}
