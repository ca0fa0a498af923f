// RecordBenchmarks.swift [U]: the object database against GRDB records of the same rows: what a
// program that keeps objects does all day. Safety: a token is used on one queue only.

import CBench
import Foundation
import ObjectDatabase

/// The same rows as objects with a primary key and as records.
private final class RecordSides {
  let directory: URL
  let ours: ObjectStore
  let peer: PeerRecords

  init(_ rows: [RowValues], isOnDisk: Bool = false) throws {
    directory =
      isOnDisk ? try Scratch.makeDiskDirectory("records") : try Scratch.makeDirectory("records")
    ours = try ObjectStore(directory.appending(path: "ours.realm").path)
    peer = try PeerRecords(directory.appending(path: "peer.sqlite").path)
    try ours.buildKeyed(rows)
    try peer.insert(rows)
  }

  deinit {
    try? peer.close()
    try? FileManager.default.removeItem(at: directory)
  }

  var rows: Results<KeyedRow> { ours.realm.objects(KeyedRow.self) }

  func object(_ key: Int) throws -> KeyedRow {
    guard let row = ours.realm.object(ofType: KeyedRow.self, forPrimaryKey: key) else {
      throw BenchError("no object has the primary key \(key)")
    }
    return row
  }
}

extension KeyedRow {
  fileprivate var checksum: UInt64 { RowSet.checksum(age: age, score: score, name: name) }
}

extension Benchmark {
  static let records: [Benchmark] =
    recordCreation + recordReads + recordChanges + [recordObservation, recordMemory]

  private static let count = 200_000
  private static var rowsOfRecords: [RowValues] { Array(RowValues.million.prefix(count)) }

  // MARK: creating

  private static let recordCreation: [Benchmark] = [
    recordCreation("records-create/grdb", isKeyed: false) { store, rows in
      try store.add(rows, ObjectStore.plain)
    },
    recordCreation("records-create-keyed/grdb", isKeyed: true) { store, rows in
      try store.add(rows, ObjectStore.keyed)
    },
    recordCreation("records-create-dictionary/grdb", isKeyed: false) { store, rows in
      try store.create(rows)
    } peer: { store, rows in
      try store.insert(
        dictionaries: rows.map {
          ["id": $0.id, "age": $0.age, "score": $0.score, "name": $0.name]
        })
    },
  ]

  private static func recordCreation(
    _ name: String, isKeyed: Bool,
    ours: @escaping @Sendable (ObjectStore, [RowValues]) throws -> Void,
    peer: @escaping @Sendable (PeerRecords, [RowValues]) throws -> Void = { try $0.insert($1) }
  ) -> Benchmark {
    Benchmark(name: name) { settings in
      let rows = rowsOfRecords
      return try ObjectWork(
        name: name, unit: "rows/s", peerName: "GRDB, one transaction", count: rows.count
      ) {
        try Scratch.withDisk("records") { directory in
          let store = try ObjectStore(directory.appending(path: "ours.realm").path)
          let (taken, _) = try Taken.by { try ours(store, rows) }
          return (taken, store.totals(isKeyed: isKeyed))
        }
      } timedPeer: {
        try Scratch.withDisk("records") { directory in
          let store = try PeerRecords(directory.appending(path: "peer.sqlite").path)
          let (taken, _) = try Taken.by { try peer(store, rows) }
          let totals = try store.totals()
          try store.close()
          return (taken, totals)
        }
      }.rate(settings)
    }
  }

  // MARK: reading

  private static let recordReads: [Benchmark] = [
    recordRead("records-fetch-key/grdb", "GRDB, fetchOne(key:)") { sides in
      var sum: UInt64 = 0
      for key in RowSet.keys(count, of: count) { sum &+= try sides.object(Int(key)).checksum }
      return sum
    } peer: {
      try $0.sum(ofKeys: RowSet.keys(count, of: count))
    },
    recordRead("records-iterate/grdb", "GRDB, fetchCursor of all") { sides in
      var sum: UInt64 = 0
      for row in sides.rows { sum &+= row.checksum }
      return sum
    } peer: {
      try $0.sum()
    },
    recordRead("records-filter-count/grdb", "GRDB, filter and fetchCount") { sides in
      UInt64(sides.rows.where { $0.age < 50 }.count)
    } peer: {
      UInt64(try $0.count(belowAge: 50))
    },
    recordRead("records-filter-read/grdb", "GRDB, filter and fetchCursor") { sides in
      var sum: UInt64 = 0
      for row in sides.rows.where({ $0.age < 10 }) { sum &+= row.checksum }
      return sum
    } peer: {
      try $0.sum(belowAge: 10)
    },
    recordRead("records-sort/grdb", "GRDB, order and fetchCursor") { sides in
      var sum: UInt64 = 0
      for row in sides.rows.sorted(byKeyPath: "age") { sum = sum &* 31 &+ UInt64(row.id) }
      return sum
    } peer: {
      try $0.orderedSum()
    },
    recordRead("records-link-path/grdb", "GRDB, joining(required:)", hasPets: true) { sides in
      UInt64(sides.ours.realm.objects(Pet.self).where { $0.owner.age < 50 }.count)
    } peer: {
      UInt64(try $0.petCount(belowAge: 50))
    },
  ]

  private static func recordRead(
    _ name: String, _ peerName: String, hasPets: Bool = false,
    ours: @escaping @Sendable (RecordSides) throws -> UInt64,
    peer: @escaping @Sendable (PeerRecords) throws -> UInt64
  ) -> Benchmark {
    Benchmark(name: name) { settings in
      let rows = rowsOfRecords
      let sides = try RecordSides(rows)
      if hasPets {
        try sides.ours.addPets(rows, owners: 10_000)
        try sides.peer.insertPets(rows, owners: 10_000)
      }
      return try ObjectWork(name: name, unit: "rows/s", peerName: peerName, count: rows.count) {
        try ours(sides)
      } peer: {
        try peer(sides.peer)
      }.rate(settings)
    }
  }

  // MARK: changing

  private static let recordChanges: [Benchmark] = [
    Benchmark(name: "records-update-one/grdb") { settings in
      let sides = try RecordSides(RowValues.tenThousand, isOnDisk: true)
      let draws = RowSet.spread(200, of: 10_000)
      let objects = Array(sides.rows)
      var records = try sides.peer.all()
      return try recordUpdate(settings, "records-update-one/grdb", draws, sides) { scores in
        for (id, score) in zip(draws.ids, scores) {
          try sides.ours.realm.write { objects[id].score = score }
        }
      } peer: { scores in
        try sides.peer.update(draws.ids, scores, of: &records)
      }
    },
    Benchmark(name: "records-update-1000/grdb") { settings in
      let sides = try RecordSides(rowsOfRecords, isOnDisk: true)
      let draws = RowSet.spread(1_000, of: count)
      return try recordUpdate(settings, "records-update-1000/grdb", draws, sides) { scores in
        try sides.ours.realm.write {
          for (id, score) in zip(draws.ids, scores) { try sides.object(id).score = score }
        }
      } peer: { scores in
        try sides.peer.updateTogether(draws.ids, scores)
      }
    },
    Benchmark(name: "records-delete-1000/grdb") { settings in
      let sides = try RecordSides(rowsOfRecords, isOnDisk: true)
      var (mine, other) = (0, 0)
      return try ObjectWork(
        name: "records-delete-1000/grdb", unit: "rows/s", peerName: "GRDB, deleteOne(key:)",
        count: 1_000
      ) {
        let ids = mine..<mine + 1_000
        mine = ids.upperBound
        let (taken, _) = try Taken.by {
          try sides.ours.realm.write {
            for id in ids { sides.ours.realm.delete(try sides.object(id)) }
          }
        }
        return (taken, count - sides.rows.count - ids.lowerBound)
      } timedPeer: {
        let ids = other..<other + 1_000
        other = ids.upperBound
        return try Taken.by { try sides.peer.delete(ids) }
      }.rate(settings)
    },
  ]

  /// Sets scores that differ from turn to turn: SQLite writes nothing where a row stays the same.
  private static func recordUpdate(
    _ settings: Settings, _ name: String, _ draws: RowSet, _ sides: RecordSides,
    ours: @escaping ([Double]) throws -> Void, peer: @escaping ([Double]) throws -> Void
  ) throws -> Row {
    var (turn, peerTurn) = (0.0, 0.0)
    let count = Double(draws.count)
    return try ObjectWork(
      name: name, unit: "rows/s", peerName: "GRDB, update(columns:)", count: draws.count
    ) {
      turn += 1
      let scores = draws.scores.map { $0 + turn }
      let (taken, _) = try Taken.by { try ours(scores) }
      let sum: Double = sides.rows.sum(ofProperty: "score")
      return (taken, (sum - turn * count).rounded())
    } timedPeer: {
      peerTurn += 1
      let scores = draws.scores.map { $0 + peerTurn }
      let (taken, _) = try Taken.by { try peer(scores) }
      return (taken, (try sides.peer.sumOfScores() - peerTurn * count).rounded())
    }.rate(settings)
  }

  // MARK: observing

  /// The median time from the begin of a write to the observer's call, with 1,000 rows.
  private static let recordObservation = Benchmark(name: "records-observe/grdb") { settings in
    let sides = try RecordSides(Array(RowValues.tenThousand.prefix(1_000)))
    let queue = DispatchQueue(label: "bench.observer")
    let (seen, seenByPeer) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let objects = Array(sides.rows)
    var records = try sides.peer.all()
    let path = sides.ours.path
    let token = try queue.sync {
      let realm = try Realm(configuration: ObjectStore.configuration(path), queue: queue)
      return Kept(realm.objects(KeyedRow.self).observe { _ in seen.signal() })
    }
    let cancellable = sides.peer.observe(queue) { _ in seenByPeer.signal() }
    seen.wait()
    seenByPeer.wait()
    var number = 0.5
    func latency(
      _ write: (Int, Double) throws -> Void, _ seen: DispatchSemaphore
    ) throws -> Double {
      var latencies: [Double] = []
      for index in 0..<400 {
        number += 1
        let (taken, _) = try Taken.by {
          try write(index, number)
          seen.wait()
        }
        latencies.append(taken.seconds * 1e6)
      }
      return median(latencies)
    }
    let (ours, peer) = try alternating(rounds: settings.rounds) {
      try latency({ id, score in try sides.ours.realm.write { objects[id].score = score } }, seen)
    } peer: {
      try latency({ try sides.peer.update([$0], [$1], of: &records) }, seenByPeer)
    }
    queue.sync { token.end() }
    cancellable.cancel()
    return .cost(
      "records-observe/grdb", ours: ours, peer: peer, peerName: "GRDB, ValueObservation of all",
      unit: "µs")
  }

  /// A token that is made and ended on one queue.
  private final class Kept: @unchecked Sendable {
    // Safety: used on the queue only.
    private let token: NotificationToken

    init(_ token: NotificationToken) { self.token = token }

    func end() { token.invalidate() }
  }

  // MARK: memory

  /// What a million loaded rows hold on the heap, every property read.
  private static let recordMemory = Benchmark(name: "records-memory/grdb") { _ in
    let sides = try RecordSides(RowValues.million)
    let start = cbench_heap_bytes()
    let objects = Array(sides.rows)
    let sum = objects.reduce(into: 0) { $0 &+= $1.checksum }
    let loaded = cbench_heap_bytes()
    let records = try sides.peer.all()
    let end = cbench_heap_bytes()
    try expectEqual("records-memory/grdb", records.reduce(into: 0) { $0 &+= $1.checksum }, sum)
    try expectEqual("records-memory/grdb", objects.count, records.count)
    return .cost(
      "records-memory/grdb", ours: Double(loaded - start) / 1e6, peer: Double(end - loaded) / 1e6,
      peerName: "GRDB, fetchAll", unit: "MB")
  }
}
