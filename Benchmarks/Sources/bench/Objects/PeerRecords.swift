// PeerRecords.swift: the rows as GRDB records, as its documentation recommends them: a
// DatabasePool (SQLite's write-ahead log), structs with `init(row:)` by position and `encode(to:)`,
// statements that GRDB caches. Commits are as durable as ours: synchronous=FULL.

import Foundation
import GRDB

/// A row as a GRDB record.
struct RowRecord: FetchableRecord, PersistableRecord {
  static let databaseTableName = "plain"
  var id: Int
  var age: Int
  var score: Double
  var name: String

  init(row: GRDB.Row) { (id, age, score, name) = (row[0], row[1], row[2], row[3]) }

  init(_ values: RowValues) {
    (id, age, score, name) = (values.id, values.age, values.score, values.name)
  }

  func encode(to container: inout PersistenceContainer) {
    container["id"] = id
    container["age"] = age
    container["score"] = score
    container["name"] = name
  }

  var checksum: UInt64 { RowSet.checksum(age: age, score: score, name: name) }
}

/// What pets belong to.
private struct OwnerRecord: FetchableRecord, PersistableRecord {
  static let databaseTableName = "owner"
  let id: Int
  let age: Int

  init(row: GRDB.Row) { (id, age) = (row[0], row[1]) }

  init(_ values: RowValues) { (id, age) = (values.id, values.age) }

  func encode(to container: inout PersistenceContainer) {
    container["id"] = id
    container["age"] = age
  }
}

/// A record that belongs to another one.
private struct PetRecord: FetchableRecord, PersistableRecord {
  static let databaseTableName = "pet"
  static let owner = belongsTo(OwnerRecord.self)
  let id: Int
  let ownerId: Int

  init(row: GRDB.Row) { (id, ownerId) = (row[0], row[1]) }

  init(_ id: Int, owner: Int) { (self.id, ownerId) = (id, owner) }

  func encode(to container: inout PersistenceContainer) {
    container["id"] = id
    container["ownerId"] = ownerId
  }
}

/// A database of records.
final class PeerRecords {
  private let pool: DatabasePool

  init(_ path: String) throws {
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -65536") }
    pool = try DatabasePool(path: path, configuration: configuration)
    // Again, after the pool has set NORMAL for the write-ahead log.
    try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
    try pool.write { database in
      try database.create(table: "plain") { table in
        table.primaryKey("id", .integer)
        table.column("age", .integer).notNull()
        table.column("score", .double).notNull()
        table.column("name", .text).notNull()
      }
      try database.create(table: "owner") { table in
        table.primaryKey("id", .integer)
        table.column("age", .integer).notNull()
      }
      try database.create(table: "pet") { table in
        table.primaryKey("id", .integer)
        table.belongsTo("owner").notNull()
      }
    }
  }

  func close() throws { try pool.close() }

  // MARK: creating

  func insert(_ rows: [RowValues]) throws {
    try pool.write { for row in rows { try RowRecord(row).insert($0) } }
  }

  /// Inserts rows that come as dictionaries, by one statement that is kept.
  func insert(dictionaries rows: [[String: Any]]) throws {
    try pool.write { database in
      let statement = try database.cachedStatement(
        sql: "INSERT INTO plain (id, age, score, name) VALUES (:id, :age, :score, :name)")
      for row in rows {
        guard let values = StatementArguments(row) else {
          throw BenchError("GRDB takes no such dictionary")
        }
        try statement.execute(arguments: values)
      }
    }
  }

  func insertPets(_ rows: [RowValues], owners: Int) throws {
    try pool.write { database in
      for row in rows.prefix(owners) { try OwnerRecord(row).insert(database) }
      for row in rows { try PetRecord(row.id, owner: row.id % owners).insert(database) }
    }
  }

  /// The number of records and the sum of their ages.
  func totals() throws -> [Int] {
    try pool.read { database in
      let sum = try RowRecord.select(GRDB.sum(Column("age")), as: Int.self).fetchOne(database)
      return [try RowRecord.fetchCount(database), sum ?? 0]
    }
  }

  // MARK: reading

  func sum(ofKeys keys: [Int64]) throws -> UInt64 {
    try pool.read { database in
      var sum: UInt64 = 0
      for key in keys {
        guard let row = try RowRecord.fetchOne(database, key: key) else {
          throw BenchError("no record has the key \(key)")
        }
        sum &+= row.checksum
      }
      return sum
    }
  }

  /// Reads all records, or those below an age.
  func sum(belowAge age: Int? = nil) throws -> UInt64 {
    try pool.read { database in
      let request = age.map { RowRecord.filter(Column("age") < $0) } ?? RowRecord.all()
      let rows = try request.fetchCursor(database)
      var sum: UInt64 = 0
      while let row = try rows.next() { sum &+= row.checksum }
      return sum
    }
  }

  func count(belowAge age: Int) throws -> Int {
    try pool.read { try RowRecord.filter(Column("age") < age).fetchCount($0) }
  }

  /// Reads all records by age; the sum depends on their order.
  func orderedSum() throws -> UInt64 {
    try pool.read { database in
      let rows = try RowRecord.order(Column("age"), Column("id")).fetchCursor(database)
      var sum: UInt64 = 0
      while let row = try rows.next() { sum = sum &* 31 &+ UInt64(row.id) }
      return sum
    }
  }

  func petCount(belowAge age: Int) throws -> Int {
    try pool.read { database in
      let owner = PetRecord.owner.filter(Column("age") < age)
      return try PetRecord.joining(required: owner).fetchCount(database)
    }
  }

  func all() throws -> [RowRecord] { try pool.read { try RowRecord.fetchAll($0) } }

  // MARK: changing

  /// One durable transaction for each row.
  func update(_ ids: [Int], _ scores: [Double], of records: inout [RowRecord]) throws {
    for (id, score) in zip(ids, scores) {
      records[id].score = score
      try pool.write { _ = try records[id].update($0, columns: ["score"]) }
    }
  }

  /// Fetches records by key and changes them, in one durable transaction.
  func updateTogether(_ ids: [Int], _ scores: [Double]) throws {
    try pool.write { database in
      for (id, score) in zip(ids, scores) {
        guard var row = try RowRecord.fetchOne(database, key: id) else {
          throw BenchError("no record has the key \(id)")
        }
        row.score = score
        try row.update(database, columns: ["score"])
      }
    }
  }

  func sumOfScores() throws -> Double {
    try pool.read { database in
      try RowRecord.select(GRDB.sum(Column("score")), as: Double.self).fetchOne(database) ?? 0
    }
  }

  /// Deletes records by key, in one durable transaction.
  /// - Returns: How many were there.
  func delete(_ ids: Range<Int>) throws -> Int {
    try pool.write { database in
      try ids.count { try RowRecord.deleteOne(database, key: $0) }
    }
  }

  // MARK: observing

  /// Calls `heard` with the number of records at first, and after each commit that changes them.
  func observe(
    _ queue: DispatchQueue, _ heard: @escaping @Sendable (Int) -> Void
  ) -> AnyDatabaseCancellable {
    ValueObservation.tracking { try RowRecord.fetchAll($0) }.start(
      in: pool, scheduling: .async(onQueue: queue)
    ) { error in
      preconditionFailure("the observation failed: \(error)")
    } onChange: {
      heard($0.count)
    }
  }
}
