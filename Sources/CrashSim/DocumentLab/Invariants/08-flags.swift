// 08-flags.swift: invariant 8: flags are known ones.

import Workload

enum FlagsInvariant: DocumentInvariant {
  static let promise = DocumentPromise.flags

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    var problems: [String] = []
    for store in evidence.sight.stores {
      for row in store.rows {
        let (subsequence, flags) = (row.flags >> 16, row.flags & 0xffff)
        if subsequence < 0 || flags & ~0x8f != 0 {
          problems.append("\(store.name) '\(row.key)' has flags \(row.flags)")
        }
      }
    }
    return problems
  }
}
