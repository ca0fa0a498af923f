// ObjectBenchmarks.swift: the object database against the storage layer below it, LMDB and SQLite:
// making a million objects, finding some of them, reading and changing all of them.

import Foundation
import ObjectDatabase

/// The same million rows on all sides, warm.
private final class MillionObjects {
  let directory: URL
  let ours: ObjectStore
  let lmdb: LMDBStore
  let sqlite: SQLiteStore

  init(hasPets: Bool = false, isKeyed: Bool = false) throws {
    directory = try Scratch.makeDirectory("objects")
    ours = try ObjectStore(directory.appending(path: "ours.realm").path)
    lmdb = try LMDBStore(directory.appending(path: "peer.mdb").path)
    sqlite = try SQLiteStore(directory.appending(path: "peer.sqlite").path)
    _ = try (lmdb.insert(.million, appends: true), sqlite.insert(.million))
    if hasPets {
      try ours.addPets(RowValues.million, owners: Self.owners)
      try sqlite.execute(
        """
        CREATE TABLE pet(id INTEGER PRIMARY KEY, owner INTEGER);
        INSERT INTO pet SELECT id, id % \(Self.owners) FROM row;
        CREATE TABLE owner(id INTEGER PRIMARY KEY, age INTEGER);
        INSERT INTO owner SELECT id, age FROM row WHERE id < \(Self.owners);
        """)
    } else if isKeyed {
      try ours.add(RowValues.million, ObjectStore.keyed)
    } else {
      try ours.add(RowValues.million, ObjectStore.plain)
    }
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  static let owners = 10_000

  var rows: Results<PlainRow> { ours.realm.objects(PlainRow.self) }

  /// Results of a query, and their number.
  func count(_ query: String, _ arguments: Any?...) throws -> Int64 {
    Int64(try rows.filtered(by: query, arguments: arguments).count)
  }
}

extension Benchmark {
  static let objects: [Benchmark] =
    objectCreation + objectQueries + objectReads + [objectAssign] + objectVersions
    + objectNotifications

  private static let lmdbLoop = "LMDB cursor, C loop"
  private static let sqliteQuery = "SQLite, prepared in the time"

  // MARK: creating

  private static let objectCreation: [Benchmark] = [
    creation("objects-bulk-create/engine", isKeyed: false) { try $0.add($1, ObjectStore.plain) },
    creation("objects-bulk-build/engine", isKeyed: false) { try $0.build($1) },
    creation("objects-bulk-keyed/engine", isKeyed: true) { try $0.add($1, ObjectStore.keyed) },
    creation("objects-bulk-build-keyed/engine", isKeyed: true) { try $0.buildKeyed($1) },
    creation("objects-bulk-dictionary/engine", isKeyed: false) { try $0.create($1) },
  ]

  private static func creation(
    _ name: String, isKeyed: Bool,
    _ body: @escaping @Sendable (ObjectStore, [RowValues]) throws -> Void
  ) -> Benchmark {
    Benchmark(name: name) { settings in
      let rows = RowValues.million
      let work = ObjectWork(
        name: name, unit: "rows/s", peerName: "the storage layer's bulk insert", count: rows.count
      ) {
        try Scratch.withDisk("insert") { directory in
          let store = try ObjectStore(directory.appending(path: "ours.realm").path)
          let (taken, _) = try Taken.by { try body(store, rows) }
          return (taken, store.totals(isKeyed: isKeyed))
        }
      } timedPeer: {
        try Scratch.withDisk("insert") { directory in
          let store = try StorageRows(directory.appending(path: "peer.realm").path)
          let (taken, _) = try Taken.by { try store.insert(rows, isKeyed: isKeyed) }
          let totals = try store.totals()
          try store.database.close()
          return (taken, totals)
        }
      }
      return try work.rate(settings)
    }
  }

  // MARK: finding

  /// A query, and what the peers do for the same answer.
  private struct Query: Sendable {
    let name: String
    var hasPets = false
    var repeats = 10
    let ours: @Sendable (MillionObjects) throws -> Int64
    var lmdb: (@Sendable (LMDBStore) throws -> Int64)?
    var sqlite: (@Sendable (SQLiteStore) throws -> Int64)?

    var benchmarks: [Benchmark] {
      var made: [Benchmark] = []
      if let lmdb {
        made.append(
          Benchmark(name: "\(name)/lmdb") { settings in
            try run(settings, "\(name)/lmdb", lmdbLoop, repeats) { try lmdb($0.lmdb) }
          })
      }
      if let sqlite {
        made.append(
          Benchmark(name: "\(name)/sqlite") { settings in
            try run(settings, "\(name)/sqlite", sqliteQuery, 1) { try sqlite($0.sqlite) }
          })
      }
      return made
    }

    private func run(
      _ settings: Settings, _ name: String, _ peerName: String, _ repeats: Int,
      _ peer: @escaping (MillionObjects) throws -> Int64
    ) throws -> Row {
      let million = try MillionObjects(hasPets: hasPets)
      return try ObjectWork(
        name: name, unit: "rows/s", peerName: peerName, count: RowSet.million.count,
        repeats: repeats
      ) {
        try ours(million)
      } peer: {
        try peer(million)
      }.rate(settings)
    }
  }

  private static let objectQueries: [Benchmark] = [
    Query(
      name: "objects-filter-count", ours: { try $0.count("age < 50") },
      lmdb: { try $0.countYounger(than: 50).answer },
      sqlite: { try $0.answer("SELECT count(*) FROM row WHERE age < 50") }),
    Query(
      name: "objects-sum", ours: { Int64($0.rows.sum(ofProperty: "age") as Int) },
      lmdb: { try $0.sumOfAges() }, sqlite: { try $0.answer("SELECT sum(age) FROM row") }),
    Query(
      name: "objects-filter-sum",
      ours: { million in
        let found = try million.rows.filtered(by: "score < 500")
        return Int64(found.sum(ofProperty: "age") as Int)
      },
      sqlite: { try $0.answer("SELECT sum(age) FROM row WHERE score < 500") }),
    Query(
      name: "objects-string-equal", ours: { try $0.count("name == $0", RowSet.million.name(500)) },
      lmdb: { try $0.count(named: RowSet.million.name(500)).answer },
      sqlite: {
        try $0.answer("SELECT count(*) FROM row WHERE name = '\(RowSet.million.name(500))'")
      }),
    Query(
      name: "objects-prefix", ours: { try $0.count("name BEGINSWITH $0", "ab") },
      lmdb: { try $0.count(withPrefix: "ab") },
      sqlite: { try $0.answer("SELECT count(*) FROM row WHERE name GLOB 'ab*'") }),
    Query(
      name: "objects-and", ours: { try $0.count("age < 50 && score < 100") },
      lmdb: { try $0.count(youngerThan: 50, scoreBelow: 100) },
      sqlite: { try $0.answer("SELECT count(*) FROM row WHERE age < 50 AND score < 100") }),
    Query(
      name: "objects-sort-int", repeats: 1,
      ours: { million in
        let sorted = million.rows.sorted(byKeyPath: "age")
        var sum: UInt64 = 0
        for index in stride(from: 0, to: sorted.count, by: 1000) {
          sum = sum &* 31 &+ UInt64(sorted[index].id)
        }
        return Int64(bitPattern: sum)
      },
      sqlite: { try $0.answer("SELECT id FROM row ORDER BY age, id") }),
    Query(
      name: "objects-link-path", hasPets: true, repeats: 1,
      ours: { million in
        let pets = million.ours.realm.objects(Pet.self)
        return Int64(try pets.filtered(by: "owner.age < 50").count)
      },
      sqlite: {
        try $0.answer(
          "SELECT count(*) FROM pet JOIN owner ON owner.id = pet.owner WHERE owner.age < 50")
      }),
  ].flatMap(\.benchmarks)

  // MARK: reading

  private static let objectReads: [Benchmark] = [
    Benchmark(name: "objects-iterate/lmdb") { settings in
      let million = try MillionObjects()
      return try ObjectWork(
        name: "objects-iterate/lmdb", unit: "objects/s", peerName: lmdbLoop,
        count: RowSet.million.count
      ) {
        var sum = 0
        for row in million.rows { sum &+= row.age }
        return Int64(sum)
      } peer: {
        try million.lmdb.sumOfAges()
      }.rate(settings)
    },
    Benchmark(name: "objects-lookup/lmdb") { settings in
      let million = try MillionObjects(isKeyed: true)
      let keys = RowSet.keys(1_000_000, of: 1_000_000)
      return try ObjectWork(
        name: "objects-lookup/lmdb", unit: "lookups/s", peerName: "LMDB, mdb_get",
        count: keys.count
      ) {
        var sum: UInt64 = 0
        for key in keys {
          guard
            let row = million.ours.realm.object(ofType: KeyedRow.self, forPrimaryKey: Int(key))
          else { throw BenchError("no object has the primary key \(key)") }
          sum &+= RowSet.checksum(age: row.age, score: row.score, name: row.name)
        }
        return sum
      } peer: {
        try million.lmdb.lookUp(keys).answer
      }.rate(settings)
    },
  ]
  // MARK: changing

  /// Each of a million objects gets another age, in one transaction that is committed.
  private static let objectAssign = Benchmark(name: "objects-assign/sqlite") { settings in
    let million = try MillionObjects()
    let objects = Array(million.rows)
    var (turn, peerTurn) = (0, 0)
    return try ObjectWork(
      name: "objects-assign/sqlite", unit: "assignments/s",
      peerName: "SQLite, a prepared UPDATE each", count: objects.count
    ) {
      turn += 1
      let (taken, _) = try Taken.by {
        try million.ours.realm.write {
          for (index, object) in objects.enumerated() { object.age = (index + turn) % 100 }
        }
      }
      return (taken, Int64(million.rows.sum(ofProperty: "age") as Int))
    } timedPeer: {
      peerTurn += 1
      let (taken, _) = try Taken.by {
        try million.sqlite.assignAges(objects.count, turn: peerTurn)
      }
      return (taken, try million.sqlite.answer("SELECT sum(age) FROM row"))
    }.rate(settings)
  }
}
