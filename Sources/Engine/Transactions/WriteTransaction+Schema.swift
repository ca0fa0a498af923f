// WriteTransaction+Schema.swift: adds, removes and renames tables and columns. Ids do not change,
// so rows are not rewritten when something is renamed, or when a column is added or removed.

extension WriteTransaction {
  /// Adds a table without rows.
  /// - Parameter schema: Name and columns; links may lead to this table or to an existing one.
  /// - Throws: `EngineError` with code `.tableExists`, `.noSuchTable` for the target of a link,
  ///   `.schemaMismatch`, `.limit` or `.closed`.
  public func createTable(_ schema: TableSchema) throws(EngineError) {
    try check()
    try schema.validate()
    guard indexByName[schema.name] == nil else { throw Self.tableExists(schema.name) }
    guard mutableTables.count < Layout.tableCountMax else {
      throw EngineError(
        code: .limit, message: "a database has at most \(Layout.tableCountMax) tables")
    }
    guard writer.nextTableID < .max else {
      throw EngineError(code: .limit, message: "a database has at most 2^32 tables in its life")
    }
    let id = writer.nextTableID
    var targets: [UInt32] = []
    for column in schema.columns {
      targets.append(column.target == schema.name ? id : try targetID(of: column))
    }
    writer.nextTableID += 1
    schemaStamp += 1
    indexByName[schema.name] = mutableTables.count
    mutableTables.append(MutableTable(id: id, schema, targetIDs: targets, writer))
  }

  private static func tableExists(_ name: String) -> EngineError {
    EngineError(code: .tableExists, message: "a table named \"\(name)\" already exists")
  }

  private func targetID(of column: ColumnSchema) throws(EngineError) -> UInt32 {
    guard let target = column.target else { return 0 }
    return try table(target).id
  }

  /// Removes a table with its rows.
  ///
  /// Links to it in mixed values stay as they are: the id is never reused.
  /// - Throws: `EngineError` with code `.schemaMismatch` while a link column of another table leads
  ///   to it; `.noSuchTable`, `.corrupted` or `.closed`.
  /// - Complexity: O(nodes of the table), which are read to be released.
  public func removeTable(_ name: String) throws(EngineError) {
    let removed = try table(name)
    for table in mutableTables where table.id != removed.id {
      for (column, record) in zip(table.schema.columns, table.columns)
      where column.type == .link && record.targetID == removed.id {
        throw EngineError(
          code: .schemaMismatch,
          message: "\(table.schema.name).\(column.name) links to \(name); remove that column first"
        )
      }
    }
    try remembering { () throws(EngineError) in try removed.release() }
    mutableTables.removeAll { $0.id == removed.id }
    numberTables()
  }

  private func numberTables() {
    schemaStamp += 1
    indexByName = [:]
    for (index, table) in mutableTables.enumerated() { indexByName[table.schema.name] = index }
  }

  /// Renames a table.
  /// - Parameters:
  ///   - name: The present name.
  ///   - newName: The name from now on; links follow.
  /// - Throws: `EngineError` with code `.noSuchTable`, `.tableExists`, `.schemaMismatch` or
  ///   `.closed`.
  public func renameTable(_ name: String, to newName: String) throws(EngineError) {
    let renamed = try table(name)
    try TableSchema.validate(name: newName)
    guard indexByName[newName].map({ mutableTables[$0].id == renamed.id }) ?? true else {
      throw Self.tableExists(newName)
    }
    renamed.schema.name = newName
    for table in mutableTables {
      for (index, record) in table.columns.enumerated()
      where table.schema.columns[index].type == .link && record.targetID == renamed.id {
        table.schema.columns[index].target = newName
      }
    }
    numberTables()
  }

  /// Adds a column after the others; rows have null in it, or 0 and empty when it cannot be null.
  /// - Parameters:
  ///   - column: The column.
  ///   - name: The table.
  /// - Throws: `EngineError` with code `.columnExists`, `.noSuchTable`, `.schemaMismatch`,
  ///   `.limit`, `.duplicateValue` for a unique column of a table with several rows, or `.closed`.
  /// - Complexity: O(1), plus O(rows) of leaves that this transaction changed; O(rows) for a column
  ///   with a search index.
  public func addColumn(_ column: ColumnSchema, to name: String) throws(EngineError) {
    let table = try table(name)
    guard !table.schema.columns.contains(where: { $0.name == column.name }) else {
      throw Self.columnExists(column.name, name)
    }
    var schema = table.schema
    schema.columns.append(column)
    try schema.validate()
    guard !column.isUnique || table.tree.rowCount <= 1 else {
      throw EngineError(
        code: .duplicateValue,
        message:
          "\(name) has \(table.tree.rowCount) rows, which would have one value in the unique "
          + "column \(column.name); add it without, fill it, and then add the index")
    }
    let target = try targetID(of: column)
    schemaStamp += 1
    try table.addColumn(column, targetID: target)
    guard column.hasIndex else { return }
    try remembering { () throws(EngineError) in try table.makeIndexOfNewColumn() }
  }

  private static func columnExists(_ column: String, _ table: String) -> EngineError {
    EngineError(
      code: .columnExists, message: "table \(table) has a column \"\(column)\" already")
  }

  /// Removes a column with its values.
  /// - Parameters:
  ///   - column: The column.
  ///   - name: The table.
  /// - Throws: `EngineError` with code `.noSuchTable`, `.noSuchColumn`, `.corrupted` or `.closed`.
  /// - Complexity: O(1) for values of fixed size. The nodes of long values and collections are
  ///   released now: O(leaves), which are read but not written.
  public func removeColumn(_ column: String, from name: String) throws(EngineError) {
    let table = try table(name)
    let index = try table.schema.column(named: column)
    schemaStamp += 1
    try remembering { () throws(EngineError) in try table.removeColumn(at: index) }
  }

  /// Renames a column.
  /// - Parameters:
  ///   - column: The present name.
  ///   - name: The table.
  ///   - newName: The name from now on.
  /// - Throws: `EngineError` with code `.noSuchTable`, `.noSuchColumn`, `.columnExists`,
  ///   `.schemaMismatch` or `.closed`.
  public func renameColumn(
    _ column: String, in name: String, to newName: String
  ) throws(EngineError) {
    let table = try table(name)
    let index = try table.schema.column(named: column)
    var schema = table.schema
    schema.columns[index].name = newName
    guard
      !table.schema.columns.enumerated().contains(where: {
        $0.offset != index && $0.element.name == newName
      })
    else { throw Self.columnExists(newName, name) }
    try schema.validate()
    schemaStamp += 1
    table.schema = schema
  }
}
