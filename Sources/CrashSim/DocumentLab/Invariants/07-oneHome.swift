// 07-oneHome.swift: invariant 7: a document is in one table, and in the right one.

import Workload

enum OneHomeInvariant: DocumentInvariant {
  static let promise = DocumentPromise.oneHome

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    var problems: [String] = []
    for store in evidence.sight.stores {
      let dead = Set(store.rows.filter(\.isDead).map(\.key))
      for row in store.live where dead.contains(row.key) {
        problems.append("\(store.name) '\(row.key)' is live and dead")
      }
      for row in store.rows where row.isDead != (row.flags & 1 != 0) {
        let home = row.isDead ? "dead" : "live"
        problems.append(
          "\(store.name) '\(row.key)' has flags \(row.flags) and is among the \(home)")
      }
    }
    return problems
  }
}
