// 23-compaction.swift: invariant 23: compaction changes no contents, and keeps the blobs.

import Workload

enum CompactionInvariant: DocumentInvariant {
  static let promise = DocumentPromise.compaction

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    let before = try DocumentSight(bundle: evidence.file.path).lines
    try evidence.file.compact()
    let after = evidence.with(try DocumentSight(bundle: evidence.file.path))
    guard after.sight.lines == before else {
      let difference = DocumentDifference.text(after.sight.lines, before)
      return ["compaction changed contents: \(difference)"]
    }
    return try BlobsInvariant.problems(after)
  }
}
