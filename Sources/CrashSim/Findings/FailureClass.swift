// FailureClass.swift: groups failing states with the same message into classes.
// Two results belong to one class when they ended in the same way and their headlines differ only
// in numbers.

/// States that failed with the same message.
package struct FailureClass: Sendable {
  /// The common part of the states' results.
  package let key: String
  /// The first state of the class in the exploration's order.
  package let firstOrdinal: Int
  /// The checker's result for it.
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
    // Hash values with a digit count as numbers, so that they do not split a class.
    "\(result.ending): " + result.headline.withNumbersReplaced
  }
}
