// WriteTransaction.swift: the one open set of changes. Everything stays in memory until commit.

/// The one open set of changes to a database.
///
/// It belongs to the thread that began it. Dropping it without `commit` cancels it. An error about
/// a key, a table or a value leaves the transaction unchanged; after any other error `commit`
/// throws that error.
public final class WriteTransaction {
  let database: Database
  let base: VersionState
  let writer: TreeWriter
  /// Changed by `WriteTransaction+Schema.swift` only.
  var mutableTables: [MutableTable] = []
  var indexByName: [String: Int] = [:]
  /// Changes whenever a table or a column is added, removed or renamed.
  @safe @exclusivity(unchecked) package internal(set) var schemaStamp: UInt64 = 0
  private var isOpen = true
  private var failure: EngineError?

  /// The version that the commit makes.
  package var nextVersion: Version { base.version.next }

  /// Bytes of the program above, which belong to the version as its tables do.
  ///
  /// They are cheaper than a row for what most transactions change a few bytes of; with another
  /// size the commit writes nodes. At most `Layout.memoBytesMax`.
  package var memo: [UInt8] {
    get { writer.memo }
    set {
      precondition(hasMemo || newValue.isEmpty, "files of older formats have no memo")
      precondition(newValue.count <= Layout.memoBytesMax, "\(newValue.count) bytes of a memo")
      writer.memo = newValue
    }
  }

  /// Whether the file can have a memo.
  package var hasMemo: Bool { base.reader.formatVersion.hasMemo }

  /// How many more bytes of edits the root slot of this transaction's commit has room for; a commit
  /// with more writes nodes instead.
  package var editsRoomBytes: Int {
    Layout.slotEditsBytesMax - (base.reader.edited?.slotBytes ?? SlotEdits.fixedBytes)
  }

  init(_ database: Database, _ base: VersionState) {
    self.database = database
    self.base = base
    writer = TreeWriter(reader: base.reader, base: base.version)
    writer.nextTableID = base.group.nextTableID
    writer.memo = base.group.memo
    indexByName = base.group.indexByName
    mutableTables = base.group.tables.map { [writer] in MutableTable($0, writer) }
  }

  deinit {
    cancel()
  }

  /// The tables, new ones included.
  public var tables: [TableSchema] { mutableTables.map(\.schema) }

  func check() throws(EngineError) {
    guard isOpen else { throw .closed("write transaction") }
    // A change that failed half-way left the tables in memory in an inconsistent state.
    if let failure { throw failure }
  }

  func table(_ name: String) throws(EngineError) -> MutableTable {
    try check()
    guard let index = indexByName[name] else { throw Group.noSuchTable(name) }
    return mutableTables[index]
  }

  /// Adds a row.
  /// - Throws: `EngineError` with code `.keyExists`, `.noSuchTable`, `.schemaMismatch`,
  ///   `.valueTooLarge`, `.duplicateValue`, `.keyNotFound` for a link to a row that is not there,
  ///   `.corrupted` or `.closed`.
  /// - Complexity: O(log rows + rows of a leaf).
  public func insert(
    into table: String, key: Int64, _ values: [Value]
  ) throws(EngineError) {
    try put(table, key, values, .insert)
  }

  /// Replaces a row.
  /// - Throws: `EngineError` as `insert` does, with `.keyNotFound` instead of `.keyExists`.
  public func update(
    in table: String, key: Int64, _ values: [Value]
  ) throws(EngineError) {
    try put(table, key, values, .update)
  }

  /// Adds a row, or replaces it.
  /// - Throws: `EngineError` as `insert` does, without `.keyExists`.
  public func upsert(
    into table: String, key: Int64, _ values: [Value]
  ) throws(EngineError) {
    try put(table, key, values, .upsert)
  }

  private func put(
    _ name: String, _ key: Int64, _ values: [Value], _ mode: PutMode
  ) throws(EngineError) {
    let table = try table(name)
    try table.check(values)
    guard !table.indexedColumns.isEmpty else {
      try remembering { () throws(EngineError) in try table.tree.put(key, values, mode: mode) }
      return
    }
    try remembering { () throws(EngineError) in try putIndexed(table, key, values, mode) }
  }

  /// Deletes a row; single links to it become null, and collections lose it.
  /// - Throws: `EngineError` with code `.keyNotFound`, `.noSuchTable`, `.corrupted` or `.closed`.
  public func delete(from table: String, key: Int64) throws(EngineError) {
    let table = try self.table(table)
    try remembering { () throws(EngineError) in try remove(key, from: table) }
  }

  /// For following links: nodes stay readable until `body` ends.
  func reading<Result>(
    _ body: () throws(EngineError) -> Result
  ) throws(EngineError) -> Result {
    try base.reader.reading { _ throws(EngineError) in try body() }
  }

  /// Errors detected before anything changes.
  private static let harmless: Set<EngineError.Code> = [
    .keyExists, .keyNotFound, .schemaMismatch, .valueTooLarge, .indexOutOfRange, .duplicateValue,
  ]

  /// A change that broke off half-way must never be committed: every later call throws its error.
  func remembering<Result>(
    _ change: () throws(EngineError) -> Result
  ) throws(EngineError) -> Result {
    do throws(EngineError) {
      return try reading(change)
    } catch {
      if !Self.harmless.contains(error.code) { failure = error }
      throw error
    }
  }

  /// Publishes the transaction as the newest version, and ends it.
  /// - Returns: The version of these changes; snapshots see it, or a later one, from now on.
  /// - Throws: `EngineError` with code `.noSpace`, `.io`, `.tooManyVersions` or `.forked`; the
  ///   database stays at the previous version. After a failed sync every later write throws
  ///   `.poisoned`.
  /// - Complexity: O(changed nodes) writes and two syncs, three when the file has to grow.
  ///
  /// Durability: when the call returns, the version survives any crash. When it throws, the version
  /// may still be found after a crash or a reopen, whole.
  @discardableResult
  public func commit() throws(EngineError) -> Version {
    guard isOpen else { throw .closed("write transaction") }
    try end()
    return try database.commit(mutableTables, releasing: writer, base: base)
  }

  /// Ends the transaction for its commit.
  private func end() throws(EngineError) {
    if failure == nil { try? putWords() }
    isOpen = false
    if let failure {
      database.endWrite()
      throw failure
    }
  }

  /// Puts changes of words that wait into their indexes.
  func putWords() throws(EngineError) {
    try remembering { () throws(EngineError) in
      for table in mutableTables { try table.putWords() }
    }
  }

  /// As `commit()`, and holds the version before the next one can be committed.
  /// - Returns: The version's content; nil when it could not be pinned.
  /// - Throws: As `commit()`.
  package func commitHolding() throws(EngineError) -> Snapshot? {
    guard isOpen else { throw .closed("write transaction") }
    try end()
    return try database.commitHolding(mutableTables, releasing: writer, base: base)
  }

  /// Sets the thread that owns the transaction and may not begin another one: the caller, or none
  /// during a handover.
  package func assign(toCaller: Bool) { database.session.writerLock.assign(toCaller: toCaller) }

  /// Hands over the tables, and ends this object without ending the write.
  func handOut() -> (tables: [MutableTable], writer: TreeWriter) {
    isOpen = false
    return (mutableTables, writer)
  }

  /// Drops all changes and ends the transaction; does nothing when it has ended.
  public func cancel() {
    guard isOpen else { return }
    isOpen = false
    database.endWrite()
  }
}
