// GrowthTests.swift: how large a file gets under commits and pins: the workload of the benchmark
// rows growth-one-pin and growth-many-pins, at a tenth of its size.

import Testing

@testable import Engine

/// A table of rows, and commits that each update one random row of it.
struct GrowthWorkload {
  static let people = TableSchema(
    name: "Person",
    columns: [
      ColumnSchema(name: "age", type: .int), ColumnSchema(name: "score", type: .int),
      ColumnSchema(name: "name", type: .string),
    ])

  var rows: Int
  var commits: Int
  /// A snapshot is taken before every so many commits and kept; nil: none.
  var pinEvery: Int?
  var pinsMax = Int.max

  struct Outcome {
    var fileSizeBytes = 0
    var writes = 0
    var writtenBytes = 0
    var statistics: Statistics
  }

  static func person(_ key: Int, _ random: inout TestRandom) -> [Value] {
    let name = String(
      decoding: (0..<12).map { _ in UInt8(97 + random.below(26)) }, as: UTF8.self)
    return [
      .int(Int64(random.below(100))), .int(Int64(truncatingIfNeeded: random.next())),
      .string(name),
    ]
  }

  func run(_ backend: TestBackend, _ check: (Database, [Snapshot]) throws -> Void) throws
    -> Outcome
  {
    var random = TestRandom(1)
    let database = try Database.open(backend: backend)
    let first = try database.beginWrite()
    try first.createTable(Self.people)
    for key in 0..<rows {
      try first.insert(into: "Person", key: Int64(key), Self.person(key, &random))
    }
    try first.commit()
    backend.clearLog()
    var pins: [Snapshot] = []
    for round in 0..<commits {
      if let pinEvery, round % pinEvery == 0, pins.count < pinsMax {
        pins.append(try database.snapshot())
      }
      let key = random.below(rows)
      let write = try database.beginWrite()
      try write.update(in: "Person", key: Int64(key), Self.person(key, &random))
      try write.commit()
    }
    var outcome = Outcome(statistics: database.statistics())
    outcome.fileSizeBytes = backend.bytes.count
    outcome.writes = backend.writeCount
    outcome.writtenBytes = backend.writtenBytes
    try check(database, pins)
    for pin in pins { pin.release() }
    return outcome
  }
}

@Suite("Growth")
struct GrowthTests {
  /// Bytes of the nodes that the versions reach, each node once.
  private static func distinctBytes(_ states: [VersionState]) throws -> Int {
    var sectors: Set<UInt64> = []
    for state in states {
      var verifier = Verifier(state)
      for table in state.group.tables { try verifier.verify(table) }
      for (span, _) in verifier.spans { sectors.formUnion(span.start..<span.end) }
      sectors.insert(state.slot.top.ref.sector)
    }
    return sectors.count * Layout.sectorSizeBytes
  }

  @Test("without pins a file stays below three times its content")
  func noPin() throws {
    let backend = TestBackend()
    backend.logs = false
    let outcome = try GrowthWorkload(rows: 1000, commits: 1500).run(backend) { database, _ in
      try database.verify()
    }
    #expect(outcome.fileSizeBytes <= 131_072)
    #expect(outcome.writes < 1500 * 5)
    #expect(outcome.writtenBytes < 1500 * 8 * 4096)
    #expect(outcome.statistics.pinnedBytes == 0)
  }

  @Test("one pin keeps its content and nothing of fifteen hundred commits after it")
  func onePin() throws {
    let backend = TestBackend()
    backend.logs = false
    let workload = GrowthWorkload(rows: 1000, commits: 1500, pinEvery: 1, pinsMax: 1)
    let outcome = try workload.run(backend) { database, pins in
      #expect(pins.count == 1)
      try database.verify()
    }
    #expect(outcome.fileSizeBytes <= 196_608)
    #expect(outcome.statistics.pinnedVersions.count == 1)
    #expect(outcome.statistics.pinnedBytes > 20_000)
  }

  @Test("many pins keep what they reach, and not their free lists", arguments: [100, 10, 2])
  func manyPins(_ every: Int) throws {
    let backend = TestBackend()
    backend.logs = false
    let workload = GrowthWorkload(rows: 1000, commits: 1000, pinEvery: every)
    let outcome = try workload.run(backend) { database, pins in
      let needed = try Self.distinctBytes(
        pins.map(\.state) + [database.state.withLock { $0.current }])
      let size = backend.bytes.count
      #expect(size <= needed * 5 / 4 + 262_144, "\(size) bytes for \(needed)")
      for pin in pins { _ = try pin.contentHash() }
      try database.verify()
    }
    #expect(outcome.statistics.pinnedVersions.count == 1000 / every)
    // A thousand spans in the free list cost a commit no more than ten.
    #expect(outcome.writtenBytes < 1000 * 8 * 4096)
  }
}
