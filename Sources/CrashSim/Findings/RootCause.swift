// RootCause.swift: findings that one missing sync explains, as one finding.
// Checkers say one bug in many words: a lost page is "corruption" in one state and "a row is
// missing" in another. Two classes of states have one root cause when the same sync is missing at
// the same kind of place (`Explainer.rootCause`), or when the place that the one names lies in the
// gap that the other names.
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
    let causes = Set(findings.compactMap(\.rootCause))
    var result: [Finding] = []
    var places: [String: Int] = [:]
    for finding in findings {
      // The earliest place is in the gaps of all others; so the sync there mends them all.
      let earlier = finding.earlierCauses?.first { causes.contains($0) }
      guard let cause = earlier ?? finding.rootCause else {
        result.append(finding)
        continue
      }
      guard let place = places[cause] else {
        places[cause] = result.count
        result.append(finding)
        continue
      }
      let head = result[place]
      if head.rootCause != cause, finding.rootCause == cause {
        // What the head names would not mend this one.
        var first = finding
        var other = head
        other.alsoSeenAs = nil
        first.alsoSeenAs = [other] + (head.alsoSeenAs ?? [])
        result[place] = first
      } else {
        result[place].alsoSeenAs = (head.alsoSeenAs ?? []) + [finding]
      }
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
