// 01-readable.swift: invariant 1: the file opens, and SQLite and the tables are sound.

import Workload

enum ReadableInvariant: DocumentInvariant {
  static let promise = DocumentPromise.readable

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    let found = evidence.verification.problems.filter {
      $0.rule == .integrity || $0.rule == .layout
    }
    var problems = found.map(\.description)
    if evidence.sight.format != 503 {
      problems.append("the format is \(evidence.sight.format), not 503")
    }
    for (table, columns) in evidence.sight.columns
    where table.hasPrefix("kv_") && !table.contains(":") && !columns.contains("expiration") {
      problems.append("table \(table) has no column expiration")
    }
    return problems.sorted()
  }
}
