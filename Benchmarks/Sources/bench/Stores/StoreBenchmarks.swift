// StoreBenchmarks.swift: the rows that hold the engine against LMDB and SQLite. Both sides work on
// the same rows, on the same file system, equally durable, and where both give an answer a row
// fails when the answers differ.

import Engine
import Foundation

extension Benchmark {
  static let stores: [Benchmark] =
    commits + inserts + scans + [compact, verifyAgainstRead] + growth

  /// Both sides, or the peer on both.
  static func measure(
    _ settings: Settings, ours: () throws -> Double, peer: () throws -> Double
  ) throws -> (ours: Double, peer: Double) {
    try alternating(rounds: settings.rounds) {
      try settings.peerOnBothSides ? peer() : ours()
    } peer: {
      try peer()
    }
  }

  /// What two sides say must be the same.
  static func expectEqual<Answer: Equatable>(
    _ name: String, _ ours: Answer, _ peer: Answer
  ) throws {
    guard ours == peer else {
      throw BenchError("\(name): we answer \(ours), the peer answers \(peer)")
    }
  }

  /// Size of a file.
  static func sizeBytes(_ path: String) throws -> Double {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    guard let size = attributes[.size] as? UInt64 else { throw BenchError("no size: \(path)") }
    return Double(size)
  }
}

// MARK: commits

extension Benchmark {
  private static let commits: [Benchmark] = [
    Benchmark(name: "commit-two-phase/lmdb") { settings in
      try Scratch.withDisk("commit") { directory in
        let peer = try LMDBStore(directory.appending(path: "peer.mdb").path)
        _ = try peer.insert(.tenThousand, appends: true)
        return try oneRowCommits(
          settings, "commit-two-phase/lmdb", .twoPhase, directory, peerName: "LMDB default",
          peer: peer.commit, sum: { try peer.sumOfScores().answer })
      }
    },
    Benchmark(name: "commit-one-sync/sqlite-wal") { settings in
      try Scratch.withDisk("commit") { directory in
        let peer = try SQLiteStore(directory.appending(path: "peer.sqlite").path, wal: true)
        _ = try peer.insert(.tenThousand)
        return try oneRowCommits(
          settings, "commit-one-sync/sqlite-wal", .checksummed, directory,
          peerName: "SQLite WAL, synchronous=FULL", peer: peer.commit,
          sum: { try peer.totals().sum })
      }
    },
    Benchmark(name: "commit-50-tables/engine") { settings in
      try Scratch.withDisk("commit") { directory in
        let peer = try EngineStore(directory.appending(path: "peer.realm").path)
        _ = try peer.insert(.tenThousand)
        return try oneRowCommits(
          settings, "commit-50-tables/engine", .twoPhase, directory, otherTables: 49,
          peerName: "the same with one table", peer: peer.commit,
          sum: { try peer.totals().sum })
      }
    },
  ]

  /// Durable transactions of one row each, on a table of 10,000 rows.
  private static func oneRowCommits(
    _ settings: Settings, _ name: String, _ commitProtocol: CommitProtocol, _ directory: URL,
    otherTables: Int = 0, peerName: String, peer: (RowSet) throws -> Double,
    sum: () throws -> Double
  ) throws -> Row {
    var options = Database.Options()
    options.commitProtocol = commitProtocol
    let ours = try EngineStore(
      directory.appending(path: "ours.realm").path, options: options, otherTables: otherTables)
    _ = try ours.insert(.tenThousand)
    let draws = RowSet(drawn: 400, of: 10_000, seed: 1)
    let syncs = try SyncCount.during { _ = try ours.commit(draws) }
    let peerSyncs = try SyncCount.during { _ = try peer(draws) }
    let measured = try measure(settings) {
      try Double(draws.count) / ours.commit(draws)
    } peer: {
      try Double(draws.count) / peer(draws)
    }
    try expectEqual(name, ours.totals().sum, sum())
    try ours.close()
    return .rate(
      name, ours: measured.ours, peer: measured.peer,
      peerName: "\(peerName), \(perCommit(peerSyncs, draws)); ours \(perCommit(syncs, draws))",
      unit: "commits/s")
  }

  static func perCommit(_ syncs: Int, _ draws: RowSet) -> String {
    String(format: "%.2f syncs a commit", Double(syncs) / Double(draws.count))
  }
}

// MARK: bulk insert

extension Benchmark {
  private static let inserts: [Benchmark] = [
    Benchmark(name: "bulk-insert/sqlite") { settings in
      try insertMillion(settings, "bulk-insert/sqlite", "SQLite, prepared statement") { path in
        try SQLiteStore(path).insert(.million)
      }
    },
    Benchmark(name: "bulk-insert/lmdb") { settings in
      try insertMillion(settings, "bulk-insert/lmdb", "LMDB, mdb_put") { path in
        try LMDBStore(path).insert(.million, appends: false)
      }
    },
    fileSize,
  ]

  private static func insertMillion(
    _ settings: Settings, _ name: String, _ peerName: String,
    peer: @escaping (String) throws -> Double
  ) throws -> Row {
    let count = Double(RowSet.million.count)
    let measured = try measure(settings) {
      try Scratch.withDisk("insert") { directory in
        let store = try EngineStore(directory.appending(path: "ours.realm").path)
        let taken = try store.insert(.million)
        try store.close()
        return count / taken
      }
    } peer: {
      try Scratch.withDisk("insert") { count / (try peer($0.appending(path: "peer").path)) }
    }
    return .rate(
      name, ours: measured.ours, peer: measured.peer, peerName: peerName, unit: "rows/s")
  }

  private static let fileSize = Benchmark(name: "file-size/sqlite") { settings in
    try Scratch.withDisk("size") { directory in
      let paths = ["ours.realm", "peer.sqlite"].map { directory.appending(path: $0).path }
      let ours = try EngineStore(paths[0])
      let peer = try SQLiteStore(paths[1])
      _ = try (ours.insert(.million), peer.insert(.million))
      let (mine, other) = try (ours.totals(), peer.totals())
      try expectEqual("file-size/sqlite rows", mine.rows, other.rows)
      try expectEqual("file-size/sqlite sum", mine.sum, other.sum)
      try ours.close()
      return .cost(
        "file-size/sqlite", ours: try sizeBytes(paths[settings.peerOnBothSides ? 1 : 0]) / 1e6,
        peer: try sizeBytes(paths[1]) / 1e6, peerName: "SQLite", unit: "MB")
    }
  }
}

// MARK: compaction

extension Benchmark {
  /// Every second row of a million is deleted; then the file is made as small as it can be.
  private static let compact = Benchmark(name: "compact/sqlite") { settings in
    let measured = try measure(settings) {
      try Scratch.withDisk("compact") { directory in
        let store = try EngineStore(directory.appending(path: "ours.realm").path)
        _ = try store.insert(.million)
        try store.thin(RowSet.million.count)
        let before = try store.totals()
        let taken = try store.compact()
        let after = try store.totals()
        try expectEqual("compact/sqlite rows", after.rows, before.rows)
        try expectEqual("compact/sqlite sum", after.sum, before.sum)
        try expectEqual("compact/sqlite rows", after.rows, Int64(RowSet.million.count / 2))
        try store.close()
        return taken
      }
    } peer: {
      try Scratch.withDisk("compact") { directory in
        let store = try SQLiteStore(directory.appending(path: "peer.sqlite").path)
        _ = try store.insert(.million)
        try store.thin()
        return try store.compact()
      }
    }
    return .cost(
      "compact/sqlite", ours: measured.ours, peer: measured.peer, peerName: "SQLite VACUUM",
      unit: "s")
  }
}

// MARK: verify

extension Benchmark {
  private static let verifyAgainstRead = Benchmark(name: "verify/read") { settings in
    try Scratch.withDisk("verify") { directory in
      let store = try EngineStore(directory.appending(path: "ours.realm").path)
      _ = try store.insert(.million)
      let bytes = try sizeBytes(store.path)
      try expectEqual("verify/read bytes", Double(PlainRead.hash(store.path).bytes), bytes)
      let measured = try measure(settings) {
        try bytes / 1e6 / store.verify()
      } peer: {
        try bytes / 1e6 / PlainRead.hash(store.path).seconds
      }
      try store.close()
      return .rate(
        "verify/read", ours: measured.ours, peer: measured.peer,
        peerName: "read(2) and hash of the same file", unit: "MB/s")
    }
  }
}
