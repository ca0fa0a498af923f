// SmallScopeTests.swift: where two ways of the engine must agree, every short sequence of rows with
// few keys and values. Random tests practically never draw the order of three rows that a fault
// needs (a row out of key order whose value comes once more); here there is no order left out.

import Testing

@testable import Engine

@Suite("All short sequences")
struct SmallScopeTests {
  private struct Row {
    let key: Int64
    let value: Int64
  }

  /// Neighbours, and a value below zero, whose image in an index begins with another bit.
  private static let numbers: [Int64] = [-1, 0, 1, 2]
  private static let rows = numbers.flatMap { key in numbers.map { Row(key: key, value: $0) } }

  /// Calls `body` with each sequence of up to `depth` rows whose rows before the last are all
  /// taken: what stands behind a refused row is never looked at.
  private static func forEachSequence(
    _ depth: Int, _ sequence: [Row] = [], _ body: ([Row]) throws -> Bool
  ) throws {
    for row in rows {
      let longer = sequence + [row]
      let isTaken = try body(longer)
      if isTaken, longer.count < depth { try forEachSequence(depth, longer, body) }
    }
  }

  /// Which indexes the columns have: a batch keeps pairs of integers apart until it is flushed.
  enum Indexes: CaseIterable {
    case unique, several, uniqueAndSeveral, uniqueText
  }

  private static func schema(_ indexes: Indexes) -> TableSchema {
    let number: ColumnSchema =
      switch indexes {
      case .unique, .uniqueAndSeveral: ColumnSchema(name: "number", type: .int, isUnique: true)
      case .several: ColumnSchema(name: "number", type: .int, isIndexed: true)
      case .uniqueText: ColumnSchema(name: "number", type: .int)
      }
    let isIndexed = indexes == .uniqueAndSeveral
    return TableSchema(
      name: "T",
      columns: [
        number, ColumnSchema(name: "half", type: .int, isIndexed: isIndexed),
        ColumnSchema(name: "text", type: .string, isUnique: indexes == .uniqueText),
      ])
  }

  private static func insert(
    _ rows: [Row], _ write: WriteTransaction, isBatch: Bool
  ) -> EngineError.Code? {
    errorCode {
      guard isBatch else {
        for row in rows {
          try write.insert(
            into: "T", key: row.key,
            [.int(row.value), .int(row.value & ~1), .string("\(row.value)")])
        }
        return
      }
      try write.insert(into: "T", count: rows.count) { builder, index throws(EngineError) in
        try builder.append(rows[index].value)
        try builder.append(rows[index].value & ~1)
        try builder.append("\(rows[index].value)")
        return rows[index].key
      }
    }
  }

  /// All that a transaction shows: its rows, and what each index says.
  private static func content(_ write: WriteTransaction, _ indexes: Indexes) throws -> String {
    var lines: [String] = []
    for key in try write.keys(of: "T") {
      lines.append("\(key): \(String(describing: try write.row(in: "T", key: key)))")
    }
    for number in numbers {
      switch indexes {
      case .unique, .several, .uniqueAndSeveral:
        lines.append("\(try write.keys(in: "T", column: "number", equalTo: .int(number)))")
      case .uniqueText:
        lines.append("\(try write.keys(in: "T", column: "text", equalTo: .string("\(number)")))")
      }
      guard indexes == .uniqueAndSeveral else { continue }
      lines.append("\(try write.keys(in: "T", column: "half", equalTo: .int(number)))")
    }
    return lines.joined(separator: "\n")
  }

  /// A database whose table has some rows already.
  private static func database(_ indexes: Indexes, _ rows: [Row]) throws -> Database {
    let database = try Database.open(backend: TestBackend())
    let write = try database.beginWrite()
    try write.createTable(schema(indexes))
    #expect(insert(rows, write, isBatch: false) == nil)
    try write.commit()
    return database
  }

  @Test(
    "a batch is its rows one by one, and ends at the same row with the same error",
    arguments: Indexes.allCases, [[], [0]] as [[Int64]])
  func batches(indexes: Indexes, present: [Int64]) throws {
    let present = present.map { Row(key: $0, value: $0) }
    let database = try Self.database(indexes, present)
    defer { #expect(throws: Never.self) { try database.close() } }
    var (sequences, refused) = (0, 0)
    // Where values may come again, most rows are taken and the sequences many.
    try Self.forEachSequence(present.isEmpty && indexes != .several ? 4 : 3) { rows in
      func result(isBatch: Bool) throws -> (code: EngineError.Code?, content: String) {
        let write = try database.beginWrite()
        defer { write.cancel() }
        let code = Self.insert(rows, write, isBatch: isBatch)
        return (code, try Self.content(write, indexes))
      }
      let (single, batch) = try (result(isBatch: false), result(isBatch: true))
      #expect(batch.code == single.code, "\(rows)")
      #expect(batch.content == single.content, "\(rows)")
      sequences += 1
      if single.code != nil { refused += 1 }
      return single.code == nil
    }
    #expect(refused > sequences / 4 && refused < sequences)
  }

  @Test("a batch of every order of four rows leaves whole indexes in the file")
  func committed() throws {
    for (number, indexes) in Indexes.allCases.enumerated() {
      try Self.forEachSequence(4) { rows in
        guard Set(rows.map(\.key)).count == rows.count,
          Set(rows.map(\.value)).count == rows.count
        else { return false }
        // Every fourth sequence for each kind: all of them in one kind or another.
        guard rows.count == 4, (rows[0].key + rows[1].value + 2) % 4 == Int64(number) else {
          return true
        }
        let database = try Self.database(indexes, [])
        let write = try database.beginWrite()
        #expect(Self.insert(rows, write, isBatch: true) == nil)
        try write.commit()
        #expect(try database.verify().rows == 4, "\(rows)")
        try database.close()
        return true
      }
    }
  }

  // MARK: differences

  private enum Change {
    case put(Row)
    case delete(Int64)
  }

  private static let changes: [Change] = [0, 1, 2].flatMap { (key: Int64) in
    [0, 1].map { Change.put(Row(key: key, value: $0)) } + [.delete(key)]
  }

  private static func apply(_ change: Change, _ write: WriteTransaction) throws {
    switch change {
    case .put(let row):
      try write.upsert(
        into: "T", key: row.key, [.int(row.value), .int(0), .string("\(row.value)")])
    case .delete(let key):
      if try write.row(in: "T", key: key) != nil { try write.delete(from: "T", key: key) }
    }
  }

  @Test("what differs after up to three changes, in one or two transactions, is what reading says")
  func differences() throws {
    let database = try Self.database(.several, [Row(key: 0, value: 0), Row(key: 1, value: 1)])
    defer { #expect(throws: Never.self) { try database.close() } }
    let base = try database.snapshot()
    defer { base.release() }
    let old = try NaiveContent(base)
    func expectSame(_ changes: [Change], splitAt split: Int) throws {
      let between = changes[..<split]
      for part in between.isEmpty ? [changes[...]] : [between, changes[split...]] {
        let write = try database.beginWrite()
        for change in part { try Self.apply(change, write) }
        try write.commit()
      }
      let snapshot = try database.snapshot()
      #expect(
        try snapshot.changes(since: base)
          == NaiveDiff.changes(from: old, to: NaiveContent(snapshot)), "\(changes), \(split)")
      snapshot.release()
      // Back to the base.
      let write = try database.beginWrite()
      for key in [0, 1, 2] as [Int64] {
        try Self.apply(key < 2 ? .put(Row(key: key, value: key)) : .delete(key), write)
      }
      try write.commit()
    }
    for first in Self.changes {
      try expectSame([first], splitAt: 0)
      for second in Self.changes {
        for split in 0...1 { try expectSame([first, second], splitAt: split) }
        for third in Self.changes { try expectSame([first, second, third], splitAt: 1) }
      }
    }
  }
}
