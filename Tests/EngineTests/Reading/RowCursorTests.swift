// RowCursorTests.swift: columns read through a cursor, one row at a time or many at once, are the
// rows' values, in whatever order rows and columns are asked for.

import Testing

@testable import Engine

@Suite("Row cursors")
struct RowCursorTests {
  private static let table = TableSchema(
    name: "T",
    columns: [
      ColumnSchema(name: "int", type: .int), ColumnSchema(name: "double", type: .double),
      ColumnSchema(name: "bool", type: .bool),
      ColumnSchema(name: "maybe", type: .int, isOptional: true),
      ColumnSchema(name: "text", type: .string),
    ])

  private static func filled(
    _ options: Database.Options, _ keys: [Int64] = keys
  ) throws -> Database {
    let database = try Database.open(backend: TestBackend(), options: options)
    let write = try database.beginWrite()
    try write.createTable(table)
    for key in keys { try write.insert(into: "T", key: key, row(key)) }
    try write.commit()
    return database
  }

  private static let keys = (0..<3_000).map { Int64($0) * 2 - 1_000 }

  private static func row(_ key: Int64) -> [Value] {
    [
      .int(key &* 0x9e37_79b9_7f4a), .double(Double(key) / 7), .bool(key % 3 == 0),
      key % 5 == 0 ? .null : .int(key % 11), .string(String(repeating: "x", count: 20)),
    ]
  }

  private static let settings: [Database.Options] = {
    var encrypted = Database.Options()
    encrypted.encryptionKey = Array(repeating: 7, count: 64)
    return [Database.Options(), encrypted]
  }()

  @Test("single values, with columns and leaves in turns", arguments: [0, 1], [1, 2])
  func single(setting: Int, step: Int64) throws {
    let keys = (0..<3_000).map { Int64($0) * step - 1_000 }
    let database = try Self.filled(Self.settings[setting], keys)
    let cursor = try RowCursor(database.snapshot(), "T")
    var random = TestRandom(3)
    var key: Int64 = 0
    for _ in 0..<6_000 {
      key = random.below(9) == 0 ? Int64(random.below(6_100)) - 1_050 : key + step
      let isThere = key % step == 0 && (keys[0]...keys[2_999]).contains(key)
      let row = isThere ? Self.row(key) : nil
      switch random.below(3) {
      case 0: #expect(try cursor.int(key, 0).map { .int($0) } == row?[0])
      case 1: #expect(try cursor.double(key, 1).map { .double($0) } == row?[1])
      default: #expect(try cursor.bool(key, 2).map { .bool($0) } == row?[2])
      }
    }
  }

  @Test("the leaf of an encrypted file may be evicted between two reads")
  func evicted() throws {
    var options = Self.settings[1]
    options.pageCacheBytesMax = 1 << 20
    let keys = (0..<60_000).map { Int64($0) }
    let snapshot = try Self.filled(options, keys).snapshot()
    let cache = try #require(snapshot.state.reader.plaintextCache)
    let cursor = try RowCursor(snapshot, "T")
    for key: Int64 in [7, 9_000, 20_000] {
      #expect(try cursor.int(key, 0).map { .int($0) } == Self.row(key)[0])
      #expect(try RowCursor(snapshot, "T").integers(keys, 0)?.count == keys.count)
      let before = cache.loads
      #expect(try cursor.int(key, 0).map { .int($0) } == Self.row(key)[0])
      #expect(cache.loads > before, "it was evicted")
      #expect(try cursor.double(key, 1).map { .double($0) } == Self.row(key)[1])
    }
  }

  @Test("columns of many rows, in any order", arguments: [0, 1])
  func columns(setting: Int) throws {
    let database = try Self.filled(Self.settings[setting])
    let cursor = try RowCursor(database.snapshot(), "T")
    var random = TestRandom(4)
    for keys in [Self.keys, Self.keys.shuffled(using: &random), [], Array(Self.keys[7..<8])] {
      let rows = keys.map(Self.row)
      #expect(try cursor.integers(keys, 0)?.map { .int($0) } == rows.map { $0[0] })
      let bits = try cursor.doubleBits(keys, 1)?.map { UInt64(bitPattern: $0) }
      #expect(bits?.map { .double(Double(bitPattern: $0)) } == rows.map { $0[1] })
      #expect(try cursor.nulls(keys, 3)?.map { $0 == 1 } == rows.map { $0[3] == .null })
    }
    #expect(try cursor.integers([Self.keys[0], Self.keys[0] + 1], 0) == nil, "no such row")
    #expect(try cursor.integers([.max], 0) == nil, "no such row")
  }
}
