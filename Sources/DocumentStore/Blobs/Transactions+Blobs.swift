// Transactions+Blobs.swift: blobs are read in snapshots and stored in write transactions: while one
// runs, no process collects blobs.

extension Snapshot {
  var blobStore: BlobStore { file.blobStore }

  /// The contents of a blob.
  /// - Parameter digest: Its digest.
  /// - Returns: The bytes; nil when there is no such blob, or it was collected after this snapshot.
  /// - Throws: `DocumentStoreError` with code `.corruptData` when the file's digest differs from
  ///   its name.
  /// - Complexity: O(bytes).
  public func blob(_ digest: BlobDigest) throws(DocumentStoreError) -> [UInt8]? {
    check()
    return try blobStore.contents(digest)
  }
}

extension WriteTransaction {
  /// Stores a blob.
  ///
  /// One that no document names when the file is compacted is collected.
  /// - Parameter contents: The bytes.
  /// - Returns: The digest, for `"digest"` in a dict with `"@type": "blob"`.
  /// - Throws: `DocumentStoreError` with the system's error.
  /// - Complexity: O(bytes).
  ///
  /// Durability: the contents are durable when this returns, the name before the transaction's
  /// commit.
  public func putBlob(_ contents: [UInt8]) throws(DocumentStoreError) -> BlobDigest {
    snapshot.check()
    let digest = try snapshot.blobStore.put(contents)
    connection.transaction.hasNewBlobs = true
    return digest
  }
}

extension DataFile {
  var blobStore: BlobStore { BlobStore(bundle: Bundle(path: path), known: knownBlobs) }
}

extension KeyStore {
  /// Checks a body that is to be saved, and makes the blobs durable that it names and that are
  /// there.
  /// - Returns: Whether it names any.
  func prepare(body: [UInt8]) throws(DocumentStoreError) -> Bool {
    let digests = try DocumentRules.digests(in: body, keys: connection.keys)
    for digest in digests where try snapshot.blobStore.sync(digest) {
      connection.transaction.hasNewBlobs = true
    }
    return !digests.isEmpty
  }
}
