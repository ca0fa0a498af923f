// 19-blobs.swift: invariant 19: blobs that kept revisions name are there and whole.

import Foundation
import Workload

enum BlobsInvariant: DocumentInvariant {
  static let promise = DocumentPromise.blobs

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    var problems: [String] = []
    let blobs = evidence.sight.blobs()
    for store in evidence.sight.stores {
      for row in store.rows {
        var bodies = [row.body].compactMap { $0 }
        if let extra = row.extra, let tree = try? PlainTree(reading: extra) {
          bodies += tree.entries.compactMap(\.body)
        }
        let values = bodies.compactMap { evidence.sight.value($0) }
        for digest in values.flatMap({ PlainText.digests(in: $0) }) {
          if let problem = problem(of: digest, blobs) {
            problems.append("\(store.name) '\(row.key)' names a blob that \(problem)")
          }
        }
      }
    }
    return problems
  }

  private static func problem(of digest: String, _ blobs: [String: [UInt8]]) -> String? {
    let name = String(digest.dropFirst("sha1-".count)).replacing("/", with: "_") + ".blob"
    guard let contents = blobs[name] else { return "is not there" }
    let found = Data(PlainDigest.sha1(contents)).base64EncodedString()
    return digest == "sha1-\(found)" ? nil : "has other contents, \(contents.count) bytes"
  }
}
