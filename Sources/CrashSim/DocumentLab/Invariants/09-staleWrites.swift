// 09-staleWrites.swift: invariant 9: changes on old revisions and old sequences fail.

import DocumentStore
import Workload

enum StaleWritesInvariant: DocumentInvariant {
  static let promise = DocumentPromise.staleWrites

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    let before = try DocumentSight(bundle: evidence.file.path).lines
    for store in evidence.sight.stores {
      guard let row = evidence.bodies(store).first?.row else { continue }
      let name = try DocumentNames.collection(store.collection)
      let stale = try RevisionID(generation: 1, digest: [UInt8](repeating: 0xdd, count: 20))
      let isRefused = refuses(evidence.file) { transaction in
        let body = try transaction.encode(json: "{}")
        try transaction.collection(name).save(row.key, body: body, parent: stale)
      }
      guard isRefused else {
        return ["\(store.name) '\(row.key)' was saved on a revision that it does not have"]
      }
      // An older sequence, then a later subsequence than the row's.
      for (sequence, subsequence) in [(Int64(1), Int64(0)), (0, 1)] {
        let isRefused = refuses(evidence.file) { transaction in
          let target = try transaction.collection(name)
          guard var record = try target.record(row.key) else { return }
          record.sequence += sequence
          record.subsequence += subsequence
          try target.set(&record)
        }
        guard isRefused else {
          return [
            "\(store.name) '\(row.key)' was changed on a sequence that it does not have, or failed"
              + " with another error than a conflict"
          ]
        }
      }
    }
    let after = try DocumentSight(bundle: evidence.file.path).lines
    guard after != before else { return [] }
    return ["refused changes left something: \(DocumentDifference.text(after, before))"]
  }

  private static func refuses(
    _ file: DataFile, _ change: (WriteTransaction) throws -> Void
  ) -> Bool {
    do {
      try file.write { transaction in try change(transaction) }
      return false
    } catch {
      return (error as? DocumentStoreError)?.code == .conflict
    }
  }
}
