// Group.swift: the top node of a version: its free list and its tables.
//   offset_bytes  size  field            (behind the node header; count = tables)
//             48     8  ref of the free list, 0 when there is none
//             56     8  its checksum
//             64     …  per table: root ref 8, root checksum 8, row count 8, level 1, columns 1,
//                       name; per column: type 1, name. A name is its size 1 and its bytes.
// Names are unique, and the tables stand in the order in which they were made.

/// A table as the group knows it.
struct TableRecord: Sendable {
  var schema: TableSchema
  var shape: LeafShape
  var root: NodeLink
  var level: Int
  var rowCount: UInt64
}

/// The content of a top node.
struct Group: Sendable {
  var freeList: NodeLink
  var tables: [TableRecord]
  private(set) var indexByName: [String: Int] = [:]

  init(freeList: NodeLink, tables: [TableRecord]) {
    self.freeList = freeList
    self.tables = tables
    for (index, table) in tables.enumerated() { indexByName[table.schema.name] = index }
  }

  func table(named name: String) throws(EngineError) -> TableRecord {
    guard let index = indexByName[name] else { throw Self.noSuchTable(name) }
    return tables[index]
  }

  static func noSuchTable(_ name: String) -> EngineError {
    EngineError(code: .noSuchTable, message: "there is no table named \"\(name)\"; create it first")
  }

  /// The bytes behind the node header.
  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendLittleEndian(freeList.ref.offsetBytes)
    bytes.appendLittleEndian(freeList.checksum)
    for table in tables {
      bytes.appendLittleEndian(table.root.ref.offsetBytes)
      bytes.appendLittleEndian(table.root.checksum)
      bytes.appendLittleEndian(table.rowCount)
      bytes.append(UInt8(table.level))
      bytes.append(UInt8(table.schema.columns.count))
      bytes.append(UInt8(table.schema.name.utf8.count))
      bytes += Array(table.schema.name.utf8)
      for column in table.schema.columns {
        bytes.append(column.type.rawValue)
        bytes.append(UInt8(column.name.utf8.count))
        bytes += Array(column.name.utf8)
      }
    }
    return bytes
  }

  /// Reads a top node.
  init(_ node: Node) throws(EngineError) {
    guard node.header.count <= Layout.tableCountMax else {
      throw .corrupted("tables=\(node.header.count) > \(Layout.tableCountMax)", at: node.ref)
    }
    var cursor = ByteCursor(node.bytes, from: Layout.nodeHeaderBytes, ref: node.ref)
    let freeList = try cursor.link()
    var tables: [TableRecord] = []
    for _ in 0..<node.header.count { tables.append(try Self.table(&cursor)) }
    guard cursor.isAtEnd else { throw .corrupted("bytes behind the last table", at: node.ref) }
    self.init(freeList: freeList, tables: tables)
    guard indexByName.count == tables.count else {
      throw .corrupted("two tables have one name", at: node.ref)
    }
  }

  private static func table(_ cursor: inout ByteCursor) throws(EngineError) -> TableRecord {
    let root = try cursor.link()
    let rowCount = try cursor.uint64()
    let level = Int(try cursor.uint8())
    let columnCount = Int(try cursor.uint8())
    guard level <= Layout.levelMax, columnCount <= Layout.columnCountMax,
      !root.isNone || (level == 0 && rowCount == 0)
    else {
      throw .corrupted("level=\(level) columns=\(columnCount) rows=\(rowCount)", at: cursor.ref)
    }
    var schema = TableSchema(name: try cursor.name(), columns: [])
    for _ in 0..<columnCount {
      let number = try cursor.uint8()
      guard let type = ColumnType(rawValue: number) else {
        throw .corrupted("column_type=\(number) is neither 1 nor 2", at: cursor.ref)
      }
      schema.columns.append(ColumnSchema(name: try cursor.name(), type: type))
    }
    return TableRecord(
      schema: schema, shape: schema.shape, root: root, level: level, rowCount: rowCount)
  }
}

/// Reads fields one after the other, and never behind the end.
private struct ByteCursor {
  private let bytes: RawBytes
  private var offset: Int
  let ref: Ref

  init(_ bytes: RawBytes, from offset: Int, ref: Ref) {
    self.bytes = bytes
    self.offset = offset
    self.ref = ref
  }

  var isAtEnd: Bool { offset == bytes.count }

  private mutating func take(_ count: Int) throws(EngineError) -> Int {
    guard count <= bytes.count - offset else {
      throw .corrupted("field of \(count) bytes behind the end \(bytes.count)", at: ref)
    }
    defer { offset += count }
    return offset
  }

  mutating func uint8() throws(EngineError) -> UInt8 { bytes.uint8(try take(1)) }
  mutating func uint64() throws(EngineError) -> UInt64 { bytes.uint64(try take(8)) }

  mutating func link() throws(EngineError) -> NodeLink {
    NodeLink(ref: Ref(offsetBytes: try uint64()), checksum: try uint64())
  }

  mutating func name() throws(EngineError) -> String {
    let count = Int(try uint8())
    guard count > 0, let name = bytes.part(at: try take(count), count: count).string else {
      throw .corrupted("a name of \(count) bytes is empty or not UTF-8", at: ref)
    }
    return name
  }
}
