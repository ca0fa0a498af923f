// ObjectVersionBenchmarks.swift [U]: the object database writing one property at a time, comparing
// versions, and keeping old ones while it is written.

import Engine
import Foundation
import ObjectDatabase

extension Benchmark {
  static let objectVersions: [Benchmark] = [
    objectWriteOne, objectChanges,
    objectGrowth("objects-growth/lmdb", frozenEvery: nil),
    objectGrowth("objects-growth-10/content", frozenEvery: 1_000),
    objectGrowth("objects-growth-100/content", frozenEvery: 100),
  ]

  // MARK: writing

  private static let objectWriteOne = Benchmark(name: "objects-write-one/lmdb") { settings in
    try Scratch.withDisk("commit") { directory in
      let ours = try ObjectStore(directory.appending(path: "ours.realm").path)
      let peer = try LMDBStore(directory.appending(path: "peer.mdb").path)
      try ours.add(RowValues.tenThousand, ObjectStore.plain)
      _ = try peer.insert(.tenThousand, appends: true)
      let draws = RowSet(drawn: 400, of: 10_000, seed: 1)
      let rows = ours.realm.objects(PlainRow.self)
      let objects = draws.ids.map { rows[$0] }
      let syncs = try SyncCount.during { try ours.write(draws, to: objects) }
      let peerSyncs = try SyncCount.during { _ = try peer.commit(draws) }
      let row = try ObjectWork(
        name: "objects-write-one/lmdb", unit: "commits/s",
        peerName: "LMDB default, \(perCommit(peerSyncs, draws)); ours \(perCommit(syncs, draws))",
        count: draws.count
      ) {
        try ours.write(draws, to: objects)
        return Double(rows.sum(ofProperty: "score") as Double)
      } peer: {
        _ = try peer.commit(draws)
        return try peer.sumOfScores().answer
      }.rate(settings)
      return row
    }
  }

  // MARK: comparing

  /// 1,000 of a million objects, spread out, get another score.
  private static let objectChanges = Benchmark(name: "diff-1000-of-1M/lmdb") { settings in
    try Scratch.withMemory("diff") { directory in
      let ours = try ObjectStore(directory.appending(path: "ours.realm").path)
      let peer = try LMDBStore(directory.appending(path: "peer.mdb").path)
      try ours.add(RowValues.million, ObjectStore.plain)
      _ = try peer.insert(.million, appends: true)
      // The realm's own versions are the engine's: a second handle on the file has snapshots.
      let database = try Database.open(path: ours.path)
      let older = try database.snapshot()
      try peer.pin()
      let draws = RowSet.spread(1_000, of: 1_000_000)
      let rows = ours.realm.objects(PlainRow.self)
      try ours.realm.write {
        for (id, score) in zip(draws.ids, draws.scores) { rows[id].score = score }
      }
      _ = try peer.put(draws)
      let newer = try database.snapshot()
      return try ObjectWork(
        name: "diff-1000-of-1M/lmdb", unit: "ms", peerName: "LMDB, two cursors", count: 1,
        repeats: 10
      ) {
        let changes = try newer.changes(since: older)
        return Int64(changes["PlainRow"]?.modifications.count ?? 0)
      } peer: {
        try peer.changes()
      }.milliseconds(settings)
    }
  }

  // MARK: growth

  /// What a file of 10,000 objects grows to in 10,000 transactions of one property each, while a
  /// frozen collection of the first version is kept; or the realm, frozen anew every so often.
  private static func objectGrowth(_ name: String, frozenEvery: Int?) -> Benchmark {
    Benchmark(name: name) { settings in
      try Scratch.withMemory("growth") { directory in
        let ours = try ObjectStore(directory.appending(path: "ours.realm").path)
        try ours.add(RowValues.tenThousand, ObjectStore.plain)
        let content = try sizeBytes(ours.path)
        let sum: Double = ours.realm.objects(PlainRow.self).sum(ofProperty: "score")
        let draws = RowSet(drawn: 10_000, of: 10_000, seed: 2)
        let kept = try ours.write(draws, freezingEvery: frozenEvery ?? .max)
        for rows in kept.prefix(1) {
          try expectEqual(name, rows.sum(ofProperty: "score") as Double, sum)
        }
        try expectEqual(name, kept.count, frozenEvery.map { draws.count / $0 } ?? 1)
        let mine = try sizeBytes(ours.path)
        var peerName = "one version; \(kept.count) are held"
        var other = content
        if frozenEvery == nil {
          peerName = "LMDB, one reader"
          let peer = try LMDBStore(directory.appending(path: "peer.mdb").path)
          _ = try peer.insert(.tenThousand, appends: true)
          try peer.pin()
          _ = try peer.commit(draws)
          other = try sizeBytes(peer.path)
          let last: Double = ours.realm.objects(PlainRow.self).sum(ofProperty: "score")
          try expectEqual(name, last, try peer.sumOfScores().answer)
        }
        return .cost(
          name, ours: (settings.peerOnBothSides ? other : mine) / 1e6, peer: other / 1e6,
          peerName: peerName, unit: "MB")
      }
    }
  }
}

extension ObjectStore {
  /// One durable transaction per row given, each changing one property of one object.
  func write(_ draws: RowSet, to objects: [PlainRow]) throws {
    for (object, score) in zip(objects, draws.scores) {
      try realm.write { object.score = score }
    }
  }

  /// The same by another thread, while this one freezes its rows: before the first transaction, and
  /// again after each so many.
  func write(_ draws: RowSet, freezingEvery step: Int) throws -> [Results<PlainRow>] {
    var kept: [Results<PlainRow>] = []
    let changes = zip(draws.ids, draws.scores).map { (id: $0, score: $1) }
    for start in stride(from: 0, to: changes.count, by: Swift.min(step, changes.count)) {
      realm.refresh()
      kept.append(realm.objects(PlainRow.self).freeze())
      try Self.onAnotherThread(path, Array(changes[start...].prefix(step)))
    }
    realm.refresh()
    return kept
  }

  private static func onAnotherThread(
    _ path: String, _ changes: [(id: Int, score: Double)]
  ) throws {
    let outcome = Outcome()
    Thread {
      do {
        let store = try ObjectStore(path)
        let objects = Array(store.realm.objects(PlainRow.self))
        for change in changes {
          try store.realm.write { objects[change.id].score = change.score }
        }
        outcome.finish(nil)
      } catch { outcome.finish(error) }
    }.start()
    try outcome.wait()
  }
}

/// How the work of a thread ended.
private final class Outcome: @unchecked Sendable {
  // Safety: written before the signal, read after it.
  private let signal = DispatchSemaphore(value: 0)
  private var error: (any Error)?

  func finish(_ error: (any Error)?) {
    self.error = error
    signal.signal()
  }

  func wait() throws {
    signal.wait()
    if let error { throw error }
  }
}
