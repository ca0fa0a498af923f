// FailureClass.swift: failing states that say the same, as one class.
// Two results are of one class when they ended alike and their headlines differ in numbers only.

/// States that failed with the same words.
package struct FailureClass: Sendable {
  /// What the states have in common.
  package let key: String
  /// The first state of the class in the exploration's order.
  package let firstOrdinal: Int
  /// What the checker said about it.
  package let first: CheckResult
  /// Number of states.
  package private(set) var count: Int

  /// Groups failures; classes come in the order of their first states.
  package static func classify(_ failures: [Int: CheckResult]) -> [FailureClass] {
    var classes: [FailureClass] = []
    var places: [String: Int] = [:]
    for (ordinal, result) in failures.sorted(by: { $0.key < $1.key }) {
      let key = key(of: result)
      if let place = places[key] {
        classes[place].count += 1
      } else {
        places[key] = classes.count
        classes.append(
          FailureClass(key: key, firstOrdinal: ordinal, first: result, count: 1))
      }
    }
    return classes
  }

  /// The ending, and the headline with each number replaced by `N`.
  package static func key(of result: CheckResult) -> String {
    // Hash values count as numbers when they hold a digit, so that they do not split a class.
    "\(result.ending): " + result.headline.withNumbersReplaced
  }
}
