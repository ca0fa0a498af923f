// ScanBenchmarks.swift: lookups and whole-column scans of 1 M rows, warm, against LMDB. The peer's
// loops are C over a cursor and a packed struct: as little as one can do there.

import Foundation

/// The same million rows on both sides, warm.
private final class MillionRows {
  let directory: URL
  let ours: EngineStore
  let peer: LMDBStore

  init() throws {
    directory = try Scratch.makeDirectory("scan")
    ours = try EngineStore(directory.appending(path: "ours.realm").path)
    peer = try LMDBStore(directory.appending(path: "peer.mdb").path)
    _ = try (ours.insert(.million), peer.insert(.million, appends: true))
  }

  deinit { try? FileManager.default.removeItem(at: directory) }
}

/// Work that both sides can do and that has one answer.
private struct Work<Answer: Equatable>: Sendable {
  let name: String
  let unit: String
  let peerName: String
  /// A round does the work so many times: each alone is short.
  var repeats = 10
  let ours: @Sendable (EngineStore) throws -> (seconds: Double, answer: Answer)
  let peer: @Sendable (LMDBStore) throws -> (seconds: Double, answer: Answer)

  func run(_ settings: Settings) throws -> Row {
    let rows = try MillionRows()
    // Once for the answers, and for the caches.
    try Benchmark.expectEqual(name, ours(rows.ours).answer, peer(rows.peer).answer)
    let count = Double(repeats * RowSet.million.count)
    let measured = try Benchmark.measure(settings) {
      try count / (0..<repeats).reduce(0) { sum, _ in try sum + ours(rows.ours).seconds }
    } peer: {
      try count / (0..<repeats).reduce(0) { sum, _ in try sum + peer(rows.peer).seconds }
    }
    try Benchmark.expectEqual(name, ours(rows.ours).answer, peer(rows.peer).answer)
    try rows.ours.close()
    return .rate(name, ours: measured.ours, peer: measured.peer, peerName: peerName, unit: unit)
  }
}

extension Benchmark {
  static let scans: [Benchmark] = [
    Benchmark(name: "lookup/lmdb") { settings in
      let keys = RowSet.keys(1_000_000, of: 1_000_000)
      return try Work(
        name: "lookup/lmdb", unit: "lookups/s", peerName: "LMDB, mdb_get", repeats: 1,
        ours: { try $0.lookUp(keys) }, peer: { try $0.lookUp(keys) }
      ).run(settings)
    },
    Benchmark(name: "count-age/lmdb") { settings in
      try Work(
        name: "count-age/lmdb", unit: "rows/s", peerName: "LMDB cursor, C loop",
        ours: { try $0.countYounger(than: 40) }, peer: { try $0.countYounger(than: 40) }
      ).run(settings)
    },
    Benchmark(name: "sum-score/lmdb") { settings in
      try Work(
        name: "sum-score/lmdb", unit: "rows/s", peerName: "LMDB cursor, C loop",
        ours: { try $0.sumOfScores() }, peer: { try $0.sumOfScores() }
      ).run(settings)
    },
    Benchmark(name: "string-equal/lmdb") { settings in
      let name = RowSet.million.name(500)
      return try Work(
        name: "string-equal/lmdb", unit: "rows/s", peerName: "LMDB cursor, C loop",
        ours: { try $0.count(named: name) }, peer: { try $0.count(named: name) }
      ).run(settings)
    },
  ]
}
