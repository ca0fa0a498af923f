// Connection+Indexes.swift: creates and drops the SQL objects of indexes. Invariant: an index's row
// in `indexes` and its objects are created and dropped in one transaction. A table is dropped with
// the last index that uses it: inner arrays before the arrays that contain them.

extension Connection {
  /// Makes the list of indexes, unless it is there.
  func ensureIndexList() throws(DocumentStoreError) {
    guard try !Schema.has("indexes", on: self) else { return }
    try execute(Schema.indexes)
  }

  /// Runs changes that are taken back alone when they fail.
  func nesting<Result>(
    _ body: () throws(DocumentStoreError) -> Result
  ) throws(DocumentStoreError) -> Result {
    let mark = try beginNested()
    do throws(DocumentStoreError) {
      let result = try body()
      try endNested()
      return result
    } catch {
      rollBackNested(to: mark)
      throw error
    }
  }

  /// The SQL of a table, an index or a trigger.
  func sql(of name: String) throws(DocumentStoreError) -> String? {
    let statement = try statement("SELECT sql FROM sqlite_master WHERE name = ?")
    defer { statement.reset() }
    try statement.bind(name, at: 1)
    return try statement.step() && !statement.isNull(0) ? statement.text(0) : nil
  }

  func make(_ plan: IndexPlan) throws(DocumentStoreError) {
    for table in plan.tables {
      guard try sql(of: table.name) != table.sql else { continue }
      try execute(table.sql)
      try execute(table.fill)
      for trigger in table.triggers { try execute(trigger.sql) }
    }
    if let index = plan.index { try execute(index) }
  }

  /// Drops an index, its row first, so that its table may become unused.
  func drop(_ index: IndexInfo) throws(DocumentStoreError) {
    guard index.kind != .vector else {
      throw DocumentStoreError(
        .unsupported, "index \(quoted(index.name)) is of vectors; drop it with the real library")
    }
    let statement = try statement("DELETE FROM indexes WHERE name = ?")
    defer { statement.reset() }
    try statement.bind(index.name, at: 1)
    try statement.run()
    if index.kind != .fullText { try execute("DROP INDEX IF EXISTS \(identifier(index.name))") }
    guard let table = index.listedTable else { return }
    try dropUnused(table)
    guard index.kind == .array else { return }
    var outer = IndexNames.parent(ofArray: table)
    while let table = outer {
      try dropUnused(table)
      outer = IndexNames.parent(ofArray: table)
    }
  }

  /// Drops a table that neither an index nor an array in it uses.
  private func dropUnused(_ listed: String) throws(DocumentStoreError) {
    let inner = listed + "[]."
    let uses = try number(
      "SELECT count(*) FROM indexes WHERE indexTableName = \(literal(listed)) "
        + "OR substr(indexTableName, 1, \(inner.unicodeScalars.count)) = \(literal(inner))")
    guard uses == 0 else { return }
    // Up to 3.2.0 an array's table has the listed name, from 3.2.1 on its hash.
    for table in [listed, IndexNames.hashed(listed)] {
      try execute("DROP TABLE IF EXISTS \(identifier(table))")
      for suffix in ["ins", "del", "upd", "preupdate", "postupdate"] {
        try execute("DROP TRIGGER IF EXISTS \(identifier("\(table)::\(suffix)"))")
      }
    }
  }
}
