// 05-uniqueSequences.swift: invariant 5: each sequence is of one row, over both tables.

import Workload

enum UniqueSequencesInvariant: DocumentInvariant {
  static let promise = DocumentPromise.uniqueSequences

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    var problems: [String] = []
    for store in evidence.sight.stores {
      var owners: [Int64: String] = [:]
      for row in store.rows {
        guard let sequence = row.sequence, sequence >= 1 else {
          problems.append("\(store.name) '\(row.key)' has no sequence of at least 1")
          continue
        }
        if let other = owners.updateValue(row.key, forKey: sequence) {
          problems.append("\(store.name): sequence \(sequence) is of '\(other)' and '\(row.key)'")
        }
      }
    }
    return problems
  }
}
