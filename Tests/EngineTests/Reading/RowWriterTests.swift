// RowWriterTests.swift: values changed and read by the numbers of columns, beside the same changes
// by names in another database.

import Testing

@testable import Engine

@Suite("row writers")
struct RowWriterTests {
  private static let pets = TableSchema(
    name: "Pet",
    columns: [
      ColumnSchema(name: "id", type: .int, isUnique: true),
      ColumnSchema(name: "name", type: .string, isOptional: true, isIndexed: true),
      ColumnSchema(name: "age", type: .int),
      ColumnSchema(name: "weight", type: .double, isOptional: true),
      ColumnSchema(name: "text", type: .string),
      ColumnSchema(name: "friend", type: .link, target: "Pet"),
      ColumnSchema(name: "friends", type: .link, collection: .list, target: "Pet"),
    ])

  private static func row(_ id: Int64) -> [Value] {
    [.int(id), .string("pet \(id)"), .int(id % 7), .null, .string(""), .null, .list([])]
  }

  private static func filled(_ count: Int64) throws -> Database {
    let database = try Database.open(backend: MemoryBackend(name: "row writers"))
    let write = try database.beginWrite()
    try write.createTable(Self.pets)
    for key in 0..<count { try write.insert(into: "Pet", key: key, row(key)) }
    try write.commit()
    return database
  }

  /// A value of a column, now and then one that is refused.
  private static func value(_ column: Int, _ random: inout TestRandom) -> Value {
    let number = Int64(random.below(2_300))
    switch column {
    case 0: return .int(number)
    case 1: return random.below(4) == 0 ? .null : .string("name \(number % 50)")
    case 2: return random.below(9) == 0 ? .null : .int(number << random.below(40))
    case 3: return random.below(3) == 0 ? .null : .double(Double(number) / 3)
    case 4: return .string(String(repeating: "x", count: random.below(30) == 0 ? 9_000 : 9))
    case 5: return random.below(5) == 0 ? .null : .link(number)
    default: return .list((0..<random.below(4)).map { .link(number + Int64($0)) })
    }
  }

  @Test("change what changes by names do, and refuse what those refuse", arguments: [1, 2, 3])
  func model(seed: Int) throws {
    let (ours, model) = (try Self.filled(2_000), try Self.filled(2_000))
    var random = TestRandom(UInt64(seed))
    for _ in 0..<3 {
      let (write, byName) = (try ours.beginWrite(), try model.beginWrite())
      let writer = try RowWriter(write, "Pet")
      var key: Int64 = 0
      for step in 0..<1_500 {
        // Rows side by side and rows anywhere, a few of which are not there.
        key = random.below(3) == 0 ? Int64(random.below(2_100)) : key + 1
        let column = random.below(Self.pets.columns.count)
        let value = Self.value(column, &random)
        let isThere = try byName.contains(key: key, in: "Pet")
        var found: Bool?
        let code = errorCode { found = try writer.set(value, key, column) }
        let wanted = errorCode {
          try byName.set(value, in: "Pet", key: key, column: Self.pets.columns[column].name)
        }
        if found == false {
          #expect(!isThere && wanted == .keyNotFound)
        } else {
          #expect(code == wanted, "step \(step): \(value) of column \(column), key \(key)")
        }
        #expect(try writer.value(key, column) == byName.row(in: "Pet", key: key)?[column])
        if step % 100 == 99 {
          let gone = Int64(random.below(2_000))
          for write in [write, byName] where try write.contains(key: gone, in: "Pet") {
            try write.delete(from: "Pet", key: gone)
          }
        }
      }
      try write.commit()
      try byName.commit()
      #expect(try ours.snapshot().contentHash() == model.snapshot().contentHash())
      _ = try ours.verify()
    }
  }

  @Test("read what the transaction has changed")
  func reads() throws {
    let database = try Self.filled(1_000)
    let write = try database.beginWrite()
    let writer = try RowWriter(write, "Pet")
    #expect(try writer.rowCount == 1_000 && writer.smallestKey() == 0)
    for key: Int64 in 0..<600 { try write.delete(from: "Pet", key: key) }
    try write.insert(into: "Pet", key: 5, Self.row(5))
    #expect(try writer.set(.string("changed"), 700, 1))
    #expect(try writer.rowCount == 401 && writer.smallestKey() == 5)
    #expect(try writer.contains(5) && !writer.contains(4) && !writer.set(.int(1), 4, 2))
    #expect(try writer.value(4, 2) == nil && writer.value(5, 2) == .int(5))
    #expect(try writer.keys() == write.keys(of: "Pet"))
    #expect(try writer.firstKey(1, equalTo: .string("changed")) == 700)
    #expect(try writer.firstKey(0, equalTo: .int(3)) == nil)
    #expect(errorCode { _ = try writer.firstKey(2, equalTo: .int(3)) } == .noIndex)
    try write.commit()
    #expect(errorCode { _ = try writer.value(5, 2) } == .closed)
    #expect(errorCode { _ = try writer.set(.int(1), 5, 2) } == .closed)
    let snapshot = try database.snapshot()
    let cursor = try RowCursor(snapshot, "Pet")
    #expect(try cursor.firstKey(1, equalTo: .string("changed")) == 700)
    #expect(errorCode { _ = try cursor.firstKey(2, equalTo: .int(3)) } == .noIndex)
  }

  @Test("a row that grows splits its leaf, and the rows beside it are still found")
  func growth() throws {
    let database = try Self.filled(1_000)
    let write = try database.beginWrite()
    let writer = try RowWriter(write, "Pet")
    let text = String(repeating: "grown ", count: 100)
    for key: Int64 in 0..<1_000 {
      #expect(try writer.set(.string(text), key, 4))
      #expect(try writer.set(.int(-key), key, 2))
    }
    for key: Int64 in 0..<1_000 {
      #expect(try writer.value(key, 4) == .string(text) && writer.value(key, 2) == .int(-key))
    }
    try write.commit()
    _ = try database.verify()
  }

  @Test("are good until a table or column comes, goes or gets another name")
  func stamps() throws {
    let database = try Self.filled(10)
    let write = try database.beginWrite()
    var writer = try RowWriter(write, "Pet")
    func expectStale(_ change: () throws -> Void) throws {
      #expect(writer.isCurrent)
      try change()
      #expect(!writer.isCurrent)
      writer = try RowWriter(write, "Pet")
    }
    try write.addIndex(to: "age", in: "Pet")
    #expect(try writer.set(.int(50), 3, 2) && writer.firstKey(2, equalTo: .int(50)) == 3)
    try expectStale { try write.addColumn(ColumnSchema(name: "new", type: .int), to: "Pet") }
    try expectStale { try write.removeColumn("id", from: "Pet") }
    #expect(try writer.value(3, 1) == .int(50), "columns have moved")
    try expectStale { try write.renameColumn("age", in: "Pet", to: "years") }
    try expectStale { try write.createTable(TableSchema(name: "Toy", columns: [])) }
    try expectStale { try write.renameTable("Toy", to: "Thing") }
    try expectStale { try write.removeTable("Thing") }
    write.cancel()
  }

  @Test("stop who uses them after that")
  func stale() async {
    await #expect(processExitsWith: .failure) {
      let write = try Self.filled(10).beginWrite()
      let writer = try RowWriter(write, "Pet")
      try write.removeColumn("id", from: "Pet")
      _ = try writer.set(.int(1), 3, 2)
    }
  }
}
