// ObjectQueryBenchmarks.swift: queries over a million objects against a hand-written loop over LMDB
// and against SQLite.

import Foundation
import ObjectDatabase

/// The same million rows on all sides, warm.
final class MillionObjects {
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
        CREATE INDEX pets_of_owner ON pet(owner);
        CREATE TABLE kept(keeper INTEGER, pet INTEGER, PRIMARY KEY(keeper, pet)) WITHOUT ROWID;
        INSERT INTO kept SELECT id % \(Self.owners), id FROM row;
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

  /// The number of owners that a query finds.
  func owners(_ query: String) throws -> Int64 {
    Int64(try ours.realm.objects(Owner.self).filtered(by: query).count)
  }

  /// The number of keepers that a query finds.
  func keepers(_ query: String) throws -> Int64 {
    Int64(try ours.realm.objects(Keeper.self).filtered(by: query).count)
  }

  /// The number of rows that a query finds.
  func count(_ query: String, _ arguments: Any?...) throws -> Int64 {
    Int64(try rows.filtered(by: query, arguments: arguments).count)
  }
}

/// A query, and what the peers do for the same answer.
struct ObjectQuery: Sendable {
  static let lmdbLoop = "LMDB cursor, C loop"
  private static let sqliteQuery = "SQLite, prepared in the time"

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
          try run(settings, "\(name)/lmdb", Self.lmdbLoop, repeats) { try lmdb($0.lmdb) }
        })
    }
    if let sqlite {
      made.append(
        Benchmark(name: "\(name)/sqlite") { settings in
          try run(settings, "\(name)/sqlite", Self.sqliteQuery, 1) { try sqlite($0.sqlite) }
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

extension Benchmark {
  static let objectQueries: [Benchmark] = [
    ObjectQuery(
      name: "objects-filter-count", ours: { try $0.count("age < 50") },
      lmdb: { try $0.countYounger(than: 50).answer },
      sqlite: { try $0.answer("SELECT count(*) FROM row WHERE age < 50") }),
    ObjectQuery(
      name: "objects-sum", ours: { Int64($0.rows.sum(ofProperty: "age") as Int) },
      lmdb: { try $0.sumOfAges() }, sqlite: { try $0.answer("SELECT sum(age) FROM row") }),
    ObjectQuery(
      name: "objects-filter-sum",
      ours: { million in
        let found = try million.rows.filtered(by: "score < 500")
        return Int64(found.sum(ofProperty: "age") as Int)
      },
      sqlite: { try $0.answer("SELECT sum(age) FROM row WHERE score < 500") }),
    ObjectQuery(
      name: "objects-string-equal", ours: { try $0.count("name == $0", RowSet.million.name(500)) },
      lmdb: { try $0.count(named: RowSet.million.name(500)).answer },
      sqlite: {
        try $0.answer("SELECT count(*) FROM row WHERE name = '\(RowSet.million.name(500))'")
      }),
    ObjectQuery(
      name: "objects-prefix", ours: { try $0.count("name BEGINSWITH $0", "ab") },
      lmdb: { try $0.count(withPrefix: "ab") },
      sqlite: { try $0.answer("SELECT count(*) FROM row WHERE name GLOB 'ab*'") }),
    ObjectQuery(
      name: "objects-and", ours: { try $0.count("age < 50 && score < 100") },
      lmdb: { try $0.count(youngerThan: 50, scoreBelow: 100) },
      sqlite: { try $0.answer("SELECT count(*) FROM row WHERE age < 50 AND score < 100") }),
    ObjectQuery(
      name: "objects-sort-int", repeats: 1,
      ours: { everyThousandth($0.rows.sorted(byKeyPath: "age")) },
      sqlite: { try $0.answer("SELECT id FROM row ORDER BY age, id") }),
    ObjectQuery(
      name: "objects-link-path", hasPets: true, repeats: 1,
      ours: { million in
        let pets = million.ours.realm.objects(Pet.self)
        return Int64(try pets.filtered(by: "owner.age < 50").count)
      },
      sqlite: {
        try $0.answer(
          "SELECT count(*) FROM pet JOIN owner ON owner.id = pet.owner WHERE owner.age < 50")
      }),
    ObjectQuery(
      name: "objects-or", ours: { try $0.count("age < 10 || score < 100") },
      sqlite: { try $0.answer("SELECT count(*) FROM row WHERE age < 10 OR score < 100") }),
    ObjectQuery(
      name: "objects-in-1000", ours: { try $0.count("name IN $0", thousandNames) },
      sqlite: {
        let names = thousandNames.map { "'\($0)'" }.joined(separator: ",")
        return try $0.answer("SELECT count(*) FROM row WHERE name IN (\(names))")
      }),
    ObjectQuery(
      name: "objects-between", ours: { try $0.count("score BETWEEN {100, 200}") },
      sqlite: { try $0.answer("SELECT count(*) FROM row WHERE score BETWEEN 100 AND 200") }),
    ObjectQuery(
      name: "objects-contains-ci", ours: { try $0.count("name CONTAINS[c] 'aB'") },
      sqlite: { try $0.answer("SELECT count(*) FROM row WHERE name LIKE '%aB%'") }),
    ObjectQuery(
      name: "objects-sort-string", repeats: 1,
      ours: { everyThousandth($0.rows.sorted(byKeyPath: "name")) },
      sqlite: { try $0.answer("SELECT id FROM row ORDER BY name, id") }),
    ObjectQuery(
      name: "objects-distinct", ours: { Int64($0.rows.distinct(by: ["name"]).count) },
      sqlite: { try $0.answer("SELECT count(DISTINCT name) FROM row") }),
    ObjectQuery(
      name: "objects-subquery", hasPets: true, repeats: 1,
      ours: { try $0.owners("SUBQUERY(pets, $pet, $pet.id < 500000).@count > 49") },
      sqlite: {
        try $0.answer(
          """
          SELECT count(*) FROM owner WHERE
          (SELECT count(*) FROM pet WHERE pet.owner = owner.id AND pet.id < 500000) > 49
          """)
      }),
    ObjectQuery(
      name: "objects-link-sum", hasPets: true, repeats: 1,
      ours: { try $0.owners("pets.@sum.id > 50000000") },
      sqlite: {
        try $0.answer(
          """
          SELECT count(*) FROM owner WHERE
          (SELECT sum(id) FROM pet WHERE pet.owner = owner.id) > 50000000
          """)
      }),
    ObjectQuery(
      name: "objects-list-subquery", hasPets: true, repeats: 1,
      ours: { try $0.keepers("SUBQUERY(pets, $pet, $pet.owner.age < 50).@count > 49") },
      sqlite: {
        try $0.answer(
          """
          SELECT count(*) FROM owner AS keeper WHERE
          (SELECT count(*) FROM kept JOIN pet ON pet.id = kept.pet
          JOIN owner ON owner.id = pet.owner WHERE kept.keeper = keeper.id AND owner.age < 50) > 49
          """)
      }),
    ObjectQuery(
      name: "objects-list-any", hasPets: true, repeats: 1,
      ours: { try $0.keepers("ANY pets.owner.age == 7") },
      sqlite: {
        try $0.answer(
          """
          SELECT count(*) FROM owner WHERE EXISTS
          (SELECT 1 FROM kept JOIN pet ON pet.id = kept.pet JOIN owner AS of ON of.id = pet.owner
          WHERE kept.keeper = owner.id AND of.age = 7)
          """)
      }),
    ObjectQuery(
      name: "objects-list-sum", hasPets: true, repeats: 1,
      ours: { try $0.keepers("pets.@sum.id > 50000000") },
      sqlite: {
        try $0.answer(
          """
          SELECT count(*) FROM owner WHERE
          (SELECT sum(pet.id) FROM kept JOIN pet ON pet.id = kept.pet
          WHERE kept.keeper = owner.id) > 50000000
          """)
      }),
  ].flatMap(\.benchmarks)

  private static let thousandNames = (0..<1000).map { RowSet.million.name($0) }

  /// A number made of the ids of every 1,000th object.
  private static func everyThousandth(_ rows: Results<PlainRow>) -> Int64 {
    var sum: UInt64 = 0
    for index in stride(from: 0, to: rows.count, by: 1000) {
      sum = sum &* 31 &+ UInt64(rows[index].id)
    }
    return Int64(bitPattern: sum)
  }
}
