// 21-upgrade.swift: invariant 21: format number and tables agree at every moment.

import Workload

enum UpgradeInvariant: DocumentInvariant {
  static let promise = DocumentPromise.upgrade

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    guard evidence.plan.declaration.format != nil, let early = evidence.early else { return [] }
    if let error = early.error { return ["before the store opens it, SQLite says: \(error)"] }
    var problems: [String] = []
    for (table, columns) in early.columns where table.hasPrefix("kv_") && !table.contains(":") {
      if early.format >= 502, !columns.contains("expiration") {
        problems.append("format \(early.format), and \(table) has no column expiration")
      }
      let isCollection = table == "kv_default" || table.hasPrefix("kv_.")
      if early.format >= 500, isCollection, early.columns["kv_del_\(table.dropFirst(3))"] == nil {
        problems.append("format \(early.format), and \(table) has no table of the dead")
      }
    }
    for (format, column) in [(501, "lastSeq"), (503, "whereClause")] {
      if early.format >= format, let has = early.columns["indexes"], !has.contains(column) {
        problems.append("format \(early.format), and the list of indexes has no \(column)")
      }
    }
    return problems.sorted()
  }
}
