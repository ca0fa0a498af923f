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
  @Test("measure", arguments: [nil, 0, 1000, 100, 10] as [Int?])
  func measure(_ every: Int?) throws {
    var workload = GrowthWorkload(rows: 10_000, commits: 10_000, pinEvery: every)
    if every == 0 {
      workload.pinEvery = 1
      workload.pinsMax = 1
    }
    let backend = TestBackend()
    backend.logs = false
    let clock = ContinuousClock()
    let start = clock.now
    let outcome = try workload.run(backend) { database, _ in
      print("verify: \(try database.verify())")
    }
    print(
      "pin every \(every ?? -1): file \(outcome.fileSizeBytes) writes/commit "
        + "\(Double(outcome.writes) / 10_000) bytes/commit \(outcome.writtenBytes / 10_000) "
        + "\(clock.now - start) \(outcome.statistics.pinnedVersions.count)")
  }
}
