// 03-atomic.swift: invariant 3: the contents are those after one commit.

import Workload

enum AtomicInvariant: DocumentInvariant {
  static let promise = DocumentPromise.atomic

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    guard evidence.commit == nil else { return [] }
    let lines = evidence.sight.lines
    let states = evidence.plan.lines
    let last = min(evidence.acknowledged.commit + 1, states.count - 1)
    let allowed = min(evidence.commitMin, last)...last
    let nearest = allowed.min { distance(lines, states[$0]) < distance(lines, states[$1]) } ?? last
    return [
      "the contents are of no commit; nearest is \(nearest): "
        + DocumentDifference.text(lines, states[nearest])
    ]
  }

  private static func distance(_ one: [String], _ other: [String]) -> Int {
    Set(one).symmetricDifference(other).count
  }
}
