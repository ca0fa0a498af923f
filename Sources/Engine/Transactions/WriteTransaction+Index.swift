// WriteTransaction+Index.swift: changes of rows in tables that have indexes. Invariants: every
// check that can reject a change runs before its first step; no link leads to a missing row, so
// removing a row also removes the links to it.

extension WriteTransaction {
  /// Writes a row, and updates the indexes of its table.
  func putIndexed(
    _ table: MutableTable, _ key: Int64, _ values: [Value], _ mode: PutMode
  ) throws(EngineError) {
    let old = mode == .insert ? nil : try table.indexedValues(key)
    let new = table.indexedColumns.map { values[$0].canonical }
    try table.checkUnique(key, values)
    for (position, column) in table.indexedColumns.enumerated()
    where table.schema.columns[column].type == .link && old?[position] != new[position] {
      for target in MutableTable.targets(new[position]) {
        try checkTarget(target, table, column, isBeingWritten: key)
      }
    }
    try table.tree.put(key, values, mode: mode)
    try table.reindex(key, old: old, new: new)
  }

  private func target(_ table: MutableTable, _ column: Int) throws(EngineError) -> MutableTable {
    let id = table.columns[column].targetID
    guard let target = mutableTables.first(where: { $0.id == id }) else {
      throw .corrupted("links of \(table.schema.name) lead to table id \(id), which is not there")
    }
    return target
  }

  /// Rejects a link to a missing row; a new row may link to itself.
  func checkTarget(
    _ key: Int64, _ table: MutableTable, _ column: Int, isBeingWritten own: Int64? = nil
  ) throws(EngineError) {
    let target = try target(table, column)
    if let own, own == key, target.id == table.id { return }
    guard try target.tree.find(key) == nil else { return }
    throw EngineError(
      code: .keyNotFound,
      message: "\(table.schema.name).\(table.schema.columns[column].name) links to key \(key) of "
        + "\(target.schema.name), where no row has it; insert that row first")
  }

  /// Refuses a link that is to go into a collection.
  func checkLink(_ value: Value, in path: CollectionPath) throws(EngineError) {
    guard case .link(let key) = value else { return }
    let table = try table(path.table)
    let column = try path.column(in: table.schema, CollectionKind.any)
    guard table.schema.columns[column].type == .link else { return }
    try reading { () throws(EngineError) in try checkTarget(key, table, column) }
  }

  /// Deletes a row with its index entries and the links to it.
  func remove(_ key: Int64, from table: MutableTable) throws(EngineError) {
    // A missing row has no incoming links and no index entries, so the tree reports the error.
    if !table.indexedColumns.isEmpty || isTarget(table), try table.tree.find(key) != nil {
      if let old = try table.indexedValues(key) { try table.reindex(key, old: old, new: nil) }
      for origin in mutableTables {
        for column in origin.columns.indices where origin.columns[column].targetID == table.id {
          try unlink(key, origin, column)
        }
      }
    }
    try table.tree.remove(key)
  }

  private func isTarget(_ table: MutableTable) -> Bool {
    mutableTables.contains { origin in
      origin.columns.contains { $0.targetID == table.id }
    }
  }

  /// Takes every link to a row out of one column.
  ///
  /// The row's links to itself have already been removed from the index.
  private func unlink(
    _ key: Int64, _ origin: MutableTable, _ column: Int
  ) throws(EngineError) {
    let image = ValueImage.ordered(key)
    let index = origin.index(column)
    for link in try index.backlinks(to: key) {
      guard try origin.tree.find(link.key) != nil else {
        throw .corrupted(
          "backlinks of \(origin.schema.name) lead to key \(link.key), which has no row")
      }
      try origin.tree.modify(link.key) { leaf, row throws(EngineError) in
        guard origin.schema.columns[column].collection != .none else {
          try leaf.columns[column].replace(.null, at: row, writer)
          return
        }
        var content = try CollectionContent(leaf.columns[column], at: row, writer)
        try content.unlink(key, count: link.count, writer)
        try content.store(in: &leaf.columns[column], at: row, writer)
      }
      try index.removeAll(KeyPair(image, link.key))
    }
  }

  // MARK: indexes

  /// Adds a search index to a column, built from the existing rows.
  /// - Parameters:
  ///   - column: The column, of type int, string, bool, binary, date, ObjectId or UUID.
  ///   - name: The table.
  ///   - isUnique: Whether no two rows may have the same value from now on; null is a value.
  /// - Throws: `EngineError` with code `.duplicateValue`, `.noSuchTable`, `.noSuchColumn`,
  ///   `.schemaMismatch`, `.corrupted` or `.closed`; the transaction is unchanged.
  /// - Complexity: O(rows log rows), and 16 bytes of temporary memory per row.
  public func addIndex(
    to column: String, in name: String, isUnique: Bool = false
  ) throws(EngineError) {
    let table = try table(name)
    let index = try table.schema.column(named: column)
    var schema = table.schema
    schema.columns[index].isIndexed = true
    if isUnique { schema.columns[index].isUnique = true }
    try schema.validate()
    let isToBeChecked = schema.columns[index].isUnique && !table.schema.columns[index].isUnique
    try reading { () throws(EngineError) in
      if table.indexes[index] == nil {
        try table.fillIndex(of: index, isUnique: isToBeChecked)
      } else if isToBeChecked {
        _ = try table.pairs(of: index, isUnique: true)
      }
    }
    table.schema = schema
  }

  /// Adds a full-text index to a column, built from the existing rows.
  /// - Parameters:
  ///   - column: A column of single strings without a search index.
  ///   - name: The table.
  /// - Throws: `EngineError` with code `.noSuchTable`, `.noSuchColumn`, `.schemaMismatch`,
  ///   `.corrupted` or `.closed`; the transaction is unchanged.
  /// - Complexity: O(bytes of the texts), and 12 bytes of temporary memory per word of a row.
  public func addFullTextIndex(to column: String, in name: String) throws(EngineError) {
    let table = try table(name)
    let index = try table.schema.column(named: column)
    var schema = table.schema
    schema.columns[index].isFullText = true
    try schema.validate()
    if table.indexes[index] == nil {
      try reading { () throws(EngineError) in try table.fillWords(of: index) }
    }
    table.schema = schema
  }

  /// Removes the search index or full-text index of a column, and with it the guarantee that values
  /// are unique.
  /// - Parameters:
  ///   - column: The column.
  ///   - name: The table.
  /// - Throws: `EngineError` with code `.noIndex`, `.noSuchTable`, `.noSuchColumn`, `.corrupted` or
  ///   `.closed`.
  /// - Complexity: O(nodes of the index), which are read to be released.
  public func removeIndex(from column: String, in name: String) throws(EngineError) {
    let table = try table(name)
    let index = try table.schema.column(named: column)
    let definition = table.schema.columns[index]
    guard definition.isIndexed || definition.isUnique || definition.isFullText,
      let tree = table.indexes[index]
    else { throw TableSchema.noIndex(column, name) }
    try remembering { () throws(EngineError) in try tree.releaseAll() }
    table.schema.columns[index].isIndexed = false
    table.schema.columns[index].isUnique = false
    table.schema.columns[index].isFullText = false
    table.setIndex(nil, of: index)
  }
}
