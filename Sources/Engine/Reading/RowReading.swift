// RowReading.swift: the interface that a row cursor and a row writer share: reads single values of
// one table, by the numbers of its columns.

/// Single rows of one table, in a snapshot or in a write transaction.
package protocol RowReading: AnyObject {
  /// Name and columns.
  var schema: TableSchema { get }
  /// The number of rows.
  var rowCount: Int { get }
  /// Whether there is a row.
  /// - Throws: `EngineError` with code `.corrupted`, `.io` or `.closed`; so do the other reads.
  func contains(_ key: Int64) throws(EngineError) -> Bool
  /// One value; nil when there is no such row.
  func value(_ key: Int64, _ column: Int) throws(EngineError) -> Value?
  /// The smallest key of a row that has a value in a column with a search index, or nil.
  func firstKey(_ column: Int, equalTo value: Value) throws(EngineError) -> Int64?
  /// All keys, ascending.
  /// - Complexity: O(rows).
  func keys() throws(EngineError) -> [Int64]
  /// The smallest key, or nil.
  func smallestKey() throws(EngineError) -> Int64?
}
