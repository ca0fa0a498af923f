// Connection.swift [U]: one connection to SQLite through GRDB, its statements, and its cached state
// of the data file. Used only on its GRDB queue. Safety: `handle` is valid as long as the queue;
// statements are finalized before it closes; `@unchecked Sendable` because every use is inside
// `run`, which the queue serializes.

import Fleece
import GRDB
import GRDBSQLite

/// A connection and its caches.
@safe final class Connection: @unchecked Sendable {
  private let queue: DatabaseQueue
  let handle: OpaquePointer
  private var statements: [String: SQLStatement] = [:]
  /// The data file's path, for messages.
  let context: String
  /// Memory for encoding bodies; nil while it is in use, and before.
  var encoder: FleeceEncoder?
  /// The open transaction of this connection.
  var transaction = TransactionState()
  /// Queries run so far.
  var queries = PreparedQueries()
  /// Key stores used so far, by name.
  var stores: [KeyStoreName: KeyStoreState] = [:]
  /// Whether `kvmeta` has purge counts, once checked.
  var knownPurgeCounts: Bool?
  /// The state for the SQL functions.
  let functionState: FunctionState
  /// The shared keys as of the last transaction.
  var keys: FleeceSharedKeys {
    get { functionState.keys }
    set { functionState.keys = newValue }
  }
  /// SQLite's version of the data when the keys were read.
  var keysVersion: Int64?

  /// Opens a file.
  init(
    _ path: String, context: String, isReadOnly: Bool, busyTimeoutMilliseconds: Int,
    models: PredictiveModels
  ) throws(DocumentStoreError) {
    var configuration = Configuration()
    configuration.readonly = isReadOnly
    configuration.foreignKeysEnabled = false
    configuration.label = "document store"
    let seconds = Double(busyTimeoutMilliseconds) / 1000
    configuration.busyMode = .timeout(seconds)
    do {
      queue = try DatabaseQueue(path: path, configuration: configuration)
      unsafe handle = try unsafe queue.writeWithoutTransaction { database in
        guard let handle = unsafe database.sqliteConnection else {
          throw DocumentStoreError(.cantOpenFile, "\(quoted(context)): no connection")
        }
        return unsafe handle
      }
    } catch {
      throw SQLFailure.error(error, context)
    }
    self.context = context
    let blobs = BlobStore(bundle: Bundle(path: context), known: KnownBlobs())
    functionState = FunctionState(models: models, blobs: blobs)
    try registerFunctions()
  }

  // SQLite does not close a connection that has statements.
  deinit {
    queries.removeAll()
    stores.removeAll()
    statements.removeAll()
  }

  /// Closes it; it is not used afterwards.
  func close() throws(DocumentStoreError) {
    run {
      queries.removeAll()
      statements.removeAll()
      stores.removeAll()
    }
    do { try queue.close() } catch { throw SQLFailure.error(error, context) }
  }

  /// Copies the pages of the database, as of one commit, to a new file; not called inside `run`.
  func backUp(to path: String) throws(DocumentStoreError) {
    do {
      let target = try DatabaseQueue(path: path)
      try queue.backup(to: target)
      try target.close()
    } catch {
      throw SQLFailure.error(error, context)
    }
  }

  /// Does something on the connection's queue, one caller at a time.
  func run<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let outcome: Swift.Result<Result, Failure> = queue.unsafeReentrantWrite { _ in
      do throws(Failure) { return .success(try body()) } catch { return .failure(error) }
    }
    return try outcome.get()
  }

  /// A statement, prepared once; a second one while the first is in use.
  func statement(_ sql: String) throws(DocumentStoreError) -> SQLStatement {
    if let statement = statements[sql], !statement.isInUse { return statement }
    let statement = try unsafe SQLStatement(sql, on: handle, context: context)
    if statements.count >= Self.statementsMax { statements.removeAll() }
    statements[sql] = statement
    return statement
  }

  /// Limit of statements cached for reuse.
  private static let statementsMax = 1000

  /// Runs statements that have no parameters and whose rows do not matter.
  func execute(_ sql: String) throws(DocumentStoreError) {
    let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw unsafe SQLFailure.error(handle, code, context) }
  }

  /// The first column of the first row of a statement; nil when there is no row, or it is NULL.
  func number(_ sql: String) throws(DocumentStoreError) -> Int64? {
    let statement = try statement(sql)
    defer { statement.reset() }
    guard try statement.step(), !statement.isNull(0) else { return nil }
    return statement.int64(0)
  }

  /// The first column of all rows of a statement.
  func texts(_ sql: String) throws(DocumentStoreError) -> [String] {
    let statement = try statement(sql)
    defer { statement.reset() }
    var texts: [String] = []
    while try statement.step() { texts.append(statement.text(0)) }
    return texts
  }

  /// Keeps an encoder, which has no value, for the next body.
  func keep(_ encoder: consuming FleeceEncoder) {
    guard encoder.capacityBytes <= Self.encoderBytesMax else { return }
    encoder.sharedKeys = nil
    encoder.depthMax = FleeceValue.depthMax
    self.encoder = consume encoder
  }

  /// Most bytes of output that an encoder has when it is kept.
  private static let encoderBytesMax = 1 << 20

  /// How many rows the last statement changed.
  var changes: Int { unsafe Int(sqlite3_changes(handle)) }

  /// Whether SQLite has a transaction open.
  var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }
}
