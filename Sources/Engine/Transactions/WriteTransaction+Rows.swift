// WriteTransaction+Rows.swift: changes one value of a row. Invariant: as with whole rows, every
// check that can reject a change runs before its first step.

extension WriteTransaction {
  /// Changes one value of a row; the other columns stay as they are.
  /// - Parameters:
  ///   - value: The new value; for a collection the whole of it.
  ///   - name: The table.
  ///   - key: The key of the row.
  ///   - column: The column.
  /// - Throws: `EngineError` with code `.keyNotFound`, also for a link to a row that is not there,
  ///   `.noSuchTable`, `.noSuchColumn`, `.schemaMismatch`, `.valueTooLarge`, `.duplicateValue`,
  ///   `.corrupted` or `.closed`.
  /// - Complexity: O(log rows + rows of a leaf).
  public func set(
    _ value: Value, in name: String, key: Int64, column: String
  ) throws(EngineError) {
    let table = try table(name)
    let index = try table.schema.column(named: column)
    guard try set(value, table, key, index) else { throw MutableTree.notFound(key) }
  }

  /// The same by the column's position.
  /// - Returns: Whether there is such a row.
  func set(
    _ value: Value, _ table: MutableTable, _ key: Int64, _ column: Int
  ) throws(EngineError) -> Bool {
    try table.check(value, column: column)
    return try remembering { () throws(EngineError) in
      guard table.indexes[column] != nil else { return try replace(value, table, key, column) }
      return try setIndexed(value, table, key, column)
    }
  }

  private func setIndexed(
    _ value: Value, _ table: MutableTable, _ key: Int64, _ column: Int
  ) throws(EngineError) -> Bool {
    guard let old = try table.tree.value(key, column) else { return false }
    let new = value.canonical
    guard old != new else { return true }
    if table.schema.columns[column].isUnique { try table.checkUnique(key, column, value) }
    if table.schema.columns[column].type == .link {
      for target in MutableTable.targets(new) { try checkTarget(target, table, column) }
    }
    guard try replace(value, table, key, column) else { return false }
    try table.reindex(key, column, old: old, new: new)
    return true
  }

  /// Changes the value of a column without an index, or before its index.
  /// - Returns: Whether there is such a row.
  @inline(__always)
  private func replace(
    _ value: Value, _ table: MutableTable, _ key: Int64, _ column: Int
  ) throws(EngineError) -> Bool {
    try table.tree.modifyIfThere(key) { leaf, row throws(EngineError) in
      try leaf.columns[column].replace(value, at: row, writer)
    }
  }
}
