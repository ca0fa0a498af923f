// EngineStore.swift [U]: our engine at work on the rows. Safety: rows are borrowed from a RowSet,
// which is never freed.

import CBench
import Engine
import Foundation

/// The engine.
final class EngineStore {
  private static let table = "row"
  private static let schema = TableSchema(
    name: table,
    columns: [
      ColumnSchema(name: "age", type: .int), ColumnSchema(name: "score", type: .double),
      ColumnSchema(name: "name", type: .string),
    ])

  private static let nameOffset = MemoryLayout<cbench_row>.offset(of: \.name) ?? 0

  let database: Database
  let path: String
  private let clock = ContinuousClock()

  /// Opens or makes a database.
  /// - Parameters:
  ///   - path: Its path.
  ///   - options: How it works.
  ///   - otherTables: How many tables of ten columns it has besides, with a row each.
  /// - Throws: What the engine throws.
  init(_ path: String, options: Database.Options = .init(), otherTables: Int = 0) throws {
    database = try Database.open(path: path, options: options)
    self.path = path
    if database.version == .first {
      let write = try database.beginWrite()
      try write.createTable(Self.schema)
      let columns = (0..<10).map { ColumnSchema(name: "column\($0)", type: .int) }
      for number in 0..<otherTables {
        try write.createTable(TableSchema(name: "other\(number)", columns: columns))
        try write.insert(into: "other\(number)", key: 0, columns.map { _ in .int(7) })
      }
      try write.commit()
    }
  }

  func close() throws { try database.close() }

  private func seconds(_ body: () throws -> Void) rethrows -> Double {
    let start = clock.now
    try body()
    return start.duration(to: clock.now) / .seconds(1)
  }

  private static func values(_ set: RowSet, _ index: Int) -> [Value] {
    unsafe [
      .int(set.rows[index].age), .double(set.rows[index].score), .string(set.name(index)),
    ]
  }

  /// Inserts rows in one transaction, durable at its end.
  func insert(_ set: RowSet) throws -> Double {
    try seconds {
      let write = try database.beginWrite()
      try write.insert(into: Self.table, count: set.count) { row, index throws(EngineError) in
        let source = unsafe set.rows + index
        try row.append(unsafe source.pointee.age)
        try row.append(unsafe source.pointee.score)
        let name = unsafe UnsafeRawBufferPointer(
          start: UnsafeRawPointer(source) + Self.nameOffset, count: 12)
        try row.append(utf8: unsafe Span(_unsafeElements: name.assumingMemoryBound(to: UInt8.self)))
        return unsafe source.pointee.id
      }
      try write.commit()
    }
  }

  /// One durable transaction per row given, each replacing that row.
  func commit(_ set: RowSet) throws -> Double {
    try seconds {
      for index in 0..<set.count {
        let write = try database.beginWrite()
        try write.update(
          in: Self.table, key: unsafe set.rows[index].id, Self.values(set, index))
        try write.commit()
      }
    }
  }

  /// The same; returns the nanoseconds of each commit.
  func latencies(_ set: RowSet) throws -> [Int64] {
    var before = clock.now
    return try (0..<set.count).map { index in
      let write = try database.beginWrite()
      try write.update(in: Self.table, key: unsafe set.rows[index].id, Self.values(set, index))
      try write.commit()
      let now = clock.now
      defer { before = now }
      return Int64(before.duration(to: now) / .nanoseconds(1))
    }
  }

  /// Deletes every row with an odd key.
  func thin(_ count: Int) throws {
    let write = try database.beginWrite()
    for key in stride(from: 1, to: count, by: 2) {
      try write.delete(from: Self.table, key: Int64(key))
    }
    try write.commit()
  }

  /// Reads the table in a snapshot of its own, timed as a whole.
  private func reading<Answer>(
    _ body: (TableReader) throws -> Answer
  ) throws -> (seconds: Double, answer: Answer) {
    let start = clock.now
    let snapshot = try database.snapshot()
    let answer = try body(snapshot.reader(for: Self.table))
    snapshot.release()
    return (start.duration(to: clock.now) / .seconds(1), answer)
  }

  /// Looks each key up, reads the whole row, and sums the rows' checksums up.
  func lookUp(_ keys: [Int64]) throws -> (seconds: Double, answer: UInt64) {
    try reading { reader in
      let age = try reader.column("age", of: Int64.self)
      let score = try reader.column("score", of: Double.self)
      let name = try reader.column("name", of: String.self)
      var sum: UInt64 = 0
      for key in keys {
        guard let row = try reader.find(key) else { throw BenchError("no row has key \(key)") }
        let (years, points) = try (reader.int(at: row, age), reader.double(at: row, score))
        sum &+= try reader.withUTF8(at: row, name) { text in
          unsafe text.withUnsafeBytes {
            unsafe cbench_row_checksum(years, points, $0.baseAddress)
          }
        }
      }
      return sum
    }
  }

  func countYounger(than age: Int64) throws -> (seconds: Double, answer: Int64) {
    try reading { reader in
      let column = try reader.column("age", of: Int64.self)
      return Int64(try reader.count(column, where: .less(age)))
    }
  }

  func sumOfScores() throws -> (seconds: Double, answer: Double) {
    try reading { try $0.sum($0.column("score", of: Double.self)) }
  }

  func count(named name: String) throws -> (seconds: Double, answer: Int64) {
    try reading { reader in
      Int64(try reader.count(reader.column("name", of: String.self), equalTo: name))
    }
  }

  /// The number of rows and the sum of their scores.
  func totals() throws -> (rows: Int64, sum: Double) {
    try reading { reader in
      let score = try reader.column("score", of: Double.self)
      return (Int64(reader.rowCount), try reader.sum(score))
    }.answer
  }

  /// Makes the file as small as it can be.
  func compact() throws -> Double {
    try seconds {
      guard try database.compact() else { throw BenchError("the engine would not compact") }
    }
  }

  /// Verifies everything.
  func verify() throws -> Double { try seconds { try database.verify() } }
}
