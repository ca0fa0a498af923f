// Comparison.swift: the comparisons that a scan can make. Every integer or floating-point test
// becomes one closed range and a flag that negates it, so each kernel has one comparison. A null
// and a NaN match no comparison except `notEqual`, as in Realm's queries.

/// A comparison of a column's values with a bound.
public enum Comparison<Bound: Sendable>: Sendable {
  /// Smaller than the bound.
  case less(Bound)
  /// Smaller than the bound, or equal to it.
  case atMost(Bound)
  /// Equal to the bound.
  case equal(Bound)
  /// Different from the bound; nulls are.
  case notEqual(Bound)
  /// Greater than the bound, or equal to it.
  case atLeast(Bound)
  /// Greater than the bound.
  case greater(Bound)
  /// From the first bound to the second, both included; none when they are the wrong way round.
  case between(Bound, Bound)
}

/// A test of integers: inside a closed range, or outside of it.
struct IntegerTest {
  /// invariant: the range is empty when `lower > upper`.
  var lower = Int64.max
  var upper = Int64.min
  var isNegated = false

  init(_ comparison: Comparison<Int64>) {
    switch comparison {
    case .less(let bound):
      if bound > .min { (lower, upper) = (.min, bound - 1) }
    case .atMost(let bound): (lower, upper) = (.min, bound)
    case .equal(let bound): (lower, upper) = (bound, bound)
    case .notEqual(let bound): (lower, upper, isNegated) = (bound, bound, true)
    case .atLeast(let bound): (lower, upper) = (bound, .max)
    case .greater(let bound):
      if bound < .max { (lower, upper) = (bound + 1, .max) }
    case .between(let first, let last): (lower, upper) = (first, last)
    }
  }
}

/// A test of floating-point numbers: inside a closed range, or outside of it.
struct FloatingTest<Number: BinaryFloatingPoint & Sendable> {
  /// invariant: the range is empty when `lower > upper`; neither is a NaN.
  var lower = Number.infinity
  var upper = -Number.infinity
  var isNegated = false

  init(_ comparison: Comparison<Number>) {
    switch comparison {
    // nextDown is the greatest number below the bound; for 0 that is below -0, too.
    case .less(let bound):
      if bound > -.infinity { (lower, upper) = (-.infinity, bound.nextDown) }
    case .atMost(let bound): (lower, upper) = (-.infinity, bound)
    case .equal(let bound): (lower, upper) = (bound, bound)
    case .notEqual(let bound): (lower, upper, isNegated) = (bound, bound, true)
    case .atLeast(let bound): (lower, upper) = (bound, .infinity)
    case .greater(let bound):
      if bound < .infinity { (lower, upper) = (bound.nextUp, .infinity) }
    case .between(let first, let last): (lower, upper) = (first, last)
    }
    if lower.isNaN || upper.isNaN { (lower, upper) = (.infinity, -.infinity) }
  }
}
