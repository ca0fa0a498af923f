// SearchIndexTests.swift: finding rows by value, unique columns, and indexes that come and go.

import Testing

@testable import Engine

@Suite("Search index")
struct SearchIndexTests {
  @Test("lookups, ranges and backlinks agree with a model", arguments: [1, 2, 3] as [UInt64])
  func againstModel(_ seed: UInt64) throws {
    var random = TestRandom(seed)
    var test = try IndexedDatabase()
    for round in 0..<14 {
      let write = try test.database.beginWrite()
      let before = test.model
      for _ in 0..<(round == 4 ? 400 : 40) { try test.change(write, &random) }
      try test.compare(write)
      if round % 5 == 3 {
        write.cancel()
        test.model = before
      } else {
        try write.commit()
      }
      try test.check()
    }
    // The same from the bytes alone, and then down to nothing.
    var again = try IndexedDatabase(TestBackend(test.backend.bytes))
    again.model = test.model
    try again.check()
    let write = try again.database.beginWrite()
    for table in ["Person", "Dog"] {
      for key in again.model[table]!.keys.sorted() {
        try write.delete(from: table, key: key)
        again.delete(table, key)
      }
    }
    try again.compare(write)
    try write.commit()
    try again.check()
    for table in again.database.state.withLock({ $0.current.group.tables }) {
      #expect(table.columns.allSatisfy { $0.index == .none })
    }
  }

  @Test("many rows of one value are found by it, and one among them by another")
  func manyDuplicates() throws {
    let count = TableSize.rows(100_000)
    let rare = count / 9 * 7
    let schema = TableSchema(
      name: "Row", columns: [ColumnSchema(name: "kind", type: .string, isIndexed: true)])
    let database = try Database.open(backend: TestBackend())
    var write = try database.beginWrite()
    try write.createTable(schema)
    for key in 0..<count {
      try write.insert(into: "Row", key: Int64(key), [.string(key == rare ? "rare" : "common")])
    }
    try write.commit()
    try database.verify()
    let snapshot = try database.snapshot()
    let common = try snapshot.keys(in: "Row", column: "kind", equalTo: .string("common"))
    let expected = (0..<count).filter { $0 != rare }.map { Int64($0) }
    #expect(common == expected)
    #expect(try snapshot.keys(in: "Row", column: "kind", equalTo: .string("rare")) == [Int64(rare)])
    #expect(try snapshot.firstKey(in: "Row", column: "kind", equalTo: .string("none")) == nil)
    snapshot.release()
    write = try database.beginWrite()
    for key in 0..<count where key % 1000 != 1 {
      try write.delete(from: "Row", key: Int64(key))
    }
    try write.commit()
    try database.verify()
    let found = try database.snapshot().keys(in: "Row", column: "kind", equalTo: .string("common"))
    let rest: [Int64] = (0..<count / 1000).map { index in Int64(index * 1000 + 1) }
    #expect(found == rest)
  }

  // MARK: unique columns

  private static let users = TableSchema(
    name: "User",
    columns: [
      ColumnSchema(name: "mail", type: .string, isOptional: true, isUnique: true),
      ColumnSchema(name: "age", type: .int),
    ])

  private static func user(_ mail: String?, _ age: Int64 = 1) -> [Value] {
    [mail.map { .string($0) } ?? .null, .int(age)]
  }

  @Test("a value that another row has is refused, and the transaction stays as it was")
  func unique() throws {
    let database = try Database.open(backend: TestBackend())
    let write = try database.beginWrite()
    try write.createTable(Self.users)
    try write.insert(into: "User", key: 1, Self.user("a"))
    try write.insert(into: "User", key: 2, Self.user("b"))
    try write.insert(into: "User", key: 3, Self.user(nil))
    do {
      try write.insert(into: "User", key: 4, Self.user("a"))
      Issue.record("the value is there twice")
    } catch {
      #expect(error.code == .duplicateValue)
      for part in ["User", "mail", "\"a\"", "1"] { #expect(error.message.contains(part)) }
    }
    let refused: [(Int64, [Value])] = [
      (4, Self.user(nil)), (2, Self.user("a")), (5, Self.user("b")),
    ]
    for (key, values) in refused {
      #expect(errorCode { try write.upsert(into: "User", key: key, values) } == .duplicateValue)
    }
    #expect(errorCode { try write.insert(into: "User", key: 1, Self.user("a")) } == .keyExists)
    #expect(try write.count(of: "User") == 3)
    // A row keeps its own value, and a value is free again when its row goes or takes another.
    try write.update(in: "User", key: 1, Self.user("a", 9))
    try write.update(in: "User", key: 2, Self.user("c"))
    try write.insert(into: "User", key: 4, Self.user("b"))
    try write.delete(from: "User", key: 1)
    try write.insert(into: "User", key: 5, Self.user("a"))
    try write.commit()
    try database.verify()
    let snapshot = try database.snapshot()
    for (mail, key) in [("a", 5), ("b", 4), ("c", 2)] as [(String, Int64)] {
      #expect(try snapshot.keys(in: "User", column: "mail", equalTo: .string(mail)) == [key])
    }
    #expect(try snapshot.firstKey(in: "User", column: "mail", equalTo: .null) == 3)
    #expect(try snapshot.row(in: "User", key: 4) == Self.user("b"))
  }

  @Test("values whose images collide are different values")
  func collisions() throws {
    let strings = CollidingStrings.make(300)
    let database = try Database.open(backend: TestBackend())
    let write = try database.beginWrite()
    try write.createTable(Self.users)
    for (index, string) in strings.enumerated() {
      try write.insert(into: "User", key: Int64(index), Self.user(string))
    }
    for (index, string) in strings.enumerated() {
      let key = try write.firstKey(in: "User", column: "mail", equalTo: .string(string))
      #expect(key == Int64(index))
      let code = errorCode { try write.insert(into: "User", key: 1000, Self.user(string)) }
      #expect(code == .duplicateValue)
    }
    try write.commit()
    try database.verify()
    let snapshot = try database.snapshot()
    for (index, string) in strings.enumerated() {
      let keys = try snapshot.keys(in: "User", column: "mail", equalTo: .string(string))
      #expect(keys == [Int64(index)])
    }
  }

  // MARK: indexes that come and go

  private static func plainRows() throws -> (TestBackend, Database) {
    let backend = TestBackend()
    let database = try Database.open(backend: backend)
    let write = try database.beginWrite()
    try write.createTable(
      TableSchema(
        name: "Row",
        columns: [
          ColumnSchema(name: "a", type: .int), ColumnSchema(name: "b", type: .string),
          ColumnSchema(name: "c", type: .double),
        ]))
    for key in 0..<3000 {
      try write.insert(
        into: "Row", key: Int64(key), [.int(Int64(key % 7)), .string("\(key % 1500)"), .double(0)])
    }
    try write.commit()
    return (backend, database)
  }

  @Test("an index is made of the rows that are there, and goes again without a trace")
  func addAndRemove() throws {
    var (backend, database) = try Self.plainRows()
    var write = try database.beginWrite()
    // Some rows are in memory, others in the file only.
    try write.update(in: "Row", key: 5, [.int(100), .string("five"), .double(0)])
    try write.delete(from: "Row", key: 2999)
    #expect(errorCode { try write.keys(in: "Row", column: "a", equalTo: .int(1)) } == .noIndex)
    try write.addIndex(to: "a", in: "Row")
    #expect(errorCode { try write.addIndex(to: "b", in: "Row", isUnique: true) } == .duplicateValue)
    #expect(errorCode { try write.addIndex(to: "c", in: "Row") } == .schemaMismatch)
    #expect(errorCode { try write.addIndex(to: "d", in: "Row") } == .noSuchColumn)
    #expect(errorCode { try write.keys(in: "Row", column: "b", equalTo: .null) } == .noIndex)
    #expect(errorCode { try write.removeIndex(from: "b", in: "Row") } == .noIndex)
    for key in 1500..<2999 { try write.delete(from: "Row", key: Int64(key)) }
    try write.addIndex(to: "b", in: "Row", isUnique: true)
    try write.commit()
    try database.verify()
    backend = TestBackend(backend.bytes)
    database = try Database.open(backend: backend)
    var snapshot = try database.snapshot()
    #expect(snapshot.tables[0].columns.map(\.isIndexed) == [true, true, false])
    #expect(snapshot.tables[0].columns.map(\.isUnique) == [false, true, false])
    #expect(try snapshot.keys(in: "Row", column: "a", equalTo: .int(100)) == [5])
    #expect(try snapshot.keys(in: "Row", column: "b", equalTo: .string("1499")) == [1499])
    let fives: [Int64] = stride(from: 12, to: 1500, by: 7).map { Int64($0) }
    #expect(try snapshot.keys(in: "Row", column: "a", equalTo: .int(5)) == fives)
    snapshot.release()
    write = try database.beginWrite()
    try write.insert(into: "Row", key: 9000, [.int(1), .string("new"), .double(0)])
    try write.removeIndex(from: "a", in: "Row")
    try write.removeIndex(from: "b", in: "Row")
    try write.insert(into: "Row", key: 9001, [.int(1), .string("new"), .double(0)])
    try write.commit()
    try database.verify()
    snapshot = try database.snapshot()
    #expect(errorCode { try snapshot.keys(in: "Row", column: "a", equalTo: .int(1)) } == .noIndex)
    #expect(snapshot.tables[0].columns.allSatisfy { !$0.isIndexed && !$0.isUnique })
  }

  @Test("columns with an index come, get filled, and go with their table")
  func columns() throws {
    let database = try Database.open(backend: TestBackend())
    var write = try database.beginWrite()
    try write.createTable(TableSchema(name: "Row", columns: []))
    for key in 0..<2000 { try write.insert(into: "Row", key: Int64(key), []) }
    try write.commit()
    write = try database.beginWrite()
    try write.addColumn(
      ColumnSchema(name: "a", type: .int, isOptional: true, isIndexed: true), to: "Row")
    try write.addColumn(ColumnSchema(name: "next", type: .link, target: "Row"), to: "Row")
    let unique = ColumnSchema(name: "b", type: .int, isUnique: true)
    #expect(errorCode { try write.addColumn(unique, to: "Row") } == .duplicateValue)
    #expect(try write.keys(in: "Row", column: "a", equalTo: .null).count == 2000)
    try write.update(in: "Row", key: 7, [.int(1), .link(8)])
    try write.commit()
    try database.verify()
    let snapshot = try database.snapshot()
    #expect(try snapshot.keys(in: "Row", column: "a", equalTo: .int(1)) == [7])
    #expect(try snapshot.keys(in: "Row", column: "a", equalTo: .null).count == 1999)
    #expect(try snapshot.keys(in: "Row", column: "next", equalTo: .link(8)) == [7])
    snapshot.release()
    write = try database.beginWrite()
    try write.removeColumn("a", from: "Row")
    try write.update(in: "Row", key: 7, [.link(9)])
    try write.commit()
    try database.verify()
    write = try database.beginWrite()
    try write.update(in: "Row", key: 7, [.link(10)])
    try write.removeTable("Row")
    try write.commit()
    #expect(try database.verify().nodes == 2)
  }

  @Test("a question that the column cannot answer is an error")
  func wrongQuestions() throws {
    let test = try IndexedDatabase()
    let snapshot = try test.database.snapshot()
    func equal(_ column: String, _ value: Value, _ table: String = "Person") -> EngineError.Code? {
      errorCode { try snapshot.keys(in: table, column: column, equalTo: value) }
    }
    #expect(equal("age", .string("1")) == .schemaMismatch)
    #expect(equal("name", .int(1)) == .schemaMismatch)
    #expect(equal("note", .string("x")) == .noIndex)
    #expect(equal("nose", .string("x")) == .noSuchColumn)
    #expect(equal("name", .string("x"), "Cat") == .noSuchTable)
    #expect(equal("owner", .null, "Dog") == .schemaMismatch)
    #expect(equal("friends", .link(1), "Dog") == .noIndex)
    #expect(equal("age", .null) == nil)
    func between(_ column: String, _ lower: Value, _ upper: Value) -> EngineError.Code? {
      errorCode { try snapshot.keys(in: "Person", column: column, between: lower, and: upper) }
    }
    #expect(between("name", .string("a"), .string("b")) == .schemaMismatch)
    #expect(between("age", .int(1), .null) == .schemaMismatch)
    #expect(between("age", .int(2), .int(1)) == nil)
    func links(_ target: String, _ column: String) -> EngineError.Code? {
      errorCode { try snapshot.backlinks(to: 1, in: target, from: "Dog", column: column) }
    }
    #expect(links("Dog", "owner") == .schemaMismatch)
    #expect(links("Person", "owner") == nil)
    snapshot.release()
    #expect(equal("age", .int(1)) == .closed)
  }
}
