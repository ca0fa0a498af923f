// DataFile+Deletion.swift: taking a data file away.

extension DataFile {
  /// Removes a data file with its blobs.
  ///
  /// It must be closed, in every process.
  ///
  /// Files of other names in the bundle stay, and the bundle with them.
  /// - Parameter path: The bundle's path.
  /// - Returns: Whether there was one.
  /// - Throws: `DocumentStoreError` with the system's error, and `.notADatabaseFile` for a path
  ///   that is not a bundle.
  ///
  /// Durability: the removal is durable when this returns. After a crash within it there is either
  /// the whole data file, or one that has lost its database and opens as a new one.
  @discardableResult
  public static func delete(path: String) throws(DocumentStoreError) -> Bool {
    let bundle = Bundle(path: path)
    guard let kind = try FileCalls.kind(bundle.path) else { return false }
    guard kind == .folder, bundle.path.hasSuffix(Bundle.ending) else {
      throw DocumentStoreError(
        .notADatabaseFile, "\(quoted(bundle.path)) is not a bundle; nothing was removed")
    }
    // The database is deleted first: a log without a database is unusable, but a database without
    // its log could be read.
    for ending in ["", "-wal", "-shm"] {
      try FileCalls.remove(bundle.databasePath + ending)
      if ending.isEmpty { try FileCalls.sync(bundle.path) }
    }
    for name in try FileCalls.names(in: bundle.blobsPath)
    where name.hasSuffix(".blob") || name.hasPrefix("incoming_") {
      try FileCalls.remove(bundle.blobsPath + "/" + name)
    }
    if try FileCalls.names(in: bundle.blobsPath).isEmpty {
      try FileCalls.removeFolder(bundle.blobsPath)
    }
    if try FileCalls.names(in: bundle.path).isEmpty { try FileCalls.removeFolder(bundle.path) }
    try FileCalls.sync(bundle.parent)
    return true
  }
}
