// BlobStore.swift: the files of blobs, and the order in which they become durable:
//   1. the folder `Attachments`, made with the first blob, and its entry in the bundle
//   2. the contents, under a name that begins with `incoming_`
//   3. the rename to the digest's name
//   4. the folder's entries, before the commit that names them
// The real library syncs none of these.

/// The blobs of a bundle.
struct BlobStore {
  let bundle: Bundle
  /// Digests whose contents this data file has synced.
  let known: KnownBlobs

  func path(_ digest: BlobDigest) -> String { bundle.blobsPath + "/" + digest.fileName }

  /// Writes a blob, unless it is there whole.
  /// - Returns: Its digest. Its name is durable once the folder is synced.
  func put(_ contents: [UInt8]) throws(DocumentStoreError) -> BlobDigest {
    let digest = BlobDigest(of: contents)
    let isNew = try FileCalls.makeFolder(bundle.blobsPath)
    // A process that was killed may have made the folder and not synced it.
    if isNew || !known.hasFolder {
      try FileCalls.sync(bundle.path)
      known.hasFolder = true
    }
    // It may have been written without a sync before, or torn by a crash.
    if try FileCalls.read(path(digest)) == contents {
      try sync(digest)
      return digest
    }
    try replace(digest, with: contents)
    return digest
  }

  /// Writes the blob to a new file, replacing any old one.
  private func replace(_ digest: BlobDigest, with contents: [UInt8]) throws(DocumentStoreError) {
    let incoming = try write(contents)
    // Durable before: the contents. After, with the folder's sync: the name.
    do { try FileCalls.rename(incoming, to: path(digest)) } catch {
      try? FileCalls.remove(incoming)
      throw error
    }
    known.insert(digest)
  }

  private func write(_ contents: [UInt8]) throws(DocumentStoreError) -> String {
    for number in 0..<100_000 {
      let digits = String(number + 100_000).dropFirst()
      let path = bundle.blobsPath + "/incoming_0" + digits
      do {
        if try FileCalls.write(contents, to: path) { return path }
      } catch {
        try? FileCalls.remove(path)
        throw error
      }
    }
    throw DocumentStoreError(
      .cantOpenFile, "\(quoted(bundle.blobsPath)) is full of files incoming_…; remove them")
  }

  /// Makes the contents of an existing blob durable.
  /// - Returns: Whether it is there.
  @discardableResult
  func sync(_ digest: BlobDigest) throws(DocumentStoreError) -> Bool {
    guard try FileCalls.kind(path(digest)) == .file else { return false }
    if known.contains(digest) { return true }
    if known.hasFailed(digest) {
      guard let contents = try contents(digest) else { return false }
      try replace(digest, with: contents)
      return true
    }
    do { try FileCalls.sync(path(digest)) } catch {
      known.noteFailure(digest)
      throw error
    }
    known.insert(digest)
    return true
  }

  /// The contents of a blob; nil when it does not exist.
  /// - Throws: `DocumentStoreError` with code `.corruptData` when its digest differs from its name.
  func contents(_ digest: BlobDigest) throws(DocumentStoreError) -> [UInt8]? {
    guard let contents = try FileCalls.read(path(digest)) else { return nil }
    guard BlobDigest(of: contents) == digest else {
      throw DocumentStoreError(
        .corruptData,
        "\(quoted(path(digest))) has \(contents.count) bytes with another digest; put it again")
    }
    return contents
  }

  /// The digests of all files with names of blobs, in order.
  func digests() throws(DocumentStoreError) -> [BlobDigest] {
    try FileCalls.names(in: bundle.blobsPath).compactMap { BlobDigest(fileName: $0) }.sorted()
  }
}
