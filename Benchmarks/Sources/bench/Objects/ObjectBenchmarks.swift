// ObjectBenchmarks.swift: the object database against the storage layer below it, LMDB and SQLite:
// making a million objects, reading and changing all of them. ObjectQueryBenchmarks.swift finds
// some of them.

import Foundation
import ObjectDatabase

extension Benchmark {
  static let objects: [Benchmark] =
    objectCreation + objectQueries + objectReads + [objectAssign] + objectVersions
    + objectNotifications

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

  // MARK: reading

  private static let objectReads: [Benchmark] = [
    Benchmark(name: "objects-iterate/lmdb") { settings in
      let million = try MillionObjects()
      return try ObjectWork(
        name: "objects-iterate/lmdb", unit: "objects/s", peerName: ObjectQuery.lmdbLoop,
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
