// DataFile.swift: a bundle with its database: one connection for writing, and others for reading.
// Invariants: `writer` has a write transaction only while `write` runs; a reader that is not in
// `idle` belongs to one call of `read`.

import Synchronization

/// A document database: the bundle `NAME.cblite2/` with `db.sqlite3` and the blobs.
///
/// Any thread may call it. One write transaction runs at a time, over all processes; readers run
/// concurrently, each on the contents of one commit.
public final class DataFile: Sendable {
  /// The bundle's path.
  public let path: String
  /// How it was opened.
  public let options: Options
  let writer: Connection
  let clock: VersionClock
  let knownBlobs = KnownBlobs()
  let models = PredictiveModels()
  private let pool = Mutex(ReaderPool())
  private let failure = Mutex<DocumentStoreError?>(nil)
  /// Key stores that were enumerated by sequence without an index for it.
  let wantsSequences = Mutex<Set<KeyStoreName>>([])

  private struct ReaderPool {
    var idle: [Connection] = []
    var isClosed = false
  }

  /// Opens a data file, and makes or upgrades it first if that is needed and allowed.
  ///
  /// Documents that have expired since are purged.
  /// - Parameters:
  ///   - path: The bundle's path.
  ///   - options: How it is opened.
  /// - Throws: `DocumentStoreError`: `.notFound` without a file that may be created,
  ///   `.notADatabaseFile`, `.wrongFormat`, `.databaseTooOld`, `.databaseTooNew`,
  ///   `.cantUpgradeDatabase`, `.busy`, `.cantOpenFile` and the system's errors.
  /// - Complexity: O(1); an upgrade may touch each record.
  ///
  /// Durability: a created file is durable when this returns, including its folder entry; so is
  /// each step of an upgrade.
  public init(path: String, options: Options = Options()) throws(DocumentStoreError) {
    let bundle = Bundle(path: path)
    self.path = bundle.path
    self.options = options
    clock = VersionClock(options.nanoseconds)
    writer = try Self.open(bundle, options, models)
    try purgeOnOpen()
  }

  private static func open(
    _ bundle: Bundle, _ options: Options, _ models: PredictiveModels
  ) throws(DocumentStoreError) -> Connection {
    let isNew = try bundle.prepare(options)
    do {
      let connection = try Connection(
        bundle.databasePath, context: bundle.path, isReadOnly: options.isReadOnly,
        busyTimeoutMilliseconds: options.busyTimeoutMilliseconds, models: models)
      try connection.run { () throws(DocumentStoreError) in
        try Opening(connection: connection, options: options, bundle: bundle).run()
      }
      return connection
    } catch {
      // A folder that this call created and that is empty is removed again.
      if isNew { try? bundle.removeIfEmpty() }
      throw error
    }
  }

  /// Closes it; no transaction may run, and none can be begun afterwards.
  /// - Throws: `DocumentStoreError` with code `.busy` while one runs.
  ///
  /// Durability: SQLite copies all commits to the database file and syncs it, if no other process
  /// has it open.
  public func close() throws(DocumentStoreError) {
    let readers = pool.withLock { pool -> [Connection]? in
      guard !pool.isClosed else { return nil }
      pool.isClosed = true
      defer { pool.idle = [] }
      return pool.idle
    }
    guard let readers else { return }
    for reader in readers { try reader.close() }
    try writer.close()
  }

  /// Runs a closure with a connection for reading.
  func withReader<Result, Failure: Error>(
    _ body: (Connection) throws(Failure) -> Result, open: (DocumentStoreError) -> Failure
  ) throws(Failure) -> Result {
    let reader: Connection
    do throws(DocumentStoreError) { reader = try takeReader() } catch { throw open(error) }
    defer { giveBack(reader) }
    return try body(reader)
  }

  private func takeReader() throws(DocumentStoreError) -> Connection {
    try checkOpen()
    if let reader = pool.withLock({ $0.idle.popLast() }) { return reader }
    return try makeReader()
  }

  /// Closes the connections that nobody reads with.
  func closeIdleReaders() throws(DocumentStoreError) {
    let readers = pool.withLock { pool -> [Connection] in
      defer { pool.idle = [] }
      return pool.idle
    }
    for reader in readers { try reader.close() }
  }

  /// A connection that reads, and that its caller closes.
  func makeReader() throws(DocumentStoreError) -> Connection {
    let reader = try Connection(
      Bundle(path: path).databasePath, context: path, isReadOnly: true,
      busyTimeoutMilliseconds: options.busyTimeoutMilliseconds, models: models)
    try reader.run { () throws(DocumentStoreError) in try Opening.configure(reader) }
    return reader
  }

  private func giveBack(_ reader: Connection) {
    let isKept = pool.withLock { pool -> Bool in
      guard !pool.isClosed, pool.idle.count < options.idleReadersMax else { return false }
      pool.idle.append(reader)
      return true
    }
    if !isKept { try? reader.close() }
  }

  func checkOpen() throws(DocumentStoreError) {
    guard !pool.withLock({ $0.isClosed }) else {
      throw DocumentStoreError(.notOpen, "\(quoted(path)) is closed; open it again")
    }
  }

  func checkWritable() throws(DocumentStoreError) {
    try checkOpen()
    guard !options.isReadOnly else {
      throw DocumentStoreError(
        .notWriteable, "\(quoted(path)) is open for reading; open it without isReadOnly")
    }
    if let failure = failure.withLock({ $0 }) {
      throw DocumentStoreError(
        .notWriteable, "\(quoted(path)) takes no more writes; open it again. \(failure.message)")
    }
  }

  /// Accepts no more writes: the next open will show whether the failed commit exists.
  func refuseWrites(after error: DocumentStoreError) {
    failure.withLock { $0 = $0 ?? error }
  }
}
