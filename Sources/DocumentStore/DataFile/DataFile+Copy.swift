// DataFile+Copy.swift: copies a data file that may be in use. Invariant: the copy gets its name
// when it is whole and durable; a crash before that leaves a folder of another name, which the next
// copy to that name removes.

extension DataFile {
  /// Copies a data file with its blobs; the copy has its own UUIDs.
  /// - Parameters:
  ///   - path: The bundle to copy; it is not changed.
  ///   - target: The bundle that is made.
  ///   - options: How the copy is opened to be finished.
  /// - Throws: `DocumentStoreError`: `.invalidParameter` when the target exists; as `init`.
  /// - Complexity: O(bytes).
  ///
  /// Durability: the copy is durable when this returns; after a crash within it there is none.
  public static func copy(
    from path: String, to target: String, options: Options = Options()
  ) throws {
    let (source, copy) = (Bundle(path: path), Bundle(path: target))
    guard copy.path.hasSuffix(Bundle.ending), try FileCalls.kind(copy.path) == nil else {
      throw DocumentStoreError(
        .invalidParameter, "\(quoted(copy.path)) exists, or is not named as a bundle")
    }
    var reading = Options()
    reading.isReadOnly = true
    reading.busyTimeoutMilliseconds = options.busyTimeoutMilliseconds
    let file = try DataFile(path: source.path, options: reading)
    defer { try? file.close() }
    let name = copy.path.dropFirst(copy.parent == "." ? 0 : copy.parent.utf8.count + 1)
    let partial = Bundle(path: "\(copy.parent)/.copying-\(name)")
    try delete(path: partial.path)
    _ = try FileCalls.makeFolder(partial.path)
    do {
      // Blobs before the database and after it: one that the database names exists at its commit.
      try copyBlobs(of: source, to: partial)
      try file.writer.backUp(to: partial.databasePath)
      try copyBlobs(of: source, to: partial)
      try renew(partial, options)
      // Durable before: the contents. After, with the folder's sync: the name.
      try FileCalls.rename(partial.path, to: copy.path)
    } catch {
      _ = try? delete(path: partial.path)
      throw error
    }
    try FileCalls.sync(copy.parent)
  }

  private static func copyBlobs(of source: Bundle, to copy: Bundle) throws(DocumentStoreError) {
    let names = try FileCalls.names(in: source.blobsPath).filter {
      BlobDigest(fileName: $0) != nil
    }
    guard !names.isEmpty else { return }
    _ = try FileCalls.makeFolder(copy.blobsPath)
    for name in names where try FileCalls.kind(copy.blobsPath + "/" + name) == nil {
      // It may have been collected meanwhile.
      guard let contents = try FileCalls.read(source.blobsPath + "/" + name) else { continue }
      _ = try FileCalls.write(contents, to: copy.blobsPath + "/" + name)
    }
    try FileCalls.sync(copy.blobsPath)
  }

  /// Gives the copy its own UUIDs, and makes it durable.
  private static func renew(_ copy: Bundle, _ options: Options) throws {
    var options = options
    options.isReadOnly = false
    options.creates = false
    options.sync = .full
    let file = try DataFile(path: copy.path, options: options)
    defer { try? file.close() }
    try file.write { transaction in
      let info = StoreInfo(connection: transaction.connection)
      if let old = try info.body(.privateUUID) { try info.set(.previousPrivateUUID, old) }
      try info.set(.publicUUID, StoreInfo.uuid(options.entropy(16)))
      try info.set(.privateUUID, StoreInfo.uuid(options.entropy(16)))
    }
    try file.close()
    try FileCalls.sync(copy.path)
  }
}
