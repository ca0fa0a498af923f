// DataFile+Maintenance.swift: compacts and reindexes a file. VACUUM is not used: it may change row
// IDs, which are the keys of indexes' tables.

/// The result of compacting a data file.
public struct Compaction: Hashable, Sendable {
  /// The blobs that were removed, in order.
  public var removedBlobs: [BlobDigest] = []
  /// How many blobs stay.
  public var keptBlobCount = 0
  /// Free pages of the database before and after.
  public var freePages: (before: Int64, after: Int64) {
    (freePagesBefore, freePagesAfter)
  }
  var freePagesBefore: Int64 = 0
  var freePagesAfter: Int64 = 0
}

extension DataFile {
  /// Removes blobs that no kept revision names, returns free pages to the file system, and copies
  /// all commits to the database file.
  ///
  /// No other program may be writing blobs before its transaction begins meanwhile, as the real
  /// library does.
  /// - Returns: The result.
  /// - Throws: `DocumentStoreError`: `.corruptRevisionData` for a record whose blobs cannot be
  ///   read, and no blob is removed then; `.invalidParameter` within a transaction of the same
  ///   thread.
  /// - Complexity: O(records with blobs); O(records) when they do not name all blobs.
  ///
  /// Durability: a blob is removed only once the commits are durable that took its last name away.
  @discardableResult
  public func compact() throws(DocumentStoreError) -> Compaction {
    try checkWritable()
    return try writer.run { () throws(DocumentStoreError) in
      try checkIdle()
      var compaction = Compaction()
      compaction.freePagesBefore = try writer.number("PRAGMA freelist_count") ?? 0
      try collectBlobs(&compaction)
      try writer.execute("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)")
      compaction.freePagesAfter = try writer.number("PRAGMA freelist_count") ?? 0
      return compaction
    }
  }

  /// Rebuilds all of SQLite's indexes.
  /// - Throws: `DocumentStoreError`: `.unsupported` when an index needs something that this store
  ///   does not have; `.invalidParameter` within a transaction of the same thread.
  /// - Complexity: O(rows · log rows).
  public func reindex() throws(DocumentStoreError) {
    try checkWritable()
    try writer.run { () throws(DocumentStoreError) in
      try checkIdle()
      try writer.execute("REINDEX")
    }
  }

  /// Collects statistics of all indexes, with which SQLite plans queries (`ANALYZE`).
  ///
  /// Reads that begin later use them, except on connections that were reading meanwhile; other
  /// processes use them when they open the file.
  /// - Parameter isComplete: Whether all of each index is read, and not only some 400 rows.
  /// - Throws: `DocumentStoreError`: `.busy` when another writer holds the file for longer than the
  ///   timeout; `.invalidParameter` within a transaction of the same thread.
  /// - Complexity: O(indexes), or O(rows) of all indexes if complete.
  ///
  /// Durability: as a commit.
  public func analyze(isComplete: Bool = false) throws(DocumentStoreError) {
    try checkWritable()
    try writer.run { () throws(DocumentStoreError) in
      try checkIdle()
      try writer.execute("PRAGMA analysis_limit = \(isComplete ? 0 : 400); ANALYZE")
    }
    // A connection reads statistics only with the schema.
    try closeIdleReaders()
  }

  private func checkIdle() throws(DocumentStoreError) {
    guard writer.transaction.kind == .none else {
      throw DocumentStoreError(
        .invalidParameter, "\(quoted(path)) is in a transaction; do this after it")
    }
  }

  private func collectBlobs(_ compaction: inout Compaction) throws(DocumentStoreError) {
    let blobs = blobStore
    guard try !blobs.digests().isEmpty else { return }
    // While this transaction is open no other writer can name or store a blob.
    try writer.beginWriting()
    defer { writer.rollBack() }
    let snapshot = Snapshot(connection: writer, file: self)
    let named = try snapshot.namedBlobs()
    let present = try blobs.digests()
    var unnamed: [BlobDigest] = []
    for digest in present where !named.contains(digest) {
      // A folder with a blob's name is none.
      if try FileCalls.kind(blobs.path(digest)) == .file { unnamed.append(digest) }
    }
    if !unnamed.isEmpty {
      // Releases of the real library forgot the flag of some records that name blobs.
      let others = try snapshot.namedBlobs(flags: [])
      unnamed.removeAll { others.contains($0) }
    }
    compaction.removedBlobs = unnamed
    compaction.keptBlobCount = present.count - compaction.removedBlobs.count
    guard !compaction.removedBlobs.isEmpty else { return }
    // Durable before: with NORMAL, possibly not the last commits. After: all, so that no crash
    // restores a document whose blob was removed.
    let log = Bundle(path: path).databasePath + "-wal"
    if try FileCalls.kind(log) == .file { try FileCalls.sync(log) }
    try FileCalls.sync(path)
    for digest in compaction.removedBlobs {
      knownBlobs.remove(digest)
      try FileCalls.remove(blobs.path(digest))
    }
  }
}

extension Snapshot {
  /// The blobs that any kept revision of the documents with these flags names.
  func namedBlobs(
    flags: RecordFlags = .hasAttachments
  ) throws(DocumentStoreError) -> Set<BlobDigest> {
    var (named, flagged) = (Set<BlobDigest>(), KeyStore.Enumeration())
    flagged.includesDeleted = true
    flagged.flags = flags
    for name in try keyStores() where name.isCollection {
      guard let store = try keyStore(name) else { continue }
      do {
        try store.enumerate(flagged) { record in
          named.formUnion(try RecordBodies.blobs(of: record, keys: connection.keys))
          return true
        }
      } catch {
        throw SQLFailure.error(error, connection.context)
      }
    }
    return named
  }
}
