// BlobReferences.swift: which blobs a body names: dicts with `"@type": "blob"` and a digest, at any
// depth; and those in `_attachments`, as in old documents.

import Fleece

/// The blobs that bodies name.
enum BlobReferences {
  /// Whether a body may name blobs: a fast check without false negatives.
  static func mayHave(
    _ body: [UInt8], _ dict: FleeceDict, keys: FleeceSharedKeys
  ) throws(DocumentStoreError) -> Bool {
    if body.count >= 5 {
      let type = Array("@type".utf8)
      for start in 0...(body.count - 5)
      where body[start] == type[0] && body[start..<start + 5].elementsEqual(type) {
        return true
      }
    }
    return try value("_attachments", dict, keys) != nil
  }

  /// The digests of the blobs that a value names, in order.
  /// - Throws: `DocumentStoreError` with code `.corruptRevisionData` for damage, and for
  ///   collections that pointers multiply beyond 64 times the document's size.
  /// - Complexity: O(values).
  static func digests(
    in root: FleeceValue, keys: FleeceSharedKeys
  ) throws(DocumentStoreError) -> [BlobDigest] {
    var found: [BlobDigest] = []
    var stepsLeft = root.documentSizeBytes * 64 + 1024
    try visit(root, keys, depth: 0, into: &found, stepsLeft: &stepsLeft)
    if let old = try root.dict.flatMap({ (dict) throws(DocumentStoreError) in
      try value("_attachments", dict, keys)
    }), let names = old.dict {
      for index in 0..<names.count {
        let item = try FleeceBodies.decoding { () throws(FleeceError) in
          try names.value(at: index)
        }
        if let dict = item.dict { try add(dict, keys, to: &found) }
      }
    }
    return found
  }

  private static func visit(
    _ value: FleeceValue, _ keys: FleeceSharedKeys, depth: Int, into found: inout [BlobDigest],
    stepsLeft: inout Int
  ) throws(DocumentStoreError) {
    stepsLeft -= 1
    guard depth <= FleeceValue.depthMax, stepsLeft >= 0 else {
      throw DocumentStoreError(
        .corruptRevisionData, "a body is nested deeper than \(FleeceValue.depthMax), or endless")
    }
    if let array = value.array {
      for index in 0..<array.count {
        let item = try FleeceBodies.decoding { () throws(FleeceError) in
          try array.value(at: index)
        }
        if let item { try visit(item, keys, depth: depth + 1, into: &found, stepsLeft: &stepsLeft) }
      }
    } else if let dict = value.dict {
      if try Self.value("@type", dict, keys)?.text == "blob" { try add(dict, keys, to: &found) }
      for index in 0..<dict.count {
        let item = try FleeceBodies.decoding { () throws(FleeceError) in
          try dict.value(at: index)
        }
        try visit(item, keys, depth: depth + 1, into: &found, stepsLeft: &stepsLeft)
      }
    }
  }

  private static func add(
    _ dict: FleeceDict, _ keys: FleeceSharedKeys, to found: inout [BlobDigest]
  ) throws(DocumentStoreError) {
    guard let text = try value("digest", dict, keys)?.text, let digest = BlobDigest(text) else {
      return
    }
    found.append(digest)
  }

  private static func value(
    _ key: String, _ dict: FleeceDict, _ keys: FleeceSharedKeys
  ) throws(DocumentStoreError) -> FleeceValue? {
    try FleeceBodies.decoding { () throws(FleeceError) in try dict.value(for: key, in: keys) }
  }
}
