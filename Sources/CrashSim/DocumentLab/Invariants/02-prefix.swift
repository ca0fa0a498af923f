// 02-prefix.swift: invariant 2: no acknowledged commit is missing, and none is there that was not
// begun.

import Workload

enum PrefixInvariant: DocumentInvariant {
  static let promise = DocumentPromise.prefix

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    guard let commit = evidence.commit else { return [] }
    let lines = evidence.plan.lines
    let begun = min(evidence.acknowledged.commit + 1, lines.count - 1)
    // Two commits may have the same contents: any of those that may be the last one will do.
    let allowed = min(evidence.commitMin, begun)...begun
    guard !allowed.contains(where: { lines[$0] == lines[commit] }) else { return [] }
    let nearest = commit < allowed.lowerBound ? allowed.lowerBound : allowed.upperBound
    return [
      "the contents are those after commit \(commit), and the last may be \(allowed.lowerBound) to "
        + "\(allowed.upperBound): \(DocumentDifference.text(lines[commit], lines[nearest]))"
    ]
  }
}
