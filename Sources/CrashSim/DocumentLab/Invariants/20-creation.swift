// 20-creation.swift: invariant 20: a file is there whole or not at all.

import Workload

enum CreationInvariant: DocumentInvariant {
  static let promise = DocumentPromise.creation

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    guard evidence.plan.declaration.format == nil, let early = evidence.early else { return [] }
    if let error = early.error { return ["before the store opens it, SQLite says: \(error)"] }
    // The first transaction makes everything; pages of a file that has none are nothing yet.
    guard early.format != 0 || !early.columns.isEmpty else { return [] }
    let needed = ["kv_default", "kv_del_default", "kv_info", "kvmeta"]
    let missing = needed.filter { early.columns[$0] == nil }
    var problems = missing.map { "format \(early.format) is written, and \($0) is not there" }
    for key in ["versioning", "publicUUID", "privateUUID"] where !early.infoKeys.contains(key) {
      problems.append("format \(early.format) is written, and kv_info has no \(key)")
    }
    return problems
  }
}
