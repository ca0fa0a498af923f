// KeyStore.swift: reads the records of one key store in one transaction.

/// The records of a key store within a transaction.
///
/// It is valid as long as its snapshot or transaction.
public struct KeyStore {
  let snapshot: Snapshot
  let state: KeyStoreState
  var connection: Connection { snapshot.connection }

  /// The name.
  public var name: KeyStoreName { state.name }

  /// The sequence of the last change; 0 without any.
  /// - Throws: `DocumentStoreError`.
  public func lastSequence() throws(DocumentStoreError) -> Int64 {
    snapshot.check()
    return try state.loadedCounters(on: connection).lastSequence
  }

  /// The number of rows removed so far, of live and dead records together.
  /// - Throws: `DocumentStoreError`.
  public func purgeCount() throws(DocumentStoreError) -> Int64 {
    snapshot.check()
    let counters = try state.loadedCounters(on: connection)
    return counters.purgeCount &+ (counters.deadPurgeCount ?? 0)
  }

  /// The number of live records.
  /// - Throws: `DocumentStoreError`.
  /// - Complexity: O(records) rows of an index.
  public func count() throws(DocumentStoreError) -> Int {
    snapshot.check()
    // Tombstones from before 3.1 are among the default collection's live records.
    let condition = name == .defaultCollection ? " WHERE flags & 1 = 0" : ""
    let sql = "SELECT count(*) FROM \(identifier(state.live.name))\(condition)"
    return Int(clamping: try connection.number(sql) ?? 0)
  }

  /// A record, live or dead.
  /// - Parameters:
  ///   - key: Its key.
  ///   - content: The content to read.
  /// - Returns: The record; nil when there is none.
  /// - Throws: `DocumentStoreError`.
  /// - Complexity: O(log records).
  public func record(
    _ key: String, content: Content = .whole
  ) throws(DocumentStoreError) -> Record? {
    snapshot.check()
    return try row(of: key, content: content)?.record
  }

  /// A record by its sequence, live or dead.
  /// - Parameter sequence: The sequence.
  /// - Returns: The record; nil when no record has it.
  /// - Throws: `DocumentStoreError`.
  /// - Complexity: O(log records) with the index that enumerations make, else O(records).
  public func record(sequence: Int64) throws(DocumentStoreError) -> Record? {
    snapshot.check()
    try wantSequences()
    for table in tables {
      let statement = try table.statement(.getSequence, on: connection)
      defer { statement.reset() }
      statement.bind(sequence, at: 1)
      if try statement.step() { return Record(statement) }
    }
    return nil
  }

  /// The content to read of a record.
  public enum Content: Sendable {
    /// Key, sequence, flags and version.
    case head
    /// All.
    case whole
  }

  /// The tables, live records first.
  var tables: [RecordTable] { state.tables }

  /// A key's row, and its table.
  func row(
    of key: String, content: Content
  ) throws(DocumentStoreError) -> (record: Record, table: RecordTable)? {
    for table in tables {
      if table.isDead, try state.hasNoDead(on: connection) { continue }
      let statement = try table.statement(content == .whole ? .get : .getHead, on: connection)
      defer { statement.reset() }
      try statement.bind(key, at: 1)
      if try statement.step() { return (Record(statement), table) }
    }
    return nil
  }

  /// Creates the index by sequence, or requests it from the next writer.
  func wantSequences() throws(DocumentStoreError) {
    guard connection.transaction.kind == .writing else {
      guard !snapshot.file.options.isReadOnly else { return }
      let index = literal(state.live.name + "_seqs")
      let sql = "SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = \(index)"
      guard try connection.number(sql) == nil else { return }
      _ = snapshot.file.wantsSequences.withLock { $0.insert(name) }
      return
    }
    try state.makeSequenceIndex(on: connection)
  }
}
