// WriteTransaction+Batch.swift [U]: many rows in one call.

extension WriteTransaction {
  /// Adds rows, several times as fast as inserting them singly when their keys ascend and are
  /// greater than those of the table.
  ///
  /// ```swift
  /// try write.insert(into: "Dog", count: dogs.count) { row, index throws(EngineError) in
  ///   try row.append(dogs[index].age)
  ///   try row.append(dogs[index].name)
  ///   return dogs[index].id
  /// }
  /// ```
  /// - Parameters:
  ///   - table: The name of the table.
  ///   - count: How many rows.
  ///   - fill: Sets the values of row number 0, 1, 2, …, and returns its key. It must not use the
  ///     transaction.
  /// - Throws: What `fill` throws, or `EngineError` as `insert(into:key:_:)` does. The rows before
  ///   the one that failed are inserted; that one and those after it are not.
  /// - Complexity: O(rows) for ascending keys greater than those of the table, else O(log rows)
  ///   each.
  public func insert(
    into table: String, count: Int,
    _ fill: (inout RowBuilder, Int) throws(EngineError) -> Int64
  ) throws(EngineError) {
    let target = try self.table(table)
    let (lastKey, indexes) = try batchStart(target)
    var rows = RowBuilder(target, behind: lastKey, indexes)
    for index in 0..<count {
      do throws(EngineError) {
        let key = try fill(&rows, index)
        if let values = try end(&rows, key) {
          try remembering { () throws(EngineError) in try rows.flush() }
          try insert(into: table, key: key, values)
        }
      } catch {
        rows.dropRow()
        try remembering { () throws(EngineError) in try rows.flush() }
        throw error
      }
    }
    try remembering { () throws(EngineError) in try rows.flush() }
  }

  fileprivate func batchStart(
    _ table: MutableTable
  ) throws(EngineError) -> (lastKey: Int64?, indexes: [IndexBuffer]) {
    try remembering { () throws(EngineError) in
      (try table.tree.lastKey(), try RowBuilder.indexes(of: table))
    }
  }

  /// Ends a row of a batch; an index is read and changed like any other node.
  @inline(__always)
  fileprivate func end(
    _ rows: inout RowBuilder, _ key: Int64
  ) throws(EngineError) -> [Value]? {
    guard rows.hasIndexes else { return try rows.endRow(key) }
    return try remembering { () throws(EngineError) in try rows.endRow(key) }
  }
}

/// Rows of one table that are added singly and inserted together.
///
/// Between its creation and `flush` the transaction must not be used: it does not have the rows
/// yet. A row's values are set through `row`, and it is added by `endRow`, or dropped.
@safe package final class RowBatch {
  private let write: WriteTransaction
  private let table: String
  /// The row in progress; valid while the batch exists.
  ///
  /// The code that sets values must use neither the transaction nor the batch: the batch's owner
  /// enforces this, so exclusivity is not checked at run time for each row.
  // Safety: made in init, and freed in deinit.
  package let row: UnsafeMutablePointer<RowBuilder>

  /// Begins a batch.
  /// - Throws: `EngineError` with code `.noSuchTable`, `.corrupted` or `.closed`.
  package init(_ write: WriteTransaction, _ table: String) throws(EngineError) {
    self.write = write
    self.table = table
    let target = try write.table(table)
    let (lastKey, indexes) = try write.batchStart(target)
    unsafe row = .allocate(capacity: 1)
    unsafe row.initialize(to: RowBuilder(target, behind: lastKey, indexes))
  }

  deinit {
    unsafe row.deinitialize(count: 1)
    unsafe row.deallocate()
  }

  /// Adds the row, which has its values.
  /// - Parameter key: Its key.
  /// - Throws: As `WriteTransaction.insert(into:key:_:)` does; the caller drops the row then.
  package func endRow(_ key: Int64) throws(EngineError) {
    guard let values = try unsafe write.end(&row.pointee, key) else { return }
    try flush()
    try write.insert(into: table, key: key, values)
  }

  /// Drops a row interrupted by an error, and flushes the batch.
  /// - Throws: As `flush()` does.
  package func dropRow() throws(EngineError) {
    unsafe row.pointee.dropRow()
    try flush()
  }

  /// Inserts all rows into the transaction.
  /// - Throws: `EngineError`, which every later call of the transaction throws, too.
  package func flush() throws(EngineError) {
    try write.remembering { () throws(EngineError) in try unsafe row.pointee.flush() }
  }
}
