// 24-collections.swift: invariant 24: a collection has both tables or none.

import Workload

enum CollectionsInvariant: DocumentInvariant {
  static let promise = DocumentPromise.collections

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    var problems: [String] = []
    for store in evidence.sight.stores where store.hasLive != store.hasDead {
      problems.append("\(store.name) has only the table of the \(store.hasLive ? "live" : "dead")")
    }
    if !evidence.sight.stores.contains(where: { $0.name == "default" && $0.hasLive }) {
      problems.append("the default collection is not there")
    }
    return problems
  }
}
