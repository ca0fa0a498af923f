// 04-lastSequence.swift: invariant 4: the counter of sequences is not behind the rows.

import Workload

enum LastSequenceInvariant: DocumentInvariant {
  static let promise = DocumentPromise.lastSequence

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    evidence.sight.stores.compactMap { store in
      let highest = store.rows.compactMap(\.sequence).max() ?? 0
      guard highest > store.last ?? 0 else { return nil }
      let last = store.last.map(String.init) ?? "missing"
      return "\(store.name) has sequence \(highest), and its last one is \(last)"
    }
  }
}
