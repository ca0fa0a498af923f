// MutableTable.swift: a table of a write transaction. Everything stays in memory until commit.
// Invariants: `columns` has one record per column of the schema, ids ascending; ids are never
// reused within a table. A committed table has no trees in memory before somebody asks for one: of
// the tables of a database a transaction uses few.

/// A table while a writer changes it.
final class MutableTable {
  let id: UInt32
  private(set) var nextColumnID: UInt16
  /// A change of it needs the trees: the table is not the committed one any more.
  var schema: TableSchema {
    willSet { if trees == nil { _ = open() } }
  }
  private(set) var columns: [ColumnRecord]
  /// The table as the base version has it, while nobody can have changed it.
  private(set) var unchanged: TableRecord?
  private let writer: TreeWriter
  @safe @exclusivity(unchecked) private var trees: Trees?

  /// The trees of rows and of indexes.
  private struct Trees {
    let tree: MutableTree
    /// One per column; nil where the schema has no index.
    var indexes: [MutableKeyPairTree?] { didSet { number() } }
    /// The columns that have an index, ascending.
    private(set) var indexedColumns: [Int] = []

    init(_ tree: MutableTree, _ indexes: [MutableKeyPairTree?]) {
      self.tree = tree
      self.indexes = indexes
      number()
    }

    private mutating func number() {
      indexedColumns = indexes.indices.filter { indexes[$0] != nil }
    }
  }

  /// The rows.
  var tree: MutableTree { trees?.tree ?? open().tree }
  /// One per column; nil where the schema has no index.
  var indexes: [MutableKeyPairTree?] { trees?.indexes ?? open().indexes }
  /// The columns that have an index, ascending.
  var indexedColumns: [Int] { trees?.indexedColumns ?? open().indexedColumns }

  /// A new table.
  init(id: UInt32, _ schema: TableSchema, targetIDs: [UInt32], _ writer: TreeWriter) {
    self.id = id
    self.schema = schema
    columns = zip(1..., targetIDs).map { ColumnRecord(id: UInt16($0), targetID: $1) }
    nextColumnID = UInt16(schema.columns.count + 1)
    self.writer = writer
    trees = Trees(
      MutableTree(shape: TableRecord.shape(schema, columns), writer: writer),
      Self.makeIndexes(schema, columns, writer))
  }

  /// A committed table.
  init(_ record: TableRecord, _ writer: TreeWriter) {
    id = record.id
    nextColumnID = record.nextColumnID
    schema = record.schema
    columns = record.columns
    self.writer = writer
    unchanged = record
  }

  /// Makes the trees of a committed table.
  @inline(never)
  private func open() -> Trees {
    guard let record = unchanged else { preconditionFailure("a changed table has its trees") }
    let opened = Trees(
      MutableTree(
        shape: record.shape, writer: writer, root: record.root, level: record.level,
        rowCount: record.rowCount), Self.makeIndexes(schema, columns, writer))
    trees = opened
    unchanged = nil
    return opened
  }

  /// Sets or removes the index of a column.
  func setIndex(_ index: MutableKeyPairTree?, of column: Int) {
    change { $0.indexes[column] = index }
    if index == nil { columns[column].index = .none }
  }

  func setIndexRoot(_ root: IndexRoot, of column: Int) { columns[column].index = root }

  private func change(_ body: (inout Trees) -> Void) {
    var changed = trees ?? open()
    trees = nil
    body(&changed)
    trees = changed
  }

  /// Places and encodes its changed nodes.
  /// - Returns: The table as the group of the next version knows it.
  func encoded(into sink: inout NodeSink) -> TableRecord {
    if let unchanged { return unchanged }
    let root = tree.encode(into: &sink)
    encodeIndexes(into: &sink)
    return TableRecord(
      id: id, nextColumnID: nextColumnID, schema: schema, columns: columns, shape: tree.shape,
      root: root, level: root.isNone ? 0 : tree.level, rowCount: tree.rowCount)
  }

  /// Adds a column; the schema was checked with it.
  func addColumn(_ column: ColumnSchema, targetID: UInt32) throws(EngineError) {
    guard nextColumnID < Layout.columnIDMax else {
      throw EngineError(
        code: .limit,
        message: "table \(schema.name) had \(nextColumnID) columns in its life; at most "
          + "\(Layout.columnIDMax): copy it into a new table")
    }
    schema.columns.append(column)
    columns.append(ColumnRecord(id: nextColumnID, targetID: targetID))
    nextColumnID += 1
    let shape = TableRecord.shape(schema, columns)
    tree.addColumn(shape.columns[shape.columns.count - 1], shape: shape)
    change { $0.indexes.append(nil) }
  }

  /// Removes a column.
  func removeColumn(at index: Int) throws(EngineError) {
    var (schema, columns) = (schema, columns)
    try indexes[index]?.releaseAll()
    schema.columns.remove(at: index)
    columns.remove(at: index)
    // The last step that can fail, so that schema, columns and indexes always agree.
    try tree.removeColumn(at: index, shape: TableRecord.shape(schema, columns))
    change { $0.indexes.remove(at: index) }
    (self.schema, self.columns) = (schema, columns)
  }

  /// Releases everything, before the table is removed.
  func release() throws(EngineError) {
    try tree.release()
    for column in indexedColumns { try indexes[column]?.releaseAll() }
  }

  /// Checks values against the columns.
  func check(_ values: [Value]) throws(EngineError) {
    let layouts = tree.shape.columns
    guard values.count == layouts.count else {
      throw EngineError(
        code: .schemaMismatch,
        message: "\(values.count) values for \(layouts.count) columns of \(schema.name)")
    }
    for index in values.indices where !layouts[index].clearlyHolds(values[index]) {
      try checkClosely(values[index], column: index)
    }
  }

  /// Checks the value of one column, which may be a collection.
  @inline(__always)
  func check(_ value: Value, column index: Int) throws(EngineError) {
    if !tree.shape.columns[index].clearlyHolds(value) {
      try checkClosely(value, column: index)
    }
  }

  private func checkClosely(_ value: Value, column index: Int) throws(EngineError) {
    let layout = tree.shape.columns[index]
    switch (layout.collection, value) {
    case (.none, _): try checkElement(value, column: index)
    case (.list, .list(let values)), (.set, .set(let values)):
      for value in values { try checkElement(value, column: index) }
    case (.dictionary, .dictionary(let entries)):
      for entry in entries {
        try checkSize(entry.key.utf8.count, column: index)
        try checkElement(entry.value, column: index)
      }
    default: throw mismatch(value, column: index)
    }
  }

  /// Checks one value of a column, or one element of its collections.
  func checkElement(_ value: Value, column index: Int) throws(EngineError) {
    let layout = tree.shape.columns[index]
    switch value {
    case .null: guard layout.isOptional else { throw mismatch(value, column: index) }
    case .string(let text): try checkSize(text.utf8.count, column: index)
    case .binary(let bytes): try checkSize(bytes.count, column: index)
    case .date(let seconds, let nanoseconds):
      guard FineDates.isPart(nanoseconds, of: seconds) else {
        throw EngineError(
          code: .schemaMismatch,
          message: "\(schema.columns[index].name) has nanoseconds=\(nanoseconds); use 0 to "
            + "999999999, also before 1970")
      }
    case .list, .set, .dictionary: throw mismatch(value, column: index)
    default: break
    }
    switch (layout.type, value) {
    case (_, .null), (.int, .int), (.string, .string), (.bool, .bool), (.float, .float),
      (.double, .double), (.binary, .binary), (.date, .date), (.objectId, .objectId),
      (.uuid, .uuid), (.decimal128, .decimal128), (.link, .link):
      break
    case (.mixed, .link): throw mismatch(value, column: index)
    case (.mixed, _): break
    default: throw mismatch(value, column: index)
    }
  }

  func checkSize(_ sizeBytes: Int, column index: Int) throws(EngineError) {
    guard sizeBytes <= Layout.stringBytesMax else {
      throw EngineError(
        code: .valueTooLarge,
        message: "\(schema.columns[index].name) has \(sizeBytes) bytes; at most "
          + "\(Layout.stringBytesMax)")
    }
  }

  private func mismatch(_ value: Value, column index: Int) -> EngineError {
    let column = schema.columns[index]
    return EngineError(
      code: .schemaMismatch,
      message: "\(column.name) of \(schema.name) is a \(column.isOptional ? "optional " : "")"
        + "\(column.type) column (collection: \(column.collection)), and \(value) does not fit it")
  }
}

extension ColumnLayout {
  /// Whether the column can have a value of the most frequent kinds; false says nothing.
  @inline(__always)
  fileprivate func clearlyHolds(_ value: Value) -> Bool {
    guard collection == .none else { return false }
    return switch value {
    case .int: type == .int
    case .bool: type == .bool
    case .double: type == .double
    case .string(let text): type == .string && text.utf8.count <= Layout.stringBytesMax
    case .binary(let bytes): type == .binary && bytes.count <= Layout.stringBytesMax
    default: false
    }
  }
}
