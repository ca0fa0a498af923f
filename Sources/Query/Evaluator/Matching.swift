// Matching.swift: whether two values satisfy an operator. docs/reference/query-language.md
// describes the rules.

import Engine

/// Operators on two values.
enum Matching {
  /// -1, 0 or 1 as the left value sorts before, with or after the right one; nil when they are
  /// unordered: a null, a NaN, or incompatible types.
  static func order(_ left: Value, _ right: Value) -> Int? {
    switch (left, right) {
    case (.null, _), (_, .null): nil
    case (.string, .string), (.binary, .binary), (.bool, .bool), (.date, .date),
      (.objectId, .objectId), (.uuid, .uuid), (.typedLink, .typedLink):
      Value.order(left, right)
    default: Numbers.order(left, right)
    }
  }

  /// Whether two values are equal; nulls are, and NaNs are not.
  static func equal(_ left: Value, _ right: Value) -> Bool {
    if case .null = left { return right == .null }
    return order(left, right) == 0
  }

  /// Whether a pair of values satisfies an operator other than those of collections.
  static func passes(_ operation: BoundOperator, _ left: Value, _ right: Value) -> Bool {
    switch operation {
    case .equal: return equal(left, right)
    case .notEqual: return !equal(left, right)
    case .less: return order(left, right).map { $0 < 0 } ?? false
    case .greater: return order(left, right).map { $0 > 0 } ?? false
    case .lessEqual: return order(left, right).map { $0 <= 0 } ?? (left == .null && right == .null)
    case .greaterEqual:
      return order(left, right).map { $0 >= 0 } ?? (left == .null && right == .null)
    case .beginsWith, .endsWith, .contains, .like: return searches(operation, left, right)
    case .sharesType, .sharesNoType:
      guard case .int(let left) = left, case .int(let right) = right else { return false }
      return (left & right != 0) == (operation == .sharesType)
    case .between, .text, .within: return false
    }
  }

  private static func searches(_ operation: BoundOperator, _ left: Value, _ right: Value) -> Bool {
    if operation == .like {
      if case .string(let text) = left, case .string(let wanted) = right {
        return Text.isLike(text, wanted)
      }
      if left == .null { return right == .null }
    }
    // A text beside a binary is its bytes.
    guard let text = Text.bytes(left), let wanted = Text.bytes(right) else { return false }
    switch operation {
    case .like: return Text.isLike(text, wanted)
    case .beginsWith: return text.starts(with: wanted)
    case .endsWith: return text.suffix(wanted.count).elementsEqual(wanted)
    default: return Text.contains(text, wanted)
    }
  }
}
