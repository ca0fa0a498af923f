// GrowthBenchmarks.swift: what a file of 10,000 rows grows to in 10,000 commits of one row each
// while old versions are held. In memory: sizes do not depend on the disk, and syncs cost nothing.

import Engine
import Foundation

extension Benchmark {
  static let growth: [Benchmark] = [
    growthOnePin, growthPins(every: 1000, name: "growth-pins-1000/content"),
    growthPins(every: 100, name: "growth-pins-100/content"),
    growthPins(every: 10, name: "growth-many-pins/content"),
  ]

  private static let commitCount = 10_000

  private static let growthOnePin = Benchmark(name: "growth-one-pin/lmdb") { settings in
    try Scratch.withMemory("growth") { directory in
      let draws = RowSet(drawn: commitCount, of: 10_000, seed: 2)
      let ours = try EngineStore(directory.appending(path: "ours.realm").path)
      let peer = try LMDBStore(directory.appending(path: "peer.mdb").path)
      _ = try (ours.insert(.tenThousand), peer.insert(.tenThousand, appends: true))
      let pin = try ours.database.snapshot()
      try peer.pin()
      _ = try (ours.commit(draws), peer.commit(draws))
      try expectEqual("growth-one-pin", ours.sumOfScores().answer, peer.sumOfScores().answer)
      let other = try sizeBytes(peer.path)
      let mine = settings.peerOnBothSides ? other : try sizeBytes(ours.path)
      pin.release()
      try ours.database.verify()
      try ours.close()
      return .cost(
        "growth-one-pin/lmdb", ours: mine / 1e6, peer: other / 1e6, peerName: "LMDB, one reader",
        unit: "MB")
    }
  }

  /// A snapshot is taken before every so many commits, and kept.
  private static func growthPins(every: Int, name: String) -> Benchmark {
    Benchmark(name: name) { settings in
      try Scratch.withMemory("growth") { directory in
        let ours = try EngineStore(directory.appending(path: "ours.realm").path)
        _ = try ours.insert(.tenThousand)
        let content = try sizeBytes(ours.path)
        var pins: [Snapshot] = []
        for number in 0..<commitCount / every {
          pins.append(try ours.database.snapshot())
          _ = try ours.commit(RowSet(drawn: every, of: 10_000, seed: UInt64(3 + number)))
        }
        let mine = settings.peerOnBothSides ? content : try sizeBytes(ours.path)
        let peerName = "one version; \(pins.count) are held"
        for pin in pins { pin.release() }
        try ours.database.verify()
        try ours.close()
        return .cost(
          name, ours: mine / 1e6, peer: content / 1e6, peerName: peerName, unit: "MB")
      }
    }
  }
}
