// WriteTransaction+Batch.swift: many rows in one call.

extension WriteTransaction {
  /// Adds rows, several times as fast as one by one when their keys ascend behind those of the
  /// table.
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
  ///   - fill: Gives row number 0, 1, 2, … its values, and returns its key. It must not use the
  ///     transaction.
  /// - Throws: What `fill` throws, or `EngineError` as `insert(into:key:_:)` does. The rows before
  ///   the one that failed are inserted; that one and those behind it are not.
  /// - Complexity: O(rows) for ascending keys behind those of the table, else O(log rows) each.
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

/// Rows of one table that come one by one and go into it together.
///
/// Between its making and `flush` nobody may use the transaction: it does not have the rows yet.
package final class RowBatch {
  private let write: WriteTransaction
  private let table: String
  // What gives a row its values must not use the batch: its owner stops who does, so the runtime
  // need not look at each row for that.
  @safe @exclusivity(unchecked) private var rows: RowBuilder

  /// Begins a batch.
  /// - Throws: `EngineError` with code `.noSuchTable`, `.corrupted` or `.closed`.
  package init(_ write: WriteTransaction, _ table: String) throws(EngineError) {
    self.write = write
    self.table = table
    let target = try write.table(table)
    let (lastKey, indexes) = try write.batchStart(target)
    rows = RowBuilder(target, behind: lastKey, indexes)
  }

  /// Adds a row.
  /// - Parameters:
  ///   - key: Its key.
  ///   - fill: Gives it its values; it must use neither the transaction nor the batch, which
  ///     nothing checks here.
  /// - Throws: As `WriteTransaction.insert(into:key:_:)` does, and what `fill` throws; the row is
  ///   not added then, and the batch is flushed.
  @inline(__always)
  package func add(
    _ key: Int64, _ fill: (inout RowBuilder) throws(EngineError) -> Void
  ) throws(EngineError) {
    do throws(EngineError) {
      try fill(&rows)
      if let values = try write.end(&rows, key) {
        try flush()
        try write.insert(into: table, key: key, values)
      }
    } catch {
      rows.dropRow()
      try flush()
      throw error
    }
  }

  /// Gives the transaction all rows.
  /// - Throws: `EngineError`, which every later call of the transaction throws, too.
  package func flush() throws(EngineError) {
    try write.remembering { () throws(EngineError) in try rows.flush() }
  }
}
