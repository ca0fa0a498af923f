// IndexedBatchTests.swift: a batch of rows into a table with search indexes of integers and a
// full-text index leaves the same rows and index entries as rows inserted one by one, and refuses
// the same row.

import Testing

@testable import Engine

@Suite("Batch insert into indexed tables")
struct IndexedBatchTests {
  private static let schema = TableSchema(
    name: "T",
    columns: [
      ColumnSchema(name: "id", type: .int, isUnique: true),
      ColumnSchema(name: "age", type: .int, isIndexed: true),
      ColumnSchema(name: "text", type: .string, isOptional: true, isFullText: true),
    ])

  /// The text of a row: of several words, or long, or none.
  private static func text(_ id: Int64) -> Value {
    let words = "t\(id % 50) Äpfel t\(id % 50) a\(id % 7)b" + (id % 3 == 0 ? " Rex t\(id)" : "")
    switch id % 13 {
    case 5: return .null
    case 7: return .string("…")
    case 8: return .string(String(repeating: words + ",", count: id % 2 == 0 ? 300 : 3))
    default: return .string(words)
    }
  }

  private struct Row {
    let key: Int64
    let id: Int64
    let age: Int64
  }

  private static func database() throws -> Database {
    let database = try Database.open(backend: TestBackend())
    let write = try database.beginWrite()
    try write.createTable(schema)
    try write.commit()
    return database
  }

  /// Inserts rows in one transaction; the first error is returned, and what came before it stays.
  private static func insert(
    _ rows: [Row], into database: Database, isBatch: Bool, removing removed: [Int64] = []
  ) throws -> EngineError.Code? {
    let write = try database.beginWrite()
    for key in removed { try write.delete(from: "T", key: key) }
    let code = errorCode {
      // The words of rows before a batch may still wait.
      for row in isBatch ? rows.prefix(rows.count % 3) : rows[...] {
        try write.insert(into: "T", key: row.key, [.int(row.id), .int(row.age), text(row.id)])
      }
      guard isBatch else { return }
      let rows = Array(rows.dropFirst(rows.count % 3))
      try write.insert(into: "T", count: rows.count) { builder, index throws(EngineError) in
        try builder.append(rows[index].id)
        try builder.append(rows[index].age)
        try builder.append(text(rows[index].id))
        return rows[index].key
      }
    }
    try write.commit()
    return code
  }

  @Test("a batch that comes upon a damaged index ends the transaction, though its row is dropped")
  func damagedIndex() throws {
    let backend = TestBackend()
    let database = try Database.open(backend: backend)
    let write = try database.beginWrite()
    try write.createTable(Self.schema)
    try write.insert(into: "T", count: 2000) { row, index throws(EngineError) in
      try row.append(Int64(index * 10))
      try row.append(1 as Int64)
      try row.append("t")
      return Int64(index)
    }
    try write.commit()
    let leaves = try Reseal.nodes(database, .indexLeaf)
    try database.close()
    var found = 0
    for leaf in leaves {
      var bytes = backend.bytes
      bytes[leaf + 60] ^= 1
      let damaged = try Database.open(backend: TestBackend(bytes))
      let write = try damaged.beginWrite()
      // It stands in the first leaf of the unique index, where a batch looks only for that row.
      let code = errorCode {
        try write.insert(into: "T", count: 1) { row, _ throws(EngineError) in
          try row.append(5 as Int64)
          try row.append(1 as Int64)
          try row.append("t")
          return 5000
        }
      }
      if code == .corrupted { found += 1 }
      #expect(errorCode { try write.commit() } == code)
    }
    #expect(leaves.count > 4 && (1..<leaves.count).contains(found))
  }

  private static func expectSame(_ left: Database, _ right: Database) throws {
    let (first, second) = try (left.snapshot(), right.snapshot())
    defer {
      first.release()
      second.release()
    }
    #expect(try first.contentHash() == second.contentHash())
    try left.verify()
    try right.verify()
    for age in -3...20 as ClosedRange<Int64> {
      #expect(
        try first.keys(in: "T", column: "age", equalTo: .int(age))
          == second.keys(in: "T", column: "age", equalTo: .int(age)))
    }
    for word in ["t7", "apfel", "a3b", "rex", "t13", "t49", "none"] {
      let search = WordSearch(word)
      #expect(
        try first.keys(in: "T", column: "text", matching: search)
          == second.keys(in: "T", column: "text", matching: search), "\(word)")
    }
  }

  @Test("random orders of keys, ids and ages, with ids that come twice")
  func random() throws {
    var refusals = 0
    for seed in 0..<15 {
      var random = TestRandom(UInt64(seed))
      let (batched, single) = try (Self.database(), Self.database())
      var nextID: Int64 = 0
      for _ in 0..<6 {
        let count = random.below(random.below(3) == 0 ? 1_200 : 60)
        var keys = (0..<count).map { Int64($0) + nextID * 10 }
        if random.below(3) == 0 { keys.shuffle(using: &random) }
        let isOrdered = random.below(2) == 0
        let hasDoubles = random.below(3) == 0
        let rows = keys.map { key in
          nextID += 1
          let isDouble = hasDoubles && random.below(100) == 0
          let id = isDouble ? Int64(random.below(Int(nextID))) : isOrdered ? nextID : -nextID
          return Row(key: key, id: id, age: Int64(random.below(20)) - 2)
        }
        // Words that their rows have no more wait when the batch begins.
        var removed: [Int64] = []
        if random.below(2) == 0 {
          let there = try batched.snapshot()
          defer { there.release() }
          removed = try there.keys(of: "T").filter { $0 % 9 == 0 }
        }
        let code = try Self.insert(rows, into: batched, isBatch: true, removing: removed)
        #expect(try Self.insert(rows, into: single, isBatch: false, removing: removed) == code)
        if code == .duplicateValue { refusals += 1 }
      }
      try Self.expectSame(batched, single)
    }
    #expect(refusals > 2, "too few ids came twice to say anything")
  }

  @Test("the smallest and the greatest integer, and keys behind a greater one")
  func ends() throws {
    let (batched, single) = try (Self.database(), Self.database())
    let ids: [Int64] = [0, .max, .min, 5, -5, .max - 1, .min + 1, 7]
    let rows = ids.enumerated().map { Row(key: $0 == 3 ? -1 : Int64($0), id: $1, age: $1 % 3) }
    for isBatch in [true, false] {
      let database = isBatch ? batched : single
      #expect(try Self.insert(rows, into: database, isBatch: isBatch) == nil)
      for id in ids {
        let again = [Row(key: 100, id: id, age: 0)]
        #expect(try Self.insert(again, into: database, isBatch: isBatch) == .duplicateValue)
      }
    }
    try Self.expectSame(batched, single)
  }
}
