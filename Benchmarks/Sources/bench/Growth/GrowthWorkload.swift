// GrowthWorkload.swift: how large a file gets while readers hold old versions: a table of rows, and
// commits that each update one random row. The rows growth-one-pin and growth-many-pins use it.

import Engine
import Foundation

/// The workload; every draw follows from `seed`, so a peer can be given the same one.
struct GrowthWorkload {
  var rows = 10_000
  var commits = 10_000
  /// A snapshot is taken before every so many commits and kept; nil: none.
  var pinEvery: Int?
  var pinsMax = Int.max
  var seed: UInt64 = 1

  /// What came of it.
  struct Outcome {
    var fileSizeBytes: Double
    /// Bytes of the nodes that the newest version or a pinned one reaches.
    var contentBytes: Double
    var seconds: Double
  }

  /// One row: 0–99, a number of 64 bits, twelve letters.
  struct Person {
    var age: Int64
    var score: Int64
    var name: String

    init(_ random: inout Draws) {
      age = Int64(random.below(100))
      score = Int64(truncatingIfNeeded: random.next())
      name = String(decoding: (0..<12).map { _ in UInt8(97 + random.below(26)) }, as: UTF8.self)
    }
  }

  /// SplitMix64.
  struct Draws {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var z = state
      z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
      z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
      return z ^ (z >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
  }

  /// Calls back with each key and row to insert, then with each commit's; what a peer needs, too.
  /// - Parameters:
  ///   - insert: A row of the table to begin with.
  ///   - loaded: Called when all of these are there.
  ///   - pin: Before the commit of this number a reader begins, and stays.
  ///   - update: A commit of one row.
  func forEachStep(
    insert: (Int64, Person) throws -> Void, loaded: () throws -> Void,
    pin: (Int) throws -> Void, update: (Int64, Person) throws -> Void
  ) rethrows {
    var random = Draws(seed)
    for key in 0..<rows { try insert(Int64(key), Person(&random)) }
    try loaded()
    var pins = 0
    for number in 0..<commits {
      if let pinEvery, number % pinEvery == 0, pins < pinsMax {
        try pin(number)
        pins += 1
      }
      let key = random.below(rows)
      try update(Int64(key), Person(&random))
    }
  }

  /// Runs it on the engine, without syncs: they take time and no space.
  /// - Parameter path: The file to make.
  /// - Returns: Sizes at the end, and how long the commits took.
  /// - Throws: `EngineError`, for example when the file cannot be made.
  func run(path: String) throws -> Outcome {
    var options = Database.Options()
    options.durability = .unsafe
    let database = try Database.open(path: path, options: options)
    let first = try database.beginWrite()
    try first.createTable(
      TableSchema(
        name: "Person",
        columns: [
          ColumnSchema(name: "age", type: .int), ColumnSchema(name: "score", type: .int),
          ColumnSchema(name: "name", type: .string),
        ]))
    func values(_ person: Person) -> [Value] {
      [.int(person.age), .int(person.score), .string(person.name)]
    }
    var pins: [Snapshot] = []
    let clock = ContinuousClock()
    var start = clock.now
    try forEachStep(
      insert: { try first.insert(into: "Person", key: $0, values($1)) },
      loaded: {
        try first.commit()
        start = clock.now
      },
      pin: { _ in pins.append(try database.snapshot()) },
      update: { key, person in
        let write = try database.beginWrite()
        try write.update(in: "Person", key: key, values(person))
        try write.commit()
      })
    let seconds = (clock.now - start) / .seconds(1)
    let figures = database.statistics()
    _ = try database.verify()
    for pin in pins { pin.release() }
    try database.close()
    return Outcome(
      fileSizeBytes: Double(figures.fileSizeBytes),
      contentBytes: Double(figures.contentBytes + figures.pinnedBytes), seconds: seconds)
  }
}

extension Benchmark {
  /// Rows of this file; growth-one-pin has a peer of its own and stands with others of its kind.
  static let growth: [Benchmark] = [
    Benchmark(name: "growth-many-pins/content") { _ in
      let folder = try Scratch.makeDirectory("growth")
      defer { try? FileManager.default.removeItem(at: folder) }
      let outcome = try GrowthWorkload(pinEvery: 10).run(
        path: folder.appending(path: "ours.realm").path)
      return .cost(
        "growth-many-pins/content", ours: outcome.fileSizeBytes, peer: outcome.contentBytes,
        peerName: "bytes that the 1,000 pinned versions reach", unit: "bytes")
    }
  ]
}
