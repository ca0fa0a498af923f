// VerifyIndexTests.swift: an index that does not say what the rows say is found, whatever way it
// came to be, with every checksum right.

import Testing

@testable import Engine

@Suite("Verify: indexes")
struct VerifyIndexTests {
  private static let schema = TableSchema(
    name: "Row",
    columns: [
      ColumnSchema(name: "number", type: .int, isIndexed: true),
      ColumnSchema(name: "name", type: .string, isUnique: true),
      ColumnSchema(name: "next", type: .link, target: "Row"),
      ColumnSchema(name: "others", type: .link, collection: .list, target: "Row"),
    ])

  /// Keys 10, 20, … 500.
  private static func made() throws -> (TestBackend, Database) {
    let backend = TestBackend()
    let database = try Database.open(backend: backend)
    let write = try database.beginWrite()
    try write.createTable(schema)
    for key in stride(from: 10, through: 500, by: 10) {
      let values: [Value] = [
        .int(Int64(key % 70)), .string("row \(key)"), key > 10 ? .link(10) : .null,
        .list(key > 10 ? [.link(10), .link(10)] : []),
      ]
      try write.insert(into: "Row", key: Int64(key), values)
    }
    try write.commit()
    try database.verify()
    return (backend, database)
  }

  /// What verify says about a file in which a node was changed.
  private static func finding(
    _ node: KeyPath<TableRecord, Ref>, _ body: (inout [UInt8]) throws -> Void
  ) throws -> String? {
    let (backend, database) = try made()
    let state = database.state.withLock { $0.current }
    let bytes = try ResealedFile.changing(
      backend.bytes, state, [state.group.tables[0][keyPath: node], state.slot.top.ref], body)
    return try finding(try Database.open(backend: TestBackend(bytes)))
  }

  private static func finding(_ database: Database) throws -> String? {
    do {
      try database.verify()
      return nil
    } catch {
      #expect(error.code == .corrupted)
      return error.message
    }
  }

  /// Offset in the node of the array of a descriptor.
  private static func array(_ node: [UInt8], _ descriptor: Int) -> Int {
    Int(ResealedFile.number(node, 48 + 16 * descriptor + 8, 4))
  }

  @Test("an unchanged file that is sealed again is whole")
  func resealed() throws {
    #expect(try Self.finding(\.columns[0].index.root.ref) { _ in } == nil)
    #expect(try Self.finding(\.root.ref) { _ in } == nil)
  }

  @Test("one changed key of an index entry is found")
  func changedKey() throws {
    let message = try Self.finding(\.columns[0].index.root.ref) { node in
      #expect(node[48 + 16 + 12] == 16)
      node[Self.array(node, 1) + 2 * 7] ^= 1
    }
    #expect(message?.contains("the index of Row.number has") == true)
  }

  @Test("one changed image of an index entry is found")
  func changedImage() throws {
    let message = try Self.finding(\.columns[1].index.root.ref) { node in
      #expect(node[48 + 12] == 64)
      node[Self.array(node, 0) + 8 * 20] ^= 1
    }
    #expect(message?.contains("the index of Row.name has") == true)
  }

  @Test("a changed count of an index entry is found")
  func changedCount() throws {
    let message = try Self.finding(\.columns[3].index.root.ref) { node in
      let descriptor = 48 + 32
      #expect(node[descriptor + 12] == 1)
      node[Self.array(node, 2)] ^= 4
    }
    #expect(message?.contains("the index of Row.others has") == true)
  }

  @Test("arrays of an index leaf that share bytes are found")
  func sharedBytes() throws {
    let message = try Self.finding(\.columns[0].index.root.ref) { node in
      // The images, with the width of the keys, would read the keys' bytes.
      for byte in 8..<13 { node[48 + byte] = node[48 + 16 + byte] }
    }
    #expect(message?.contains("descriptor 1 has column_id=0 after 0, kind=2") == true)
  }

  @Test("a changed value of a row is found")
  func changedRow() throws {
    let message = try Self.finding(\.root.ref) { node in
      node[Self.array(node, 1)] ^= 1
    }
    #expect(message?.contains("the index of Row.number has") == true)
  }

  /// What verify says after a change that goes behind the transaction's back.
  private static func finding(after body: (MutableTable) throws -> Void) throws -> String? {
    let (_, database) = try made()
    let write = try database.beginWrite()
    try body(write.mutableTables[0])
    try write.commit()
    return try finding(database)
  }

  @Test("a row without its entry, and an entry without its row, are found")
  func oneSideOnly() throws {
    let values: [Value] = [.int(1), .string("x"), .null, .list([])]
    let row = try Self.finding { try $0.tree.put(11, values, mode: .insert) }
    #expect(row?.contains("0 times, the row 1 times") == true)
    let gone = try Self.finding { try $0.tree.remove(20) }
    #expect(gone?.contains("its rows give 49") == true)
    let entry = try Self.finding { try $0.index(0).insert(KeyPair(ValueImage.ordered(1), 12)) }
    #expect(entry?.contains("has pairs=51, its rows give 50") == true)
    let twice = try Self.finding { try $0.index(0).insert(KeyPair(ValueImage.ordered(10), 10)) }
    #expect(twice?.contains("2 times, the row 1 times") == true)
    let count = try Self.finding { $0.index(0).pairCount += 1 }
    #expect(count?.contains("pairs=50 != entry_count=51 of Row.number") == true)
  }

  @Test("a link to a row that is not there, and a value twice in a unique column, are found")
  func brokenPromises() throws {
    let dangling = try Self.finding { table in
      let values: [Value] = [.int(1), .string("x"), .link(15), .list([])]
      try table.tree.put(11, values, mode: .insert)
      try table.reindex(11, old: nil, new: values)
    }
    #expect(dangling?.contains("Row.next of key 11 links to key 15 of Row") == true)
    let double = try Self.finding { table in
      let values: [Value] = [.int(1), .string("row 20"), .null, .list([])]
      try table.tree.put(11, values, mode: .insert)
      try table.reindex(11, old: nil, new: values)
    }
    #expect(double?.contains("Row.name is unique, and keys 11 and 20 have one value") == true)
  }

  @Test("an index that disagrees with its rows ends a write with an error, not with a trap")
  func writing() throws {
    let (_, database) = try Self.made()
    var write = try database.beginWrite()
    try write.mutableTables[0].index(0).remove(KeyPair(ValueImage.ordered(20), 20))
    try write.commit()
    write = try database.beginWrite()
    #expect(errorCode { try write.delete(from: "Row", key: 20) } == .corrupted)
    #expect(errorCode { try write.commit() } == .corrupted)
    let version = database.version
    write = try database.beginWrite()
    try write.mutableTables[0].index(3).insert(KeyPair(ValueImage.ordered(30), 40))
    #expect(errorCode { try write.delete(from: "Row", key: 30) } == .corrupted)
    #expect(errorCode { try write.commit() } == .corrupted)
    #expect(database.version == version)
  }

  @Test("a group that gives an index to a column that can have none is refused")
  func impossibleIndex() throws {
    let backend = TestBackend()
    let database = try Database.open(backend: backend)
    let write = try database.beginWrite()
    let column = ColumnSchema(name: "weight", type: .double)
    try write.createTable(TableSchema(name: "Row", columns: [column]))
    try write.insert(into: "Row", key: 1, [.double(1)])
    try write.commit()
    let state = database.state.withLock { $0.current }
    // Indexed; unique.
    for flag in [2, 4] as [UInt8] {
      let bytes = try ResealedFile.changing(backend.bytes, state, [state.slot.top.ref]) { node in
        let name = Array("weight".utf8)
        let place = try #require(node.indices.first { node[$0...].starts(with: name) })
        #expect(node[place - 2] == 0)
        node[place - 2] = flag
      }
      #expect(
        errorCode { try Database.open(backend: TestBackend(bytes)).verify() } == .corrupted)
    }
  }
}
