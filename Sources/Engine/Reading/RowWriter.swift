// RowWriter.swift: changes and reads single values of the rows of one table in a write transaction,
// by the numbers of columns. It is to a transaction what RowCursor is to a snapshot: the table is
// looked up by its name once, and not once for each value. Invariant: a writer is valid as long as
// the transaction's tables and columns are those that it was made with (see `isCurrent`); using it
// later stops the process.

/// Changes and reads single values of a table in a write transaction, on the transaction's thread.
package final class RowWriter: RowReading {
  /// The transaction, which the writer keeps.
  package let transaction: WriteTransaction
  private let table: MutableTable
  private let schemaStamp: UInt64

  /// Opens a table of a transaction.
  /// - Parameters:
  ///   - transaction: The transaction.
  ///   - table: The name of the table.
  /// - Throws: `EngineError` with code `.noSuchTable` or `.closed`.
  package init(_ transaction: WriteTransaction, _ table: String) throws(EngineError) {
    self.transaction = transaction
    self.table = try transaction.table(table)
    schemaStamp = transaction.schemaStamp
  }

  /// The name of the table.
  package var name: String { table.schema.name }

  /// Name and columns.
  package var schema: TableSchema { table.schema }

  /// Whether the transaction has the tables and columns that the writer was made with.
  @inline(__always)
  package var isCurrent: Bool { schemaStamp == transaction.schemaStamp }

  /// The number of rows.
  package var rowCount: Int { Int(clamping: table.tree.rowCount) }

  @inline(__always)
  private func check() throws(EngineError) {
    precondition(isCurrent, "a table or column came or went since the row writer was made")
    try transaction.check()
  }

  /// Changes one value of a row; the other columns stay as they are.
  /// - Parameters:
  ///   - value: The new value; for a collection the whole of it.
  ///   - key: The key of the row.
  ///   - column: The position of the column in the schema.
  /// - Returns: Whether there is such a row.
  /// - Throws: As `WriteTransaction.set(_:in:key:column:)`; `.keyNotFound` for a link only.
  /// - Complexity: O(log rows + rows of a leaf); no descent from the root if the row shares a leaf
  ///   with the one changed before.
  package func set(
    _ value: Value, _ key: Int64, _ column: Int
  ) throws(EngineError) -> Bool {
    try check()
    return try transaction.set(value, table, key, column)
  }

  /// Whether there is a row.
  package func contains(_ key: Int64) throws(EngineError) -> Bool {
    try check()
    return try transaction.reading { () throws(EngineError) in try table.tree.find(key) != nil }
  }

  /// One value; nil when there is no such row.
  package func value(_ key: Int64, _ column: Int) throws(EngineError) -> Value? {
    try check()
    return try transaction.reading { () throws(EngineError) in
      try table.tree.value(key, column)
    }
  }

  /// The smallest key of a row that has a value in a column with a search index, or nil.
  package func firstKey(_ column: Int, equalTo value: Value) throws(EngineError) -> Int64? {
    try check()
    return try _OpenTable(table).firstKey(column, equalTo: value)
  }

  /// All keys, ascending.
  package func keys() throws(EngineError) -> [Int64] {
    try check()
    return try _OpenTable(table).keys()
  }

  /// The largest key, or nil.
  /// - Complexity: O(log rows).
  package func largestKey() throws(EngineError) -> Int64? {
    try check()
    return try transaction.reading { () throws(EngineError) in try table.tree.lastKey() }
  }

  /// The smallest key, or nil.
  package func smallestKey() throws(EngineError) -> Int64? {
    try check()
    return try _OpenTable(table).firstKey()
  }
}
