// 22-rowNumbers.swift: invariant 22: maintenance leaves row numbers, and indexes, as they are.

import Workload

enum RowNumbersInvariant: DocumentInvariant {
  static let promise = DocumentPromise.rowNumbers

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    let before = numbers(try DocumentSight(bundle: evidence.file.path))
    try evidence.file.compact()
    try evidence.file.reindex()
    let after = evidence.with(try DocumentSight(bundle: evidence.file.path))
    guard numbers(after.sight) == before else { return ["maintenance changed row numbers"] }
    return try FullTextInvariant.problems(after) + ArraysInvariant.problems(after)
      + PredictionsInvariant.problems(after)
  }

  private static func numbers(_ sight: DocumentSight) -> [String] {
    let rows = sight.stores.flatMap { store in
      store.rows.map { "\(store.name) \($0.isDead) \($0.key) \($0.number)" }
    }
    return rows.sorted()
  }
}
