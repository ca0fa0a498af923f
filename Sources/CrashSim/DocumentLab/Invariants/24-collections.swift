// 24-collections.swift: invariant 24: a collection has both tables or none.

import Workload

enum CollectionsInvariant: DocumentInvariant {
  static let promise = DocumentPromise.collections

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    var problems: [String] = []
    for store in evidence.sight.stores where store.hasLive != store.hasDead {
      problems.append("\(store.name) has only the table of the \(store.hasLive ? "live" : "dead")")
    }
    // The store makes a missing table when it opens the file, so what lay there counts, too.
    if let early = evidence.early, early.format >= 503 {
      for table in early.columns.keys where table == "kv_default" || table.hasPrefix("kv_.") {
        let dead = "kv_del_\(table.dropFirst(3))"
        if early.columns[dead] == nil { problems.append("\(table) is there, and \(dead) is not") }
      }
      for table in early.columns.keys where table.hasPrefix("kv_del_") {
        let live = "kv_\(table.dropFirst(7))"
        if early.columns[live] == nil { problems.append("\(table) is there, and \(live) is not") }
      }
    }
    if !evidence.sight.stores.contains(where: { $0.name == "default" && $0.hasLive }) {
      problems.append("the default collection is not there")
    }
    return problems
  }
}
