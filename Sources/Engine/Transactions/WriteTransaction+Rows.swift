// WriteTransaction+Rows.swift: one value of a row changed. Invariant: as with whole rows,
// everything that can refuse a change is asked before the first step of it.

extension WriteTransaction {
  /// Changes one value of a row; the other columns stay as they are.
  /// - Parameters:
  ///   - value: The new value; of a collection all of it.
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
    try table.check(value, column: index)
    try remembering { () throws(EngineError) in
      guard table.indexes[index] != nil else {
        try replace(value, table, key, index)
        return
      }
      guard let old = try table.tree.value(key, index) else { throw MutableTree.notFound(key) }
      let new = value.canonical
      guard old != new else { return }
      if table.schema.columns[index].isUnique { try table.checkUnique(key, index, value) }
      if table.schema.columns[index].type == .link {
        for target in MutableTable.targets(new) { try checkTarget(target, table, index) }
      }
      try replace(value, table, key, index)
      try table.reindex(key, index, old: old, new: new)
    }
  }

  private func replace(
    _ value: Value, _ table: MutableTable, _ key: Int64, _ column: Int
  ) throws(EngineError) {
    try table.tree.modify(key) { leaf, row throws(EngineError) in
      try leaf.columns[column].replace(value, at: row, writer)
    }
  }
}
