// Simplifier.swift: removes the parts of conditions that have no effect: constants, AND in AND, OR
// in OR, a negation of a negation. The result matches the same rows.

/// Makes conditions smaller.
enum Simplifier {
  /// A condition that passes the same rows.
  static func simplified(_ predicate: BoundPredicate) -> BoundPredicate {
    switch predicate {
    case .constant: return predicate
    case .not(let member):
      switch simplified(member) {
      case .constant(let isTrue): return .constant(!isTrue)
      case .not(let inner): return inner
      case let other: return .not(other)
      }
    case .all(let members): return joined(members, isAll: true)
    case .any(let members): return joined(members, isAll: false)
    case .comparison(let comparison): return simplified(comparison)
    }
  }

  private static func joined(_ members: [BoundPredicate], isAll: Bool) -> BoundPredicate {
    var kept: [BoundPredicate] = []
    for member in members.map(simplified) {
      switch member {
      case .constant(let isTrue):
        if isTrue != isAll { return .constant(!isAll) }
      case .all(let inner) where isAll: kept += inner
      case .any(let inner) where !isAll: kept += inner
      default: kept.append(member)
      }
    }
    if kept.isEmpty { return .constant(isAll) }
    return kept.count == 1 ? kept[0] : isAll ? .all(kept) : .any(kept)
  }

  /// A comparison of two constants is evaluated at once.
  private static func simplified(_ comparison: BoundComparison) -> BoundPredicate {
    guard comparison.isExact, let left = comparison.left.constant,
      let right = comparison.right.constant
    else { return .comparison(comparison) }
    return .constant(Matching.passes(comparison.operation, left, right))
  }
}
