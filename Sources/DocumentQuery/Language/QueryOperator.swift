// QueryOperator.swift: the operators of the JSON language, with how many operands they have and how
// tightly they bind (LITECORE.md, part 10).

/// An operator whose operands are all expressions.
package enum QueryOperator: String, Sendable, CaseIterable {
  case concatenate = "||"
  case multiply = "*"
  case divide = "/"
  case remainder = "%"
  case add = "+"
  case subtract = "-"
  case less = "<"
  case atMost = "<="
  case more = ">"
  case atLeast = ">="
  case equal = "="
  case notEqual = "!="
  case isSame = "IS"
  case isNot = "IS NOT"
  case isIn = "IN"
  case notIn = "NOT IN"
  case like = "LIKE"
  case between = "BETWEEN"
  case exists = "EXISTS"
  case isValued = "IS VALUED"
  case not = "NOT"
  case and = "AND"
  case or = "OR"

  /// How many operands it may have.
  var operands: ClosedRange<Int> {
    switch self {
    case .concatenate, .multiply, .add, .isIn, .notIn, .and, .or: 2...Int.max
    case .subtract: 1...2
    case .like: 2...3
    case .between: 3...3
    case .exists, .isValued, .not: 1...1
    default: 2...2
    }
  }

  /// How tightly it binds its operands; a loose operator in a tight one has parentheses.
  var precedence: Int {
    switch self {
    case .exists: 8
    case .not: 9
    case .multiply, .divide, .remainder: 7
    case .add, .subtract: 6
    case .less, .atMost, .more, .atLeast: 4
    case .and, .or: 2
    default: 3
    }
  }

  /// Whether its value in a result column is true or false.
  ///
  /// IN, LIKE, EXISTS and IS VALUED are not among them in the real library: their results are those
  /// of their functions.
  var isBoolean: Bool {
    switch self {
    case .less, .atMost, .more, .atLeast, .equal, .notEqual, .isSame, .isNot, .notIn, .between,
      .not, .and, .or:
      true
    default: false
    }
  }

  /// Whether it compares texts, so that a collation has a meaning for it.
  var isComparison: Bool {
    switch self {
    case .less, .atMost, .more, .atLeast, .equal, .notEqual, .isSame, .isNot, .isIn, .notIn,
      .like, .between:
      true
    default: false
    }
  }

  /// The operators and words that are not functions and have operands of other kinds.
  static let special = [
    ".", "$", "?", "_.", "[]", "BLOB", "MISSING", "META()", "COLLATE", "CASE", "ANY", "EVERY",
    "ANY AND EVERY", "SELECT", "AS", "ASC", "DESC", "MATCH()", "RANK()", "PREDICTION()",
  ]
}

/// Which items must satisfy.
package enum Quantifier: String, Sendable, CaseIterable {
  case any = "ANY"
  case every = "EVERY"
  case anyAndEvery = "ANY AND EVERY"
}
