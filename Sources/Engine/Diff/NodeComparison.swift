// NodeComparison.swift: two versions of one file, table by table. Why links decide: both versions
// are pinned, so no sector of theirs has been written since. A link of one version and the same
// link of the other lead to the same bytes. The older version had no columns other than those in
// these bytes, so a column that the newer one added is absent from them in both.

/// A comparison of two versions while both are held and read.
final class NodeComparison {
  typealias IsSame = (NodeLink, NodeLink) -> Bool

  let older: VersionState
  let newer: VersionState
  let sections: (older: ReadSection, newer: ReadSection)
  let isSame: IsSame
  /// Nodes that were opened so far.
  private(set) var nodeCount = 0

  init(
    older: VersionState, newer: VersionState, sections: (ReadSection, ReadSection),
    isSame: @escaping IsSame
  ) {
    self.older = older
    self.newer = newer
    self.sections = sections
    self.isSame = isSame
  }

  /// Counts nodes that are opened.
  func count(_ nodes: Int = 1) { nodeCount += nodes }

  /// Everything that differs.
  func databaseChanges() throws(EngineError) -> DatabaseChanges {
    var changes = DatabaseChanges(from: older.version, to: newer.version)
    for table in newer.group.tables {
      let former = older.group.table(id: table.id)
      let found = try tableChanges(from: former, to: table)
      if former == nil { changes.addedTables.append(table.schema.name) }
      if !found.isEmpty { changes.tables.append(found) }
    }
    for table in older.group.tables where newer.group.table(id: table.id) == nil {
      changes.removedTables.append(table.schema.name)
      changes.tables.append(try tableChanges(from: table, to: nil))
    }
    return changes
  }

  private func tableChanges(
    from former: TableRecord?, to table: TableRecord?
  ) throws(EngineError) -> TableChanges {
    let name = table?.schema.name ?? former?.schema.name ?? ""
    var changes = TableChanges(name: name)
    changes.isAdded = former == nil
    changes.isRemoved = table == nil
    if let former, let table { Self.compareSchemas(former, table, &changes) }
    var rows = RowComparison(self, former, table)
    try rows.run(&changes)
    return changes
  }

  private static func compareSchemas(
    _ former: TableRecord, _ table: TableRecord, _ changes: inout TableChanges
  ) {
    if former.schema.name != table.schema.name { changes.formerName = former.schema.name }
    for (record, column) in zip(table.columns, table.schema.columns) {
      guard let index = former.columns.firstIndex(where: { $0.id == record.id }) else {
        changes.addedColumns.append(column.name)
        continue
      }
      let name = former.schema.columns[index].name
      if name != column.name {
        changes.renamedColumns.append(TableChanges.Rename(from: name, to: column.name))
      }
    }
    for (record, column) in zip(former.columns, former.schema.columns)
    where !table.columns.contains(where: { $0.id == record.id }) {
      changes.removedColumns.append(column.name)
    }
  }
}
