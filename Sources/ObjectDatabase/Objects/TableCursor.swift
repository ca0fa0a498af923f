// TableCursor.swift [U]: a realm's cached state for a class in use: the cursor of the version that
// it reads or the writer of its open transaction, and the column of each property. Table accesses
// (TableAccess.swift) are created and freed with the objects; this stays, so looking up objects one
// after the other opens the table once. Invariants: the cursor belongs to the version that it was
// made for and is made again when that changes; it retains its version and is released with it, not
// at the next read; the same holds for the writer and its transaction. One that `invalidate` cut
// off stays so. It does not refer to its realm, which owns it. `columns` belongs to whichever of
// the two was made last, and only that one is used: a realm in a transaction has no cursor.

import Engine

/// The table of a class in the version that a realm reads.
final class TableCursor: @unchecked Sendable {
  // Safety: as for _TableAccess: the realm's owner is checked at each use; a frozen realm does not
  // change after init.
  let info: ClassInfo
  private(set) var isCutOff = false
  private var cursor: RowCursor?
  private var stamp: UInt64?
  private var writer: RowWriter?
  /// The column of each property in the table; -1 for properties without one.
  private(set) var columns: [Int] = []
  private var columnsOf: TableSchema?
  /// The property of each column, for new rows.
  private var rowOrder: (schema: TableSchema, properties: [Int])?
  /// How far the key of the row that was found last by its integer primary key is from that key.
  private var distance: Int64 = 0
  /// Rises with each lookup that the distance would have answered, falls with each other one.
  private var distanceTrust = 0
  /// The error because of which a frozen realm has no cursor; thrown by every read.
  private var frozenFailure: EngineError?

  init(_ core: _RealmCore, _ info: ClassInfo) {
    self.info = info
    // A frozen realm's tables are shared by threads, so the cursor is made now.
    guard core.isFrozen else { return }
    do throws(EngineError) { _ = try current(core) } catch { frozenFailure = error }
  }

  // MARK: primary keys

  /// The key of the row that has an integer primary key, if it is where the last ones were.
  ///
  /// Objects with ascending primary keys, added in that order, have ascending keys of rows. One
  /// look at the row, which is read next, then answers without the index. As primary keys are
  /// unique, a row that has the value is the one that the index leads to.
  /// - Returns: Nil when only the index can tell.
  @inline(__always)
  func guess(
    _ number: Int64, _ column: Int, _ cursor: RowCursor
  ) throws(EngineError) -> Int64? {
    guard distanceTrust > 0 else { return nil }
    let key = number &+ distance
    return try cursor.int(key, column) == number ? key : nil
  }

  /// Learns from the answer of a lookup by an integer primary key.
  @inline(__always)
  func learn(_ number: Int64, _ key: Int64) {
    if key &- number == distance {
      if distanceTrust < 8 { distanceTrust += 1 }
    } else {
      distance = key &- number
      if distanceTrust > 0 { distanceTrust -= 1 }
    }
  }

  func invalidate() {
    isCutOff = true
    forget()
  }

  /// Releases the version that was read and the transaction, which cursor and writer retain.
  func forget() {
    cursor = nil
    stamp = nil
    writer = nil
  }

  /// The cursor of the version that the realm reads; nil when that has no such table.
  func current(_ core: _RealmCore) throws(EngineError) -> RowCursor? {
    if let frozenFailure { throw frozenFailure }
    if stamp == core.snapshotStamp { return cursor }
    forget()
    cursor = try make(core)
    stamp = core.snapshotStamp
    return cursor
  }

  private func make(_ core: _RealmCore) throws(EngineError) -> RowCursor? {
    let snapshot = try core.currentSnapshot()
    guard snapshot.hasTable(info.name) else { return nil }
    let made = try RowCursor(snapshot, info.name, remembersLeaf: !core.isFrozen)
    map(made.schema)
    if !core.isFrozen { core.noteCursor() }
    return made
  }

  /// The writer of an open transaction; nil when that has no such table.
  @inline(__always)
  func writer(_ write: WriteTransaction, _ core: _RealmCore) throws(EngineError) -> RowWriter? {
    if let writer, writer.transaction === write, writer.isCurrent { return writer }
    return try makeWriter(write, core)
  }

  private func makeWriter(
    _ write: WriteTransaction, _ core: _RealmCore
  ) throws(EngineError) -> RowWriter? {
    writer = nil
    guard !isCutOff, write.hasTable(info.name) else { return nil }
    let made = try RowWriter(write, info.name)
    map(made.schema)
    core.noteCursor()
    writer = made
    return made
  }

  private func map(_ schema: TableSchema) {
    guard columnsOf != schema else { return }
    columns = info.properties.map { property in
      schema.columns.firstIndex { $0.name == property.columnName } ?? -1
    }
    columnsOf = schema
  }

  /// The property of each column; -1 for columns without one.
  func propertyOrder(_ schema: TableSchema) -> [Int] {
    if let rowOrder, rowOrder.schema == schema { return rowOrder.properties }
    let properties = schema.columns.map { column in
      info.properties.firstIndex { $0.columnName == column.name } ?? -1
    }
    rowOrder = (schema, properties)
    return properties
  }
}
