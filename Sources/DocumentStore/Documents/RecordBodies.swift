// RecordBodies.swift: all bodies of a record: of the current revision and of others.

import Fleece

/// The bodies of records.
enum RecordBodies {
  /// The bodies of a record, the current revision's first.
  /// - Throws: `DocumentStoreError` with code `.corruptRevisionData` or `.badRevisionID`.
  /// - Complexity: O(bytes).
  static func all(
    of record: Record, keys: FleeceSharedKeys
  ) throws(DocumentStoreError) -> [[UInt8]] {
    guard VersionVector.isVector(record.version) else {
      return try TreeDocument(record).tree.revisions.compactMap(\.body)
    }
    let document = try VectorDocument(record, keys: keys)
    let remotes = document.remotes.sorted { $0.key < $1.key }.compactMap(\.value.body)
    return (record.body.map { [$0] } ?? []) + remotes
  }

  /// The blobs that a record names.
  /// - Throws: `DocumentStoreError` with code `.corruptRevisionData` or `.badRevisionID`.
  /// - Complexity: O(bytes).
  static func blobs(
    of record: Record, keys: FleeceSharedKeys
  ) throws(DocumentStoreError) -> [BlobDigest] {
    var digests: [BlobDigest] = []
    for body in try all(of: record, keys: keys) {
      digests += try FleeceBodies.reading(body) { (root) throws(DocumentStoreError) in
        try BlobReferences.digests(in: root, keys: keys)
      }
    }
    return digests
  }
}
