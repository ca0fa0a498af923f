// 25-snapshots.swift: invariant 25: a reader beside a writer sees one commit.

import Workload

enum SnapshotsInvariant: DocumentInvariant {
  static let promise = DocumentPromise.snapshots

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    try evidence.file.read { snapshot in
      let first = try DocumentReading.texts(snapshot)
      try evidence.file.write { transaction in
        let store = try transaction.collection()
        try store.save("lab-snapshot", body: transaction.encode(json: "{}"))
      }
      let second = try DocumentReading.texts(snapshot)
      try evidence.file.write { transaction in
        try transaction.collection().purge("lab-snapshot")
      }
      let third = try DocumentReading.texts(snapshot)
      guard first == second, second == third else {
        return ["a snapshot changed: \(DocumentDifference.text(second + third, first))"]
      }
      return []
    }
  }
}
