// 06-newSequences.swift: invariant 6: the next sequence is a new one.

import Workload

/// Without a change: what was given out is counted, even if its documents are gone.
enum GivenSequencesInvariant: DocumentInvariant {
  static let promise = DocumentPromise.newSequences

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    evidence.sight.stores.compactMap { store in
      let given = evidence.candidates.map { commit in
        evidence.plan.states[commit].collections[store.collection]?.last ?? 0
      }
      guard let least = given.min(), (store.last ?? 0) < least else { return nil }
      return "\(store.name): sequence \(least) was given out, and the last is \(store.last ?? 0)"
    }
  }
}

/// With a change: the next sequence.
enum NewSequencesInvariant: DocumentInvariant {
  static let promise = DocumentPromise.newSequences

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    var problems: [String] = []
    for store in evidence.sight.stores where store.hasLive {
      // The model remembers what was given out to documents that were purged since.
      let given = evidence.model.collections[store.collection]?.last ?? 0
      let last = max(store.rows.compactMap(\.sequence).max() ?? 0, store.last ?? 0, given)
      let sequence = try evidence.file.write { transaction in
        let target = try transaction.collection(DocumentNames.collection(store.collection))
        let body = try transaction.encode(json: "{}")
        let saved = try target.save("lab-new", body: body).record.sequence
        try target.purge("lab-new")
        return saved
      }
      if sequence <= last {
        problems.append("\(store.name): after \(last) the next sequence is \(sequence)")
      }
    }
    return problems
  }
}
