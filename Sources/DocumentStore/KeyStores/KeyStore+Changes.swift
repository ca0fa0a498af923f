// KeyStore+Changes.swift: flags, purges, moves, and records without sequence.

extension KeyStore {
  /// Adds flags to a record that still has a sequence, live or dead; its subsequence rises by one.
  /// - Parameters:
  ///   - flags: The flags; not `.deleted`, which is a revision.
  ///   - key: The record's key.
  ///   - sequence: Its sequence.
  /// - Returns: Whether there was such a record.
  /// - Throws: `DocumentStoreError`.
  @discardableResult
  public func setFlags(
    _ flags: RecordFlags, of key: String, sequence: Int64
  ) throws(DocumentStoreError) -> Bool {
    try checkWriting()
    guard !flags.contains(.deleted) else {
      throw DocumentStoreError(
        .invalidParameter, "\(quoted(key)): a deletion is a revision; save a tombstone")
    }
    for table in tables {
      let statement = try table.statement(.setFlags, on: connection)
      defer { statement.reset() }
      statement.bind(Int64(flags.rawValue), at: 1)
      try statement.bind(key, at: 2)
      statement.bind(sequence, at: 3)
      try statement.run()
      if connection.changes > 0 { return true }
    }
    return false
  }

  /// Removes a record, live or dead, without a trace: no tombstone, no sequence.
  ///
  /// Its blobs stay until the file is compacted.
  /// - Parameter key: Its key.
  /// - Returns: Whether there was one.
  /// - Throws: `DocumentStoreError`.
  @discardableResult
  public func purge(_ key: String) throws(DocumentStoreError) -> Bool {
    try checkWriting()
    var wasThere = false
    for table in tables {
      let statement = try table.statement(.delete, on: connection)
      defer { statement.reset() }
      try statement.bind(key, at: 1)
      try statement.run()
      guard connection.changes > 0 else { continue }
      if name.isCollection { try state.countPurge(of: table, on: connection) }
      wasThere = true
    }
    return wasThere
  }

  /// Moves a record to another collection, with a new sequence; in this one it is purged.
  /// - Parameters:
  ///   - key: Its key.
  ///   - target: The other collection, of the same transaction.
  ///   - newKey: Its key there; the same without one.
  /// - Throws: `DocumentStoreError`: `.notFound` without such a record, `.conflict` when the key is
  ///   taken there; then nothing is changed.
  public func move(
    _ key: String, to target: KeyStore, as newKey: String? = nil
  ) throws(DocumentStoreError) {
    try checkWriting()
    try target.checkWriting()
    guard name.isCollection, target.name.isCollection, target.name != name else {
      throw DocumentStoreError(
        .invalidParameter,
        "records move between two collections, "
          + "not from \(name) to \(target.name)")
    }
    guard var record = try record(key) else {
      throw DocumentStoreError(.notFound, "\(name) has no \(quoted(key))")
    }
    record.key = newKey ?? key
    record.sequence = 0
    try target.set(&record)
    try purge(key)
  }

  /// Stores a record without sequence, in place of the one with its key: of `info`, `checkpoints`
  /// and the like.
  /// - Parameters:
  ///   - body: The body.
  ///   - key: The key.
  ///   - version: Data that the caller stores with it.
  /// - Throws: `DocumentStoreError` with code `.invalidParameter` for collections, and for keys
  ///   that the store itself uses.
  public func setRaw(
    _ body: [UInt8]?, for key: String, version: [UInt8]? = nil
  ) throws(DocumentStoreError) {
    try checkWriting()
    guard !name.isCollection else {
      throw DocumentStoreError(.invalidParameter, "records of \(name) have sequences; use set")
    }
    guard name != .info || StoreInfo.Key(rawValue: key) == nil else {
      throw DocumentStoreError(
        .invalidParameter, "\(quoted(key)) of info is the store's own; choose another key")
    }
    let statement = try connection.statement(
      "INSERT OR REPLACE INTO \(identifier(state.live.name)) (key, version, body) VALUES (?, ?, ?)")
    defer { statement.reset() }
    try statement.bind(key, at: 1)
    try statement.bind(version, at: 2)
    try statement.bind(body, at: 3)
    try statement.run()
  }
}
