// 18-purges.swift: invariant 18: purged documents leave nothing, deleted ones a tombstone.

import Workload

enum PurgesInvariant: DocumentInvariant {
  static let promise = DocumentPromise.purges

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    let commits = evidence.candidates
    var best: [String]?
    for commit in commits {
      let found = problems(evidence, evidence.plan.states[commit])
      if best == nil || found.count < best?.count ?? 0 { best = found }
    }
    return best ?? []
  }

  private static func problems(_ evidence: DocumentEvidence, _ model: DocumentModel) -> [String] {
    var problems: [String] = []
    for (name, collection) in model.collections where collection.exists {
      let rows = evidence.sight.stores.first { $0.collection == name }?.rows ?? []
      for row in rows where collection.documents[row.key] == nil {
        problems.append("\(name) '\(row.key)' was purged and is there")
      }
      for (id, document) in collection.documents where document.isDeleted {
        let tombs = rows.filter { $0.key == id && $0.isDead && $0.flags & 1 != 0 }
        if tombs.count != 1 { problems.append("\(name) '\(id)' has \(tombs.count) tombstones") }
      }
    }
    return problems.sorted()
  }
}
