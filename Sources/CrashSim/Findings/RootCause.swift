// RootCause.swift: findings that one missing sync explains, as one finding.
// Checkers say one bug in many words: a lost page is "corruption" in one state and "a row is
// missing" in another. Two classes of states have one root cause when the same sync is missing at
// the same kind of place (`Explainer.rootCause`), or when one sync at one place would have kept
// both from happening: in the gap that each names, or between it and the earliest crash; of lost
// names, behind all of them and before each crash and each acknowledgement.
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
    /// For each of the result, the places at which one sync mends all that it has.
    var places: [Set<String>] = []
    for group in joinedByNamedPlace(findings) {
      let own = mendingPlaces(group)
      if let index = places.firstIndex(where: { !$0.isDisjoint(with: own) }) {
        places[index].formIntersection(own)
        result[index] = union(result[index], group, mendedAt: places[index])
      } else {
        result.append(group)
        places.append(own)
      }
    }
    for index in result.indices { result[index].renumber(firstNumber + index) }
    return result
  }

  /// Joins findings of one cause, and those whose gap has the place that another one names.
  private static func joinedByNamedPlace(_ findings: [Finding]) -> [Finding] {
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
        result[place] = joined(finding, head)
      } else {
        result[place] = joined(head, finding)
      }
    }
    return result
  }

  /// A finding with all that another one has.
  private static func joined(_ head: Finding, _ other: Finding) -> Finding {
    var result = head
    result.alsoSeenAs = (head.alsoSeenAs ?? []) + separated([other])
    return result
  }

  /// Both findings; the first that names one of some places is the head.
  private static func union(
    _ one: Finding, _ other: Finding, mendedAt places: Set<String>
  ) -> Finding {
    func namesOne(_ finding: Finding) -> Bool {
      finding.rootCause.map { places.contains($0) } ?? false
    }
    if namesOne(one) || !namesOne(other) { return joined(one, other) }
    return joined(other, one)
  }

  /// The places of one missing sync that would have kept each state of a finding from happening;
  /// classes of one cause have theirs together.
  private static func mendingPlaces(_ finding: Finding) -> Set<String> {
    var places: [String: Set<String>] = [:]
    for member in separated([finding]) {
      guard let cause = member.rootCause else { return [] }
      let others = [member.earlierCauses, member.laterCauses, member.sharedCauses]
      places[cause, default: [cause]].formUnion(others.compactMap { $0 }.joined())
    }
    return places.values.dropFirst().reduce(places.values.first ?? []) { $0.intersection($1) }
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
