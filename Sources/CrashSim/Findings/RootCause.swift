// RootCause.swift: findings that one missing sync explains, as one finding.
// Checkers say one bug in many words: a lost page is "corruption" in one state and "a row is
// missing" in another. Two classes of states have one root cause when the same sync is missing at
// the same kind of place (`Explainer.rootCause`), or when the place that the one names lies in the
// gap that the other names, or between that gap and the other's earliest crash; of lost names also
// when one sync of their directory, behind all of them, would still have come before each crash and
// each acknowledgement.
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
    let heads = causes.subtracting(
      findings.filter { finding in
        let others = (finding.earlierCauses ?? []) + (finding.laterCauses ?? [])
        return others.contains { causes.contains($0) }
      }.compactMap(\.rootCause))
    var result: [Finding] = []
    var places: [String: Int] = [:]
    for finding in findings {
      // The earliest place is in the gaps of all others; so the sync there mends them all.
      let earlier = finding.earlierCauses?.first { causes.contains($0) }
      // And a later one, before the crash, of a finding that stays where it is.
      let later = finding.laterCauses?.first { heads.contains($0) }
      guard let cause = earlier ?? later ?? finding.rootCause else {
        result.append(finding)
        continue
      }
      guard let place = places[cause] ?? result.firstIndex(where: { isOne($0, finding) })
      else {
        places[cause] = result.count
        result.append(finding)
        continue
      }
      places[cause] = place
      let head = result[place]
      let others = (head.earlierCauses ?? []) + (head.laterCauses ?? [])
      let isNamed = finding.rootCause == cause && others.contains(cause)
      let isBehind = finding.isShared(by: head) && !head.isShared(by: finding)
      if head.rootCause != cause, isNamed || isBehind {
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

  /// Whether one sync of a directory keeps a name and all those that a joined finding has: each two
  /// of their gaps have a part in common, so that all have.
  private static func isOne(_ joined: Finding, _ finding: Finding) -> Bool {
    ([joined] + (joined.alsoSeenAs ?? [])).allSatisfy { member in
      member.rootCause == finding.rootCause || member.isShared(by: finding)
        || finding.isShared(by: member)
    }
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

extension Finding {
  /// Whether the sync of a directory that another one names keeps this lost name as well.
  fileprivate func isShared(by other: Finding) -> Bool {
    rootCause.map { other.sharedCauses?.contains($0) ?? false } ?? false
  }
}
