// QuerySource.swift: what a query runs over.

import Engine

/// Rows of tables: a snapshot, or an open write transaction with its changes.
public protocol QuerySource {
  /// The snapshot, when it is one: its columns are scanned where they stand.
  var queriedSnapshot: Snapshot? { get }
  /// The keys of a table's rows, ascending.
  func keys(of table: String) throws(EngineError) -> [Int64]
  /// The number of rows of a table.
  func count(of table: String) throws(EngineError) -> Int
  /// One value of a row, or nil when there is no such row.
  func value(in table: String, key: Int64, column: String) throws(EngineError) -> Value?
  /// The number of elements of a collection.
  func count(of path: CollectionPath) throws(EngineError) -> Int
  /// An element of a collection; of a dictionary the value.
  func element(at index: Int, of path: CollectionPath) throws(EngineError) -> Value
  /// What a dictionary has under a key, or nil.
  func value(forKey key: String, in path: CollectionPath) throws(EngineError) -> Value?
  /// Calls `body` with each element, in order; in a dictionary also with its key.
  func forEach(
    in path: CollectionPath, _ body: (String?, Value) throws(EngineError) -> Void
  ) throws(EngineError)
  /// The keys of the rows that have a value, ascending.
  func keys(in table: String, column: String, equalTo value: Value) throws(EngineError) -> [Int64]
  /// The keys of the rows whose value is in a range.
  func keys(
    in table: String, column: String, between lower: Value, and upper: Value
  ) throws(EngineError) -> [Int64]
  /// The number of rows whose value is in a range.
  func count(
    in table: String, column: String, between lower: Value, and upper: Value
  ) throws(EngineError) -> Int
  /// The rows that link to a row, ascending, and how often each does.
  func backlinks(
    to key: Int64, in table: String, from origin: String, column: String
  ) throws(EngineError) -> [Backlink]
  /// How often rows link to a row.
  func backlinkCount(
    to key: Int64, in table: String, from origin: String, column: String
  ) throws(EngineError) -> Int
  /// The number by which mixed values name a table.
  func tableID(of name: String) throws(EngineError) -> UInt32
}

extension Snapshot: QuerySource {
  /// The snapshot itself.
  public var queriedSnapshot: Snapshot? { self }
}

extension WriteTransaction: QuerySource {
  /// No snapshot: rows are read with the transaction's changes.
  public var queriedSnapshot: Snapshot? { nil }
}
