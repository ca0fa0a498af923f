// PowerCutTests.swift: the engine's own quick crash test, and the bugs it must catch.

import Testing

@testable import Engine

@Suite("Power cuts")
struct PowerCutTests {
  /// What a run promised.
  private struct Promise {
    var contents: [UInt64: UInt64] = [:]
    /// Length of the log when each version was acked.
    var acks: [(logCount: Int, version: UInt64)] = []
  }

  private static func change(_ database: Database, _ round: Int) throws {
    let write = try database.beginWrite()
    if round == 0 { try write.createTable(Fixtures.dogs) }
    for index in 0..<12 {
      let key = Int64((round * 7 + index * 13) % 60)
      try write.upsert(into: "Dog", key: key, Fixtures.dog(round * 1000 + index))
    }
    if round % 2 == 1 {
      let long = String(repeating: "long \(round) ", count: 200)
      try write.upsert(into: "Dog", key: 1000, [.int(1), .string(long)])
    }
    if round == 4 {
      for key in 2000..<3500 {
        try write.insert(into: "Dog", key: Int64(key), Fixtures.dog(key))
      }
    }
    try write.commit()
  }

  private static func content(_ database: Database) throws -> UInt64 {
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    return try snapshot.contentHash()
  }

  private static func run(_ bug: PlantedBug, rounds: Int) throws -> ([TestOperation], Promise) {
    let backend = TestBackend()
    backend.bug = bug
    let database = try Database.open(backend: backend)
    var promise = Promise()
    promise.contents[1] = try content(database)
    promise.acks.append((backend.log.count, 1))
    backend.isBugActive = true
    for round in 0..<rounds {
      try change(database, round)
      promise.contents[database.version.rawValue] = try content(database)
      promise.acks.append((backend.log.count, database.version.rawValue))
    }
    try database.verify()
    return (backend.log, promise)
  }

  /// The broken promises, as text; stops at the tenth.
  private static func explore(
    _ log: [TestOperation], _ promise: Promise
  ) -> (states: Int, findings: [String]) {
    var random = TestRandom(20_261)
    var cut = PowerCut()
    var states = 0
    var findings: [String] = []
    for point in 0...log.count where findings.count < 10 {
      if point > 0 { cut.apply(log[point - 1]) }
      let acked = promise.acks.last { $0.logCount <= point }?.version ?? 0
      for image in cut.images(mixtures: 12, random: &random) {
        states += 1
        if let finding = check(image, acked: acked, promise) {
          findings.append("crash after operation \(point): \(finding)")
        }
      }
    }
    return (states, findings)
  }

  private static func check(_ image: [UInt8], acked: UInt64, _ promise: Promise) -> String? {
    do {
      let database = try Database.open(backend: TestBackend(image))
      let version = database.version.rawValue
      guard version == max(1, acked) || version == acked + 1 else {
        return "version \(version), acked \(acked)"
      }
      guard try content(database) == promise.contents[version] else {
        return "version \(version) has other content"
      }
      try database.verify()
      try change(database, version == 1 ? 0 : 1)
      try database.verify()
      return nil
    } catch { return "\(error)" }
  }

  @Test("after a crash at any operation the version is the acked one or the one in flight")
  func crashAnywhere() throws {
    let (log, promise) = try Self.run(.none, rounds: 9)
    let (states, findings) = Self.explore(log, promise)
    #expect(findings == [])
    #expect(states > 1000)
    print("power cuts: \(states) crash states over \(log.count) operations")
  }

  @Test(
    "the crash test catches a missing sync and a slot written too early",
    arguments: [PlantedBug.firstSyncMissing, .secondSyncMissing, .slotBeforeNodes])
  func plantedBugs(_ bug: PlantedBug) throws {
    let (log, promise) = try Self.run(bug, rounds: 5)
    let (_, findings) = Self.explore(log, promise)
    #expect(!findings.isEmpty)
  }
}
