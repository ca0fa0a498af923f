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
    let lastKey = try remembering { () throws(EngineError) in try target.tree.lastKey() }
    var rows = RowBuilder(target, behind: lastKey)
    for index in 0..<count {
      do throws(EngineError) {
        let key = try fill(&rows, index)
        if let values = try rows.endRow(key) {
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
}
