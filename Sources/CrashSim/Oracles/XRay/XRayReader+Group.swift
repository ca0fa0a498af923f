// XRayReader+Group.swift: reads the group: tables, columns and the positions of their trees.

extension XRayReader {
  private static let tableCountMax = 1024
  private static let memoBytesMax = 1024
  private static let columnCountMax = 128

  /// Reads the group.
  /// - Returns: The link to the free list, the number of leaves with a patch, and the tables.
  mutating func readGroup(
    _ node: XRayNode
  ) throws(XRayFault) -> (freeList: XRayLink, patchedLeaves: Int, tables: [XRayTable]) {
    do throws(XRayFault) {
      let version = try node.bytes.number(16, UInt64.self)
      guard slot.edits.isEmpty ? version == slot.version : version < slot.version else {
        throw XRayFault("version=\(version) of the group != version=\(slot.version) of the slot")
      }
      var cursor = XRayCursor(node.bytes, at: XRayNode.headerBytes)
      let freeList = try cursor.link()
      let nextID = try cursor.number(UInt32.self)
      let patched = try cursor.number(UInt16.self)
      let memoBytes = Int(try cursor.number(UInt16.self))
      let memoMax = (found.formatVersion ?? 0) < 4 ? 0 : Self.memoBytesMax
      guard memoBytes <= memoMax else { throw XRayFault("memo_bytes=\(memoBytes) > \(memoMax)") }
      let most = found.formatVersion == 2 ? 0 : Self.patchedLeafCountMax
      guard patched <= UInt16(most) else {
        throw XRayFault("leaves with a patch: \(patched) > \(most)")
      }
      guard node.count <= Self.tableCountMax else { throw XRayFault("tables=\(node.count)") }
      var tables: [XRayTable] = []
      for _ in 0..<node.count { tables.append(try Self.table(&cursor)) }
      guard node.bytes.count == cursor.offset + memoBytes else {
        throw XRayFault(
          "group_bytes=\(node.bytes.count) != \(cursor.offset) bytes of its tables and "
            + "\(memoBytes) of its memo")
      }
      try Self.check(tables, nextID: nextID)
      for table in tables.indices {
        for column in tables[table].columns.indices {
          let id = tables[table].columns[column].targetID
          tables[table].columns[column].targetName = tables.first { $0.id == id }?.name
        }
      }
      return (freeList, Int(patched), tables)
    } catch {
      throw XRayFault(error.message, at: node.refBytes)
    }
  }

  private static func table(_ cursor: inout XRayCursor) throws(XRayFault) -> XRayTable {
    let id = try cursor.number(UInt32.self)
    let nextColumnID = try cursor.number(UInt16.self)
    let level = Int(try cursor.number(UInt8.self))
    let columnCount = Int(try cursor.number(UInt8.self))
    let root = try cursor.link()
    let rows = try cursor.number(UInt64.self)
    let name = try cursor.name()
    guard columnCount <= columnCountMax else { throw XRayFault("\(name): columns=\(columnCount)") }
    guard root.refBytes != 0 || (rows == 0 && level == 0) else {
      throw XRayFault("\(name): rows=\(rows) level=\(level) without a root")
    }
    guard root.refBytes == 0 || rows > 0 else { throw XRayFault("\(name): a root without rows") }
    var columns: [XRayColumn] = []
    for _ in 0..<columnCount { columns.append(try column(&cursor)) }
    var last: UInt16 = 0
    for column in columns {
      guard column.id > last, column.id < nextColumnID else {
        throw XRayFault("\(name): column id \(column.id) after \(last), next is \(nextColumnID)")
      }
      last = column.id
    }
    guard Set(columns.map { Array($0.name.utf8) }).count == columns.count else {
      throw XRayFault("\(name): two columns of one name")
    }
    return XRayTable(
      id: id, name: name, columns: columns, tree: XRayTree(root: root, level: level, count: rows))
  }

  private static func column(_ cursor: inout XRayCursor) throws(XRayFault) -> XRayColumn {
    let id = try cursor.number(UInt16.self)
    let typeNumber = try cursor.number(UInt8.self)
    let collectionNumber = try cursor.number(UInt8.self)
    let flags = try cursor.number(UInt8.self)
    var index: XRayTree?
    if flags & 8 != 0 {
      let root = try cursor.link()
      let count = try cursor.number(UInt64.self)
      let level = Int(try cursor.number(UInt8.self))
      let hasIndex = flags & 22 != 0 || typeNumber == XRayType.link.rawValue
      guard root.refBytes != 0, count > 0, hasIndex else {
        throw XRayFault("column \(id): flags=\(flags) pairs=\(count) root=\(root.refBytes)")
      }
      index = XRayTree(root: root, level: level, count: count)
    } else if flags & 22 != 0 || typeNumber == XRayType.link.rawValue {
      index = XRayTree(root: XRayLink(refBytes: 0, checksum: 0), level: 0, count: 0)
    }
    let target = typeNumber == XRayType.link.rawValue ? try cursor.number(UInt32.self) : 0
    let name = try cursor.name()
    guard let type = XRayType(rawValue: typeNumber),
      let collection = XRayCollection(rawValue: collectionNumber), flags < 32,
      flags & 16 == 0 || type == .string && collection == .none && flags & 6 == 0
    else {
      throw XRayFault("\(name): type=\(typeNumber) collection=\(collectionNumber) flags=\(flags)")
    }
    let isOptional = flags & 1 != 0
    let hasChoice = type != .mixed && type != .link
    let isForced = type == .mixed || collection == .none || collection == .dictionary
    guard hasChoice || isOptional == isForced else {
      throw XRayFault("\(name): optional=\(isOptional) in a column of \(type), \(collection)")
    }
    return XRayColumn(
      id: id, name: name, type: type, collection: collection, isOptional: isOptional,
      isIndexed: flags & 2 != 0, isUnique: flags & 4 != 0, isFullText: flags & 16 != 0,
      targetID: target, targetName: nil, index: index)
  }

  private static func check(_ tables: [XRayTable], nextID: UInt32) throws(XRayFault) {
    var last: UInt32 = 0
    for table in tables {
      guard table.id > last, table.id < nextID else {
        throw XRayFault("table id \(table.id) after \(last), next is \(nextID)")
      }
      last = table.id
    }
    guard Set(tables.map { Array($0.name.utf8) }).count == tables.count else {
      throw XRayFault("two tables of one name")
    }
    for table in tables {
      for column in table.columns {
        let isThere = tables.contains { $0.id == column.targetID }
        guard column.type != .link || isThere else {
          throw XRayFault("\(table.name).\(column.name): target table \(column.targetID)")
        }
      }
    }
  }
}
