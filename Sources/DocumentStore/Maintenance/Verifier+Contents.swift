// Verifier+Contents.swift: checks a record's bodies, revisions and blobs.

import Fleece

extension Verifier {
  /// Checks a record's revisions, bodies and blobs.
  mutating func checkContents(_ record: Record, of store: KeyStoreName) {
    if !hasVectors, VersionVector.isVector(record.version) {
      found.add(
        .revisions, store: store, key: record.key,
        "it has a version vector in a file of revision trees")
    }
    do {
      let flags = try expectedFlags(of: record)
      let mask: RecordFlags = [.deleted, .conflicted]
      if record.flags.intersection(mask) != flags.intersection(mask) {
        found.add(
          .revisions, store: store, key: record.key,
          "flags \(record.flags.rawValue) where its revisions say \(flags.rawValue)")
      }
      let bodies = try RecordBodies.all(of: record, keys: connection.keys)
      var digests: [BlobDigest] = []
      for body in bodies { digests += try check(body: body, of: record, in: store) }
      let hasBlobs = !digests.isEmpty || flags.contains(.hasAttachments)
      if hasBlobs, !record.flags.contains(.hasAttachments) {
        found.add(
          .revisions, store: store, key: record.key, "it names blobs, and its flags do not say so")
      }
      for digest in digests where try !isWhole(digest) {
        found.add(
          .blobs, store: store, key: record.key, "blob \(digest) is not there, or not whole")
      }
    } catch {
      found.add(.revisions, store: store, key: record.key, error.message)
    }
  }

  /// The flags that follow from a record's revisions.
  private func expectedFlags(of record: Record) throws(DocumentStoreError) -> RecordFlags {
    guard VersionVector.isVector(record.version) else {
      return try TreeDocument(record).tree.recordFlags
    }
    let document = try VectorDocument(record, keys: connection.keys)
    var flags = record.flags.intersection([.deleted])
    for remote in document.remotes.values {
      flags.formUnion(remote.flags.intersection([.conflicted, .hasAttachments]))
    }
    return flags
  }

  /// Checks a body.
  /// - Returns: The blobs that it names.
  private mutating func check(
    body: [UInt8], of record: Record, in store: KeyStoreName
  ) throws(DocumentStoreError) -> [BlobDigest] {
    let keys = connection.keys
    var problem: (rule: Verification.Rule, message: String)?
    let digests = try FleeceBodies.reading(body) { (root) throws(DocumentStoreError) in
      try FleeceBodies.decoding { () throws(FleeceError) in try root.validate() }
      if root.dict == nil { problem = (.body, "a body of kind \(root.kind) is not a dict") }
      var walk = KeyWalk(keys: keys, stepsLeft: body.count * 64 + 1024)
      try FleeceBodies.decoding { () throws(FleeceError) in try walk.visit(root, depth: 0) }
      if let message = walk.message { problem = (.sharedKeys, message) }
      return try BlobReferences.digests(in: root, keys: keys)
    }
    if let problem {
      found.add(problem.rule, store: store, key: record.key, problem.message)
    }
    return digests
  }

  private mutating func isWhole(_ digest: BlobDigest) throws(DocumentStoreError) -> Bool {
    if let isWhole = blobs[digest] { return isWhole }
    let contents = try FileCalls.read(snapshot.blobStore.path(digest))
    let isWhole = contents.map { BlobDigest(of: $0) == digest } ?? false
    blobs[digest] = isWhole
    return isWhole
  }
}

/// A walk over the keys of a value.
private struct KeyWalk {
  let keys: FleeceSharedKeys
  var stepsLeft: Int
  /// The problem with a key; nil while there is none.
  var message: String?

  mutating func visit(_ value: FleeceValue, depth: Int) throws(FleeceError) {
    stepsLeft -= 1
    guard message == nil, depth <= FleeceValue.depthMax, stepsLeft >= 0 else { return }
    if let array = value.array {
      for index in 0..<array.count {
        if let item = try array.value(at: index) { try visit(item, depth: depth + 1) }
      }
    } else if let dict = value.dict {
      for index in 0..<dict.count {
        switch try dict.key(at: index) {
        case .shared(let number) where keys.key(of: number) == nil:
          message = "key \(number) of \(keys.count) shared keys"
        case .text(let text) where keys.number(of: text) != nil:
          message = "key \(quoted(text.text)) is a text and has a number"
        default: break
        }
        try visit(try dict.value(at: index), depth: depth + 1)
      }
    }
  }
}
