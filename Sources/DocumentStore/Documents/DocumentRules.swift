// DocumentRules.swift: the valid IDs and bodies of documents.

import Fleece

/// The rules for documents.
enum DocumentRules {
  /// Most bytes of an ID.
  static let idSizeMaxBytes = 240

  /// An ID has 1 to 240 bytes and no control character, and does not begin with `_`.
  static func check(id: String) throws(DocumentStoreError) {
    let bytes = id.utf8
    guard (1...idSizeMaxBytes).contains(bytes.count), bytes.first != UInt8(ascii: "_"),
      !id.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 })
    else {
      throw DocumentStoreError(
        .badDocumentID,
        "\(quoted(id)) (\(bytes.count) bytes) is not a document ID; use 1 to \(idSizeMaxBytes) "
          + "bytes without control characters, the first not _")
    }
  }

  /// The blobs that a body names, which must be a dict without `_id`, `_rev` and `_deleted`.
  static func digests(
    in body: [UInt8], keys: FleeceSharedKeys
  ) throws(DocumentStoreError) -> [BlobDigest] {
    try FleeceBodies.reading(body) { (root) throws(DocumentStoreError) in
      guard let dict = root.dict else {
        throw DocumentStoreError(
          .corruptRevisionData, "a body of kind \(root.kind) cannot be stored; use a dict")
      }
      for key in ["_id", "_rev", "_deleted"] {
        let value = try FleeceBodies.decoding { () throws(FleeceError) in
          try dict.value(for: key, in: keys)
        }
        guard value == nil else {
          throw DocumentStoreError(
            .corruptRevisionData, "a body cannot have the key \(key); leave it out")
        }
      }
      guard try BlobReferences.mayHave(body, dict, keys: keys) else { return [] }
      return try BlobReferences.digests(in: root, keys: keys)
    }
  }
}
