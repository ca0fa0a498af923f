// RowChangeTests.swift: one value of a row changed by name, beside a model; and reading rows one by
// one through a cursor.

import Testing

@testable import Engine

@Suite("changes of single values")
struct RowChangeTests {
  private static let pets = TableSchema(
    name: "Pet",
    columns: [
      ColumnSchema(name: "id", type: .int, isUnique: true),
      ColumnSchema(name: "name", type: .string, isOptional: true, isIndexed: true),
      ColumnSchema(name: "age", type: .int),
      ColumnSchema(name: "friend", type: .link, target: "Pet"),
      ColumnSchema(name: "friends", type: .link, collection: .list, target: "Pet"),
      ColumnSchema(name: "words", type: .string, collection: .set),
    ])

  private func row(_ id: Int64) -> [Value] {
    [.int(id), .string("pet \(id)"), .int(id % 7), .null, .list([]), .set([])]
  }

  private func prepared(_ count: Int64 = 500) throws -> Database {
    let database = try Database.open(backend: MemoryBackend(name: "row changes"))
    let write = try database.beginWrite()
    try write.createTable(Self.pets)
    for key in 0..<count { try write.insert(into: "Pet", key: key, row(key)) }
    try write.commit()
    return database
  }

  @Test("a value changes alone, with its index and its backlinks")
  func changes() throws {
    let database = try prepared()
    let write = try database.beginWrite()
    let long = String(repeating: "long ", count: 2000)
    try write.set(.string(long), in: "Pet", key: 7, column: "name")
    try write.set(.int(-1), in: "Pet", key: 8, column: "age")
    try write.set(.link(7), in: "Pet", key: 9, column: "friend")
    try write.set(.list([.link(7), .link(7), .link(8)]), in: "Pet", key: 10, column: "friends")
    try write.set(
      .set([.string("b"), .string("a"), .string("b")]), in: "Pet", key: 11, column: "words")
    try write.set(.null, in: "Pet", key: 12, column: "name")
    #expect(try write.keys(in: "Pet", column: "name", equalTo: .string(long)) == [7])
    #expect(try write.backlinkCount(to: 7, in: "Pet", from: "Pet", column: "friends") == 2)
    try write.set(.list([.link(8)]), in: "Pet", key: 10, column: "friends")
    try write.set(.string("short"), in: "Pet", key: 7, column: "name")
    try write.commit()
    let snapshot = try database.snapshot()
    #expect(try snapshot.row(in: "Pet", key: 8)?[2] == .int(-1))
    #expect(try snapshot.row(in: "Pet", key: 8)?[1] == .string("pet 8"))
    #expect(
      try snapshot.backlinks(to: 7, in: "Pet", from: "Pet", column: "friend").map(\.key) == [9])
    #expect(try snapshot.backlinkCount(to: 7, in: "Pet", from: "Pet", column: "friends") == 0)
    #expect(try snapshot.row(in: "Pet", key: 11)?[5] == .set([.string("a"), .string("b")]))
    #expect(try snapshot.keys(in: "Pet", column: "name", equalTo: .null) == [12])
    #expect(try snapshot.keys(in: "Pet", column: "name", equalTo: .string("pet 7")).isEmpty)
    snapshot.release()
    _ = try database.verify()
  }

  @Test("a refused change leaves the transaction as it was")
  func refusals() throws {
    let database = try prepared(20)
    let write = try database.beginWrite()
    func code(_ value: Value, _ key: Int64, _ column: String) -> EngineError.Code? {
      do throws(EngineError) {
        try write.set(value, in: "Pet", key: key, column: column)
        return nil
      } catch { return error.code }
    }
    #expect(code(.int(3), 4, "id") == .duplicateValue)
    #expect(code(.int(4), 4, "id") == nil, "its own value is not a duplicate")
    #expect(code(.int(3), 99, "id") == .keyNotFound)
    #expect(code(.int(3), 99, "age") == .keyNotFound)
    #expect(code(.link(99), 4, "friend") == .keyNotFound)
    #expect(code(.null, 4, "age") == .schemaMismatch)
    #expect(code(.string("x"), 4, "age") == .schemaMismatch)
    #expect(code(.list([.null]), 4, "friends") == .schemaMismatch)
    #expect(code(.int(1), 4, "legs") == .noSuchColumn)
    #expect(try write.row(in: "Pet", key: 4) == row(4))
    try write.commit()
    _ = try database.verify()
  }

  @Test("rows and their smallest key, as the transaction sees them")
  func rows() throws {
    let database = try prepared()
    let write = try database.beginWrite()
    #expect(try write.firstKey(in: "Pet") == 0 && write.contains(key: 499, in: "Pet"))
    for key: Int64 in 0..<300 { try write.delete(from: "Pet", key: key) }
    #expect(try write.firstKey(in: "Pet") == 300 && !write.contains(key: 299, in: "Pet"))
    #expect(try write.keys(of: "Pet") == Array(300..<500))
    for key: Int64 in 300..<500 { try write.delete(from: "Pet", key: key) }
    #expect(try write.firstKey(in: "Pet") == nil)
    write.cancel()
  }

  @Test("a cursor reads what the snapshot does, in any order", arguments: [true, false])
  func cursors(remembersLeaf: Bool) throws {
    let database = try prepared(3000)
    let write = try database.beginWrite()
    for key in stride(from: Int64(0), to: 3000, by: 3) { try write.delete(from: "Pet", key: key) }
    try write.commit()
    let snapshot = try database.snapshot()
    let cursor = try RowCursor(snapshot, "Pet", remembersLeaf: remembersLeaf)
    #expect(try cursor.rowCount == 2000 && cursor.smallestKey() == 1)
    #expect(try cursor.keys() == snapshot.keys(of: "Pet"))
    var random = TestRandom(42)
    for step in 0..<4000 {
      let key = step < 2000 ? Int64(step) : Int64(random.below(3200)) - 100
      let expected = try snapshot.row(in: "Pet", key: key)
      #expect(try cursor.contains(key) == (expected != nil))
      #expect(try cursor.value(key, 1) == expected?[1])
      #expect(try cursor.int(key, 2).map { .int($0) } == expected?[2])
    }
    snapshot.release()
    #expect(throws: EngineError.self) { _ = try cursor.value(1, 1) }
  }
}
