// RootCause.swift: findings that one missing sync explains, as one finding.
// Checkers say one bug in many words: a lost page is "corruption" in one state and "a row is
// missing" in another. Two classes of states have one root cause when the same sync is missing at
// the same kind of place (`Explainer.rootCause`).
// Invariant: the order of findings stays that of their first states; nothing is lost, the joined
// ones are whole in `alsoSeenAs`.

/// Joins findings with one root cause.
package enum RootCause {
  /// Joins the findings of one exploration.
  /// - Parameters:
  ///   - findings: One for each class of failing states, in the order of their first states.
  ///   - firstNumber: Number of the first.
  /// - Returns: One for each root cause, numbered.
  package static func joined(_ findings: [Finding], firstNumber: Int) -> [Finding] {
    var result: [Finding] = []
    var places: [String: Int] = [:]
    for finding in findings {
      if let cause = finding.rootCause, let place = places[cause] {
        result[place].alsoSeenAs = (result[place].alsoSeenAs ?? []) + [finding]
        continue
      }
      if let cause = finding.rootCause { places[cause] = result.count }
      result.append(finding)
    }
    for place in result.indices { result[place].renumber(firstNumber + place) }
    return result
  }

  /// The findings before they were joined.
  package static func separated(_ findings: [Finding]) -> [Finding] {
    findings.flatMap { finding in
      var first = finding
      first.alsoSeenAs = nil
      return [first] + (finding.alsoSeenAs ?? [])
    }
  }
}
