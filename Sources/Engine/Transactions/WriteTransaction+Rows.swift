// WriteTransaction+Rows.swift: one value of a row changed, and what rows there are. Invariant: as
// with whole rows, everything that can refuse a change is asked before the first step of it.

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

  /// Whether a table has a row under a key.
  /// - Throws: `EngineError` with code `.noSuchTable`, `.corrupted` or `.closed`.
  /// - Complexity: O(log rows).
  public func contains(key: Int64, in table: String) throws(EngineError) -> Bool {
    try reading { () throws(EngineError) in try self.table(table).tree.find(key) != nil }
  }

  /// The smallest key of a table as this transaction sees it, or nil.
  /// - Throws: `EngineError` with code `.noSuchTable`, `.corrupted` or `.closed`.
  /// - Complexity: O(log rows).
  public func firstKey(in table: String) throws(EngineError) -> Int64? {
    try reading { () throws(EngineError) in try self.table(table).tree.firstKey() }
  }

  /// One table's schema, without making a list of all.
  package func schema(of table: String) throws(EngineError) -> TableSchema {
    try self.table(table).schema
  }

  /// Whether there is a table of that name.
  package func hasTable(_ name: String) -> Bool { indexByName[name] != nil }

  /// The name of the table that mixed values know by a number, or nil.
  package func tableName(ofID id: UInt32) -> String? {
    mutableTables.first { $0.id == id }?.schema.name
  }
}

extension MutableTree {
  fileprivate func firstKey() throws(EngineError) -> Int64? {
    guard var child = root else { return nil }
    var depth = level
    while true {
      switch child {
      case .inner(let inner):
        child = inner.children[0]
        depth -= 1
      case .leaf(let leaf): return leaf.keys.first
      case .stored(let link):
        var walk = LeafWalk(committed(link, depth))
        return try walk.next().flatMap { $0.count > 0 ? $0.keys[0] : nil }
      }
    }
  }
}
