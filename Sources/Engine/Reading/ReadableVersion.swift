// ReadableVersion.swift: the reads that a snapshot and a write transaction have in common, each
// written once. Invariant: a read opens its table first, which refuses a released snapshot and an
// ended or broken transaction. The rest is the same, non-generic code for both (OpenTable.swift).
// The reads here are inlined into their callers, so a caller that knows the concrete type makes no
// call through the protocol.

/// A version that can be read by names: a snapshot, or an open write transaction with its own
/// changes.
public protocol ReadableVersion: AnyObject {
  /// The tables, in the order in which they were made.
  var tables: [TableSchema] { get }
  /// The snapshot, if it is one: its columns can be scanned in place. Nil for a transaction.
  var scannedSnapshot: Snapshot? { get }
  /// Whether there is a table of that name.
  func hasTable(_ name: String) -> Bool
  /// The name of the table with an id, or nil; see `tableID(of:)`.
  func tableName(ofID id: UInt32) -> String?
  /// Opens a table for one read; the reads below do.
  func _open(_ table: String) throws(EngineError) -> _OpenTable
  /// Bytes of the program that belong to the version; none in most.
  var _memo: [UInt8] { get }
}

// MARK: tables and rows

extension ReadableVersion {
  /// The schema of one table, without making a list of all.
  /// - Throws: `EngineError` with code `.noSuchTable` or `.closed`.
  @inlinable
  public func schema(of table: String) throws(EngineError) -> TableSchema {
    try _open(table).schema
  }

  /// The number by which mixed values name a table.
  /// - Throws: `EngineError` with code `.noSuchTable` or `.closed`.
  @inlinable
  public func tableID(of name: String) throws(EngineError) -> UInt32 { try _open(name).id }

  /// The number of rows of a table.
  /// - Throws: `EngineError` with code `.noSuchTable` or `.closed`.
  /// - Complexity: O(1).
  @inlinable
  public func count(of table: String) throws(EngineError) -> Int { try _open(table).rowCount }

  /// The keys of a table's rows, ascending.
  /// - Throws: `EngineError` with code `.noSuchTable`, `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  @inlinable
  public func keys(of table: String) throws(EngineError) -> [Int64] { try _open(table).keys() }

  /// The smallest key of a table, or nil.
  /// - Throws: `EngineError` with code `.noSuchTable`, `.corrupted` or `.closed`.
  /// - Complexity: O(log rows).
  @inlinable
  public func firstKey(in table: String) throws(EngineError) -> Int64? {
    try _open(table).firstKey()
  }

  /// Whether a table has a row under a key.
  /// - Throws: `EngineError` with code `.noSuchTable`, `.corrupted` or `.closed`.
  /// - Complexity: O(log rows).
  @inlinable
  public func contains(key: Int64, in table: String) throws(EngineError) -> Bool {
    try _open(table).contains(key)
  }

  /// The values under a key, or nil.
  /// - Parameters:
  ///   - table: The name of the table.
  ///   - key: The key.
  /// - Returns: One value per column.
  /// - Throws: `EngineError` with code `.noSuchTable`, `.corrupted` or `.closed`.
  /// - Complexity: O(log rows).
  @inlinable
  public func row(in table: String, key: Int64) throws(EngineError) -> [Value]? {
    try _open(table).row(key)
  }

  /// One value of a row, or nil when there is no such row.
  /// - Throws: `EngineError` with code `.noSuchTable`, `.noSuchColumn`, `.corrupted` or `.closed`.
  /// - Complexity: O(log rows).
  @inlinable
  public func value(
    in table: String, key: Int64, column: String
  ) throws(EngineError) -> Value? {
    try _open(table).value(key, column)
  }
}

// MARK: indexes

extension ReadableVersion {
  /// The keys of the rows that have a value, ascending.
  /// - Parameters:
  ///   - table: The table.
  ///   - column: A column with a search index, or of single links.
  ///   - value: The value; null finds rows without one.
  /// - Returns: The keys.
  /// - Throws: `EngineError` with code `.noIndex`, `.noSuchTable`, `.noSuchColumn`,
  ///   `.schemaMismatch`, `.corrupted` or `.closed`.
  /// - Complexity: O(log rows + found).
  @inlinable
  public func keys(
    in table: String, column: String, equalTo value: Value
  ) throws(EngineError) -> [Int64] {
    try _open(table).keys(column, equalTo: value)
  }

  /// The keys of the rows whose text a search matches, ascending.
  /// - Parameters:
  ///   - table: The table.
  ///   - column: A column with a full-text index.
  ///   - search: Words, of which one at least is required.
  /// - Returns: The keys.
  /// - Throws: `EngineError` with code `.noIndex`, `.noSuchTable`, `.noSuchColumn`,
  ///   `.schemaMismatch` for a search that requires no word, `.corrupted` or `.closed`.
  /// - Complexity: O(rows that have one of the words).
  @inlinable
  public func keys(
    in table: String, column: String, matching search: WordSearch
  ) throws(EngineError) -> [Int64] {
    try _open(table).keys(column, matching: search)
  }

  /// The smallest key of a row that has a value, or nil.
  /// - Throws: As `keys(in:column:equalTo:)`.
  /// - Complexity: O(log rows).
  @inlinable
  public func firstKey(
    in table: String, column: String, equalTo value: Value
  ) throws(EngineError) -> Int64? {
    try _open(table).firstKey(column, equalTo: value)
  }

  /// The keys of the rows whose value is in a range, both ends included.
  ///
  /// They are in the order of the values, rows of one value by key. Null is in no range.
  /// - Throws: As `keys(in:column:equalTo:)`; `.schemaMismatch` unless it is a column of ints,
  ///   bools or dates.
  /// - Complexity: O(log rows + found).
  @inlinable
  public func keys(
    in table: String, column: String, between lower: Value, and upper: Value
  ) throws(EngineError) -> [Int64] {
    try _open(table).keys(column, between: lower, and: upper)
  }

  /// The number of rows whose value is `lower` to `upper`, both included.
  /// - Throws: As `keys(in:column:between:and:)`.
  /// - Complexity: O(leaves of the index in the range).
  @inlinable
  public func count(
    in table: String, column: String, between lower: Value, and upper: Value
  ) throws(EngineError) -> Int {
    try _open(table).count(column, between: lower, and: upper)
  }

  /// The rows that link to a row, ascending, and how often each does.
  /// - Parameters:
  ///   - key: The key of the row that is linked to.
  ///   - table: Its table.
  ///   - origin: The table of the rows that link.
  ///   - column: Their column of links.
  /// - Returns: Keys and numbers of links.
  /// - Throws: `EngineError` with code `.noSuchTable`, `.noSuchColumn`, `.schemaMismatch`,
  ///   `.corrupted` or `.closed`.
  /// - Complexity: O(log links + found).
  @inlinable
  public func backlinks(
    to key: Int64, in table: String, from origin: String, column: String
  ) throws(EngineError) -> [Backlink] {
    _ = try _open(table)
    return try _open(origin).backlinks(to: key, in: table, column)
  }

  /// How often rows link to a row.
  /// - Throws: As `backlinks(to:in:from:column:)`.
  /// - Complexity: O(log links + rows that link).
  @inlinable
  public func backlinkCount(
    to key: Int64, in table: String, from origin: String, column: String
  ) throws(EngineError) -> Int {
    _ = try _open(table)
    return try _open(origin).backlinkCount(to: key, in: table, column)
  }
}

// MARK: collections

extension ReadableVersion {
  /// The number of elements of a collection.
  /// - Throws: `EngineError` with code `.keyNotFound`, `.noSuchTable`, `.noSuchColumn`,
  ///   `.schemaMismatch`, `.corrupted` or `.closed`; so do the other reads.
  /// - Complexity: O(log rows).
  @inlinable
  public func count(of path: CollectionPath) throws(EngineError) -> Int {
    try _open(path.table).count(of: path)
  }

  /// An element of a collection; of a dictionary the value.
  /// - Throws: As `count(of:)`, and `.indexOutOfRange`.
  /// - Complexity: O(log elements).
  @inlinable
  public func element(at index: Int, of path: CollectionPath) throws(EngineError) -> Value {
    try _open(path.table).element(at: index, of: path)
  }

  /// Whether a set has a value.
  /// - Complexity: O(log elements) descents.
  @inlinable
  public func contains(_ value: Value, in path: CollectionPath) throws(EngineError) -> Bool {
    try _open(path.table).contains(value, in: path)
  }

  /// The value of a dictionary under a key, or nil.
  /// - Complexity: O(log entries) descents.
  @inlinable
  public func value(
    forKey key: String, in path: CollectionPath
  ) throws(EngineError) -> Value? {
    try _open(path.table).value(forKey: key, in: path)
  }

  /// Calls `body` with each element, in order; in a dictionary also with its key.
  /// - Throws: An error of `body`, or as `count(of:)`.
  @inlinable
  public func forEach(
    in path: CollectionPath, _ body: (String?, Value) throws(EngineError) -> Void
  ) throws(EngineError) {
    try _open(path.table).forEach(in: path, body)
  }
}

// MARK: conforming types

extension Snapshot: ReadableVersion {
  /// The snapshot itself.
  public var scannedSnapshot: Snapshot? { self }

  /// Bytes of the program that belong to the version.
  public var _memo: [UInt8] { state.group.memo }

  /// Whether there is a table of that name.
  public func hasTable(_ name: String) -> Bool { state.group.hasTable(named: name) }

  /// The name of the table with an id, or nil.
  public func tableName(ofID id: UInt32) -> String? { state.group.table(id: id)?.schema.name }

  /// Opens a table for one read.
  public func _open(_ table: String) throws(EngineError) -> _OpenTable {
    try check()
    return _OpenTable(try state.group.table(named: table), state)
  }
}

extension WriteTransaction: ReadableVersion {
  /// Nil: rows are read with the transaction's changes.
  public var scannedSnapshot: Snapshot? { nil }

  /// Bytes of the program that belong to the version.
  public var _memo: [UInt8] { memo }

  /// Whether there is a table of that name.
  public func hasTable(_ name: String) -> Bool { indexByName[name] != nil }

  /// The name of the table with an id, or nil.
  public func tableName(ofID id: UInt32) -> String? {
    mutableTables.first { $0.id == id }?.schema.name
  }

  /// Opens a table for one read.
  public func _open(_ table: String) throws(EngineError) -> _OpenTable {
    _OpenTable(try self.table(table))
  }
}
