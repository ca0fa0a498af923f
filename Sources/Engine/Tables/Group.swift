// Group.swift: the top node of a version: its free list and its tables.
//   offset_bytes  size  field            (after the node header; count = tables)
//             48     8  ref of the free list, 0 when there is none
//             56     8  its checksum
//             64     4  id that the next table gets
//             68     2  leaves with a patch, in all tables
//             70     2  size of the memo
//             72     …  per table: id 4, id that its next column gets 2, level 1, columns 1, root
//                       ref 8, root checksum 8, row count 8, name; then per column: id 2, type 1,
//                       collection 1, flags 1 (1 optional, 2 indexed, 4 unique, 8 has an index
//                       root), with flag 8: index ref 8, checksum 8, entry count 8, level 1; for a
//                       link: target table id 4; name. A name is its size 1 and its bytes.
//              …     …  the memo: bytes of the program that belong to the version
// Names are unique; tables and columns are in order of creation, so ids ascend, and ids are never
// reused.

/// Where the index of a column starts.
struct IndexRoot: Hashable, Sendable {
  var root: NodeLink
  var level: Int
  var entryCount: UInt64

  static let none = IndexRoot(root: .none, level: 0, entryCount: 0)
}

/// What the group records about a column besides its schema.
struct ColumnRecord: Hashable, Sendable {
  let id: UInt16
  /// The table that links lead to, 0 for none.
  var targetID: UInt32
  var index = IndexRoot.none
}

/// A table as the group knows it.
struct TableRecord: Sendable {
  let id: UInt32
  var nextColumnID: UInt16
  var schema: TableSchema
  /// One per column of the schema.
  var columns: [ColumnRecord]
  var shape: LeafShape
  var root: NodeLink
  var level: Int
  var rowCount: UInt64

  static func shape(_ schema: TableSchema, _ columns: [ColumnRecord]) -> LeafShape {
    LeafShape(zip(columns, schema.columns).map { ($0.id, $1) })
  }

  /// Where the table's trees start: its rows, then its indexes.
  var roots: [(link: NodeLink, role: NodeRole)] {
    var roots: [(link: NodeLink, role: NodeRole)] = []
    if !root.isNone { roots.append((root, .tree(shape, level: level))) }
    for (column, definition) in zip(columns, schema.columns) where !column.index.root.isNone {
      roots.append(
        (
          column.index.root,
          .index(level: column.index.level, ofWords: definition.isFullText)
        ))
    }
    return roots
  }
}

/// The content of a top node.
struct Group: Sendable {
  private enum Flag {
    static let optional: UInt8 = 1
    static let indexed: UInt8 = 2
    static let unique: UInt8 = 4
    static let hasIndex: UInt8 = 8
    static let fullText: UInt8 = 16
  }

  var freeList: NodeLink
  var nextTableID: UInt32
  /// Number of leaves of the version that have a patch.
  var patchedLeafCount: Int
  /// Bytes of the program.
  var memo: [UInt8]
  var tables: [TableRecord] {
    didSet { encodedTables = [] }
  }
  let indexByName: [String: Int]
  /// The bytes of each table, once they were asked for.
  private var encodedTables: [[UInt8]] = []

  init(
    freeList: NodeLink, nextTableID: UInt32, patchedLeafCount: Int = 0, memo: [UInt8] = [],
    tables: [TableRecord]
  ) {
    self.memo = memo
    self.freeList = freeList
    self.nextTableID = nextTableID
    self.patchedLeafCount = patchedLeafCount
    self.tables = tables
    var indexByName: [String: Int] = [:]
    for (index, table) in tables.enumerated() { indexByName[table.schema.name] = index }
    self.indexByName = indexByName
  }

  /// The group of a version with the same tables, of which only some have changed.
  /// - Parameters:
  ///   - base: The version's group.
  ///   - nextTableID: The id that the next table gets.
  ///   - memo: Bytes of the program.
  ///   - changed: The numbers of the changed tables, and these; their names are the same.
  /// - Complexity: O(tables + names of the changed ones), and once O(all names).
  init(
    _ base: Group, nextTableID: UInt32, memo: [UInt8],
    changed: [(index: Int, table: TableRecord)]
  ) {
    self.memo = memo
    (freeList, patchedLeafCount) = (base.freeList, base.patchedLeafCount)
    indexByName = base.indexByName
    self.nextTableID = nextTableID
    var encoded = base.encodedTables
    if encoded.isEmpty { encoded = base.tables.map { Self.encoded($0) } }
    var tables = base.tables
    for (index, table) in changed {
      Self.encode(table, over: tables[index], &encoded[index])
      tables[index] = table
    }
    self.tables = tables
    encodedTables = encoded
  }

  func table(named name: String) throws(EngineError) -> TableRecord {
    guard let index = indexByName[name] else { throw Self.noSuchTable(name) }
    return tables[index]
  }

  func hasTable(named name: String) -> Bool { indexByName[name] != nil }

  /// The table of an id, or nil.
  func table(id: UInt32) -> TableRecord? {
    let index = tables.partitioningIndex { $0.id >= id }
    return index < tables.count && tables[index].id == id ? tables[index] : nil
  }

  static func noSuchTable(_ name: String) -> EngineError {
    EngineError(code: .noSuchTable, message: "there is no table named \"\(name)\"; create it first")
  }

  // MARK: bytes

  /// The bytes after the node header.
  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(freeList)
    bytes.appendLittleEndian(nextTableID)
    bytes.appendLittleEndian(UInt16(patchedLeafCount))
    bytes.appendLittleEndian(UInt16(memo.count))
    if encodedTables.isEmpty {
      for table in tables { bytes += Self.encoded(table) }
    } else {
      bytes.reserveCapacity(encodedTables.reduce(bytes.count + memo.count) { $0 + $1.count })
      for table in encodedTables { bytes += table }
    }
    return bytes + memo
  }

  private static func encoded(_ table: TableRecord) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendLittleEndian(table.id)
    bytes.appendLittleEndian(table.nextColumnID)
    bytes.append(UInt8(table.level))
    bytes.append(UInt8(table.schema.columns.count))
    bytes.append(table.root)
    bytes.appendLittleEndian(table.rowCount)
    bytes.append(name: table.schema.name)
    for (record, column) in zip(table.columns, table.schema.columns) {
      append(record, column, to: &bytes)
    }
    return bytes
  }

  /// Turns the bytes of a table before its change into those after it.
  private static func encode(_ table: TableRecord, over old: TableRecord, _ bytes: inout [UInt8]) {
    guard table.id == old.id, table.nextColumnID == old.nextColumnID, table.level == old.level,
      table.schema == old.schema, table.columns == old.columns
    else {
      bytes = encoded(table)
      return
    }
    let words = [table.root.ref.offsetBytes, table.root.checksum, table.rowCount]
    for (index, word) in words.enumerated() { bytes.set(word, at: rootOffset + 8 * index) }
  }

  /// The offset of the root in the bytes of a table.
  private static let rootOffset = 8

  private static func append(
    _ record: ColumnRecord, _ column: ColumnSchema, to bytes: inout [UInt8]
  ) {
    bytes.appendLittleEndian(record.id)
    bytes.append(column.type.rawValue)
    bytes.append(column.collection.rawValue)
    let hasIndex = !record.index.root.isNone
    bytes.append(
      (column.isOptional ? Flag.optional : 0) | (column.isIndexed ? Flag.indexed : 0)
        | (column.isUnique ? Flag.unique : 0) | (hasIndex ? Flag.hasIndex : 0)
        | (column.isFullText ? Flag.fullText : 0))
    if hasIndex {
      bytes.append(record.index.root)
      bytes.appendLittleEndian(record.index.entryCount)
      bytes.append(UInt8(record.index.level))
    }
    if column.type == .link { bytes.appendLittleEndian(record.targetID) }
    bytes.append(name: column.name)
  }

  /// Reads a top node.
  init(_ node: Node) throws(EngineError) {
    guard node.header.count <= Layout.tableCountMax else {
      throw .corrupted("tables=\(node.header.count) > \(Layout.tableCountMax)", at: node.ref)
    }
    var cursor = ByteCursor(node.bytes, from: Layout.nodeHeaderBytes, ref: node.ref)
    let freeList = try cursor.link()
    let nextTableID = try cursor.uint32()
    let (patchedLeafCount, memoBytes) = (Int(try cursor.uint16()), Int(try cursor.uint16()))
    guard patchedLeafCount <= Layout.patchedLeafCountMax, nextTableID > 0,
      memoBytes <= Layout.memoBytesMax
    else {
      throw .corrupted(
        "next_table_id=\(nextTableID), at least 1, patched_leaves=\(patchedLeafCount), at most "
          + "\(Layout.patchedLeafCountMax), memo_bytes=\(memoBytes), at most "
          + "\(Layout.memoBytesMax)", at: node.ref)
    }
    var tables: [TableRecord] = []
    for _ in 0..<node.header.count {
      let table = try Self.table(&cursor)
      guard table.id > tables.last?.id ?? 0, table.id < nextTableID else {
        throw .corrupted("table_id=\(table.id), next_table_id=\(nextTableID)", at: node.ref)
      }
      tables.append(table)
    }
    let memo = try cursor.part(memoBytes).array
    guard cursor.isAtEnd else { throw .corrupted("bytes after the last table", at: node.ref) }
    try Self.resolveTargets(&tables, at: node.ref)
    self.init(
      freeList: freeList, nextTableID: nextTableID, patchedLeafCount: patchedLeafCount, memo: memo,
      tables: tables)
    guard indexByName.count == tables.count else {
      throw .corrupted("two tables have one name", at: node.ref)
    }
  }

  private static func table(_ cursor: inout ByteCursor) throws(EngineError) -> TableRecord {
    let id = try cursor.uint32()
    let nextColumnID = try cursor.uint16()
    let level = Int(try cursor.uint8())
    let columnCount = Int(try cursor.uint8())
    let root = try cursor.link()
    let rowCount = try cursor.uint64()
    guard level <= Layout.levelMax, columnCount <= Layout.columnCountMax,
      !root.isNone || (level == 0 && rowCount == 0), nextColumnID > 0
    else {
      throw .corrupted(
        "level=\(level) columns=\(columnCount) rows=\(rowCount) next_column_id=\(nextColumnID)",
        at: cursor.ref)
    }
    var schema = TableSchema(name: try cursor.name(), columns: [])
    var columns: [ColumnRecord] = []
    for _ in 0..<columnCount {
      let (record, column) = try column(&cursor)
      guard record.id > columns.last?.id ?? 0, record.id < nextColumnID else {
        throw .corrupted(
          "column_id=\(record.id), next_column_id=\(nextColumnID)", at: cursor.ref)
      }
      columns.append(record)
      schema.columns.append(column)
    }
    guard Set(schema.columns.map(\.name)).count == columnCount else {
      throw .corrupted("two columns of \(schema.name) have one name", at: cursor.ref)
    }
    return TableRecord(
      id: id, nextColumnID: nextColumnID, schema: schema, columns: columns,
      shape: TableRecord.shape(schema, columns), root: root, level: level, rowCount: rowCount)
  }

  private static func column(
    _ cursor: inout ByteCursor
  ) throws(EngineError) -> (ColumnRecord, ColumnSchema) {
    let id = try cursor.uint16()
    let (typeNumber, collectionNumber) = (try cursor.uint8(), try cursor.uint8())
    let flags = try cursor.uint8()
    guard let type = ColumnType(rawValue: typeNumber),
      let collection = CollectionKind(rawValue: collectionNumber), flags < 32
    else {
      throw .corrupted(
        "column_type=\(typeNumber) collection=\(collectionNumber) flags=\(flags)",
        at: cursor.ref)
    }
    let isOptional = flags & Flag.optional != 0
    guard ColumnSchema.nullability(type, collection).map({ $0 == isOptional }) ?? true else {
      throw .corrupted("a \(type) column has optional=\(isOptional)", at: cursor.ref)
    }
    let isIndexed = flags & (Flag.indexed | Flag.unique) != 0
    let isFullText = flags & Flag.fullText != 0
    guard !isIndexed || (ValueImage.canIndex(type) && collection == .none),
      !isFullText || (type == .string && collection == .none && !isIndexed),
      flags & Flag.hasIndex == 0 || isIndexed || isFullText || type == .link
    else {
      throw .corrupted(
        "a \(type) column (collection: \(collection)) with flags=\(flags)", at: cursor.ref)
    }
    var record = ColumnRecord(id: id, targetID: 0)
    if flags & Flag.hasIndex != 0 {
      record.index = IndexRoot(
        root: try cursor.link(), level: 0, entryCount: try cursor.uint64())
      record.index.level = Int(try cursor.uint8())
      guard !record.index.root.isNone, record.index.level <= Layout.levelMax else {
        throw .corrupted("index of column \(id) has level=\(record.index.level)", at: cursor.ref)
      }
    }
    if type == .link { record.targetID = try cursor.uint32() }
    return (
      record,
      ColumnSchema(
        name: try cursor.name(), type: type, isOptional: isOptional, collection: collection,
        isIndexed: flags & Flag.indexed != 0, isUnique: flags & Flag.unique != 0,
        isFullText: isFullText)
    )
  }

  /// Columns name the tables that their links lead to by id; callers do it by name.
  private static func resolveTargets(
    _ tables: inout [TableRecord], at ref: Ref
  ) throws(EngineError) {
    var names: [UInt32: String] = [:]
    for table in tables { names[table.id] = table.schema.name }
    for table in tables.indices {
      for (index, record) in tables[table].columns.enumerated()
      where tables[table].schema.columns[index].type == .link {
        guard let name = names[record.targetID] else {
          throw .corrupted(
            "links of column \(record.id) lead to table id \(record.targetID), which is not there",
            at: ref)
        }
        tables[table].schema.columns[index].target = name
      }
    }
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ link: NodeLink) {
    appendLittleEndian(link.ref.offsetBytes)
    appendLittleEndian(link.checksum)
  }

  fileprivate mutating func append(name: String) {
    append(UInt8(name.utf8.count))
    self += name.utf8
  }
}
