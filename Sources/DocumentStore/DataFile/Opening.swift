// Opening.swift: prepares a file before its use: settings, creation, upgrade. A file is created in
// one transaction. A crash before it leaves a database without tables, which the next open with
// `creates` fills and any other rejects; after it, the file is complete.

/// The opening of a file on the connection that writes.
struct Opening {
  let connection: Connection
  let options: DataFile.Options
  let bundle: Bundle

  /// Settings that every connection has.
  ///
  /// Memory-mapped reads stay off: users of the real library traced damage to them.
  static func configure(_ connection: Connection) throws(DocumentStoreError) {
    try connection.execute(
      "PRAGMA mmap_size = 0; PRAGMA cache_size = -16384; PRAGMA case_sensitive_like = true")
  }

  func run() throws(DocumentStoreError) {
    try Self.configure(connection)
    let version = try self.version()
    if options.isReadOnly {
      guard version != 0 else { throw notAStore() }
      return
    }
    if version == 0 { try create() }
    try syncFolders()
    // GRDB and SQLite's build choose their own; so it is said last.
    try connection.execute(
      "PRAGMA journal_size_limit = 5242880; PRAGMA synchronous = \(options.sync.rawValue)")
    try Upgrade(connection: connection, options: options, path: bundle.path).run()
  }

  /// The file's format number, which must be one that can be read.
  private func version() throws(DocumentStoreError) -> Int64 {
    let version = try connection.number("PRAGMA user_version") ?? 0
    switch version {
    case 0: return 0
    case ..<Schema.oldest:
      throw DocumentStoreError(
        .databaseTooOld,
        "\(quoted(bundle.path)) has format \(version) < \(Schema.oldest); open it once with "
          + "Couchbase Lite 2.x")
    case (Schema.newest + 1)...:
      throw DocumentStoreError(
        .databaseTooNew,
        "\(quoted(bundle.path)) has format \(version) > \(Schema.newest); use a newer program")
    default: return version
    }
  }

  /// Makes the file: everything in one transaction, durable with its folders.
  private func create() throws(DocumentStoreError) {
    if try connection.number("SELECT count(*) FROM sqlite_master") != 0 {
      // Another process may have made the file since its format was read.
      guard try version() == 0 else { return }
      throw notAStore()
    }
    guard options.creates else { throw notAStore() }
    // Both are stored in the file's header, which has to be written before its first table.
    try connection.execute("PRAGMA auto_vacuum = incremental; PRAGMA synchronous = full")
    try Self.useWAL(connection, options)
    try connection.execute("BEGIN IMMEDIATE")
    do {
      // Another process may have been here first.
      if try connection.number("PRAGMA user_version") == 0 { try fill() }
      try connection.execute("COMMIT")
    } catch {
      try? connection.execute("ROLLBACK")
      throw error
    }
  }

  /// Makes the names of the files durable, and that of the bundle.
  ///
  /// Each open does it: a process that was killed while it made the file, or the real library, did
  /// not. Durable before: the commits in the write-ahead log.
  private func syncFolders() throws(DocumentStoreError) {
    try FileCalls.sync(bundle.path)
    do { try FileCalls.sync(bundle.parent) } catch {
      // A process that may not read the folder cannot have created the bundle in it.
      guard error.code == .notWriteable else { throw error }
    }
  }

  private func fill() throws(DocumentStoreError) {
    try connection.execute(Schema.kvmeta)
    let collection = KeyStoreName.defaultCollection
    for table in [collection.table, collection.deadTable, KeyStoreName.info.table] {
      try Schema.make(table, on: connection)
    }
    let info = StoreInfo(connection: connection)
    let versioning = options.versioning == .oldTrees ? .trees : options.versioning
    try info.set(.versioning, StoreInfo.number(UInt64(versioning.rawValue)))
    try info.set(.publicUUID, StoreInfo.uuid(options.entropy(16)))
    try info.set(.privateUUID, StoreInfo.uuid(options.entropy(16)))
    try connection.execute("PRAGMA user_version = \(Schema.current)")
  }

  /// Switches to the write-ahead log.
  ///
  /// Other processes that open the file at the same time may hold a lock, and SQLite does not wait
  /// for them here as it does elsewhere.
  static func useWAL(
    _ connection: Connection, _ options: DataFile.Options
  ) throws(DocumentStoreError) {
    var triesLeft = max(0, options.busyTimeoutMilliseconds / 10)
    while true {
      do throws(DocumentStoreError) {
        let mode = try connection.texts("PRAGMA journal_mode = WAL").first
        if mode == "wal" { return }
        throw DocumentStoreError(
          .cantOpenFile,
          "\(quoted(connection.context)) stays in journal mode \(mode ?? "unknown"); "
            + "its file system must support shared memory")
      } catch {
        guard error.code == .busy, triesLeft > 0 else { throw error }
        triesLeft -= 1
        FileCalls.sleep(milliseconds: 10)
      }
    }
  }

  private func notAStore() -> DocumentStoreError {
    DocumentStoreError(
      .wrongFormat,
      "\(quoted(bundle.databasePath)) has no format number, so it is not a data file; if it is one "
        + "that was never finished, open it with `creates`")
  }
}
