// PowerCutRun.swift: a run of commits over the crash model, and what every crash state of it must
// keep: the acknowledged version or the one in flight, whole, and a database that goes on from
// there.

@testable import Engine

/// A log of operations and what was promised during it.
struct PowerCutRun {
  var log: [TestOperation] = []
  /// Contents that a version may have.
  var contents: [UInt64: UInt64] = [:]
  /// Length of the log when each version was acked.
  var acks: [(logCount: Int, version: UInt64)] = []
  var options = Database.Options()
  var change: (Database, Int) throws -> Void = PowerCutRun.mixedChange

  init(
    options: Database.Options = .init(),
    change: @escaping (Database, Int) throws -> Void = PowerCutRun.mixedChange
  ) {
    self.options = options
    self.change = change
  }

  /// Updates, long strings, and a growing commit.
  static func mixedChange(_ database: Database, _ round: Int) throws {
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

  static func content(_ database: Database) throws -> UInt64 {
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    return try snapshot.contentHash()
  }

  /// Commits the rounds on a new database and notes what was acknowledged when.
  mutating func record(_ bug: PlantedBug = .none, rounds: Int) throws {
    let backend = TestBackend()
    backend.bug = bug
    let database = try Database.open(backend: backend, options: options)
    contents[1] = try Self.content(database)
    acks.append((backend.log.count, 1))
    backend.isBugActive = true
    for round in 0..<rounds {
      try change(database, round)
      contents[database.version.rawValue] = try Self.content(database)
      acks.append((backend.log.count, database.version.rawValue))
    }
    try database.verify()
    log = backend.log
  }

  private func acked(at point: Int) -> UInt64 {
    acks.last { $0.logCount <= point }?.version ?? 0
  }

  /// The broken promises of all crash states, as text; stops at the tenth.
  /// - Parameters:
  ///   - mixtures: Random states per operation.
  ///   - start: The medium before the first operation.
  ///   - reach: Versions that may be in flight.
  ///   - first: Crashes begin when this version is acked.
  ///   - sectorStep: Of the sectors in flight, each so many-th is lost or kept alone.
  /// - Returns: How many states were looked at, and what was wrong.
  func explore(
    mixtures: Int = 12, from start: PowerCut = PowerCut(), reach: UInt64 = 1,
    ackedFrom first: UInt64 = 0, sectorStep: Int = 1
  ) -> (states: Int, findings: [String]) {
    var random = TestRandom(20_261)
    var cut = start
    var states = 0
    var findings: [String] = []
    for point in 0...log.count where findings.count < 10 {
      if point > 0 { cut.apply(log[point - 1]) }
      guard acked(at: point) >= first else { continue }
      let images = cut.images(mixtures: mixtures, random: &random, sectorStep: sectorStep)
      for image in images {
        states += 1
        if let finding = check(image, acked: acked(at: point), reach: reach) {
          findings.append("crash after operation \(point): \(finding)")
        }
      }
    }
    return (states, findings)
  }

  private func check(_ image: [UInt8], acked: UInt64, reach: UInt64) -> String? {
    do {
      let database = try Database.open(backend: TestBackend(image), options: options)
      let version = database.version.rawValue
      guard version >= max(1, acked), version <= max(1, acked + reach) else {
        return "version \(version), acked \(acked)"
      }
      guard contents[version] == (try Self.content(database)) else {
        return "version \(version) has other content"
      }
      try database.verify()
      try change(database, version == 1 ? 0 : 1)
      try database.verify()
      return nil
    } catch { return "\(error)" }
  }
}

extension PowerCutRun {
  /// Power goes, the database is opened and commits, and power goes again; of the crash states
  /// every `step`-th.
  func exploreTwice(every step: Int) throws -> (states: Int, findings: [String]) {
    var random = TestRandom(20_262)
    var cut = PowerCut()
    var count = 0
    var states = 0
    var findings: [String] = []
    for point in 0...log.count where findings.count < 10 {
      if point > 0 { cut.apply(log[point - 1]) }
      for image in cut.images(mixtures: 4, random: &random) {
        count += 1
        guard count % step == 0, acked(at: point) >= 2 else { continue }
        let medium = PowerCut(image)
        let (found, wrong) = try next(after: image, acked: 0).explore(mixtures: 2, from: medium)
        states += found
        findings += wrong.map { "crash after operation \(point), then \($0)" }
      }
    }
    return (states, findings)
  }

  /// The writer is killed after each operation, so that the cache has everything and the medium
  /// what was synced; another process commits; and power goes.
  func exploreKills() throws -> (states: Int, findings: [String]) {
    var cut = PowerCut()
    var cache: [UInt8] = []
    var states = 0
    var findings: [String] = []
    for point in 0..<log.count where findings.count < 10 {
      cut.apply(log[point])
      cache = PowerCut.applied(log[point], to: cache)
      let acked = acked(at: point + 1)
      guard acked >= 2 else { continue }
      let (found, wrong) = try next(after: cache, acked: acked).explore(
        mixtures: 2, from: cut, reach: 2)
      states += found
      findings += wrong.map { "killed after operation \(point + 1), then \($0)" }
    }
    return (states, findings)
  }

  /// A run that opens an image and commits once; `acked` is what the run before promised, or 0 for
  /// what recovery finds in the image.
  private func next(after image: [UInt8], acked: UInt64) throws -> PowerCutRun {
    var again = PowerCutRun(options: options, change: change)
    let backend = TestBackend(image)
    let database = try Database.open(backend: backend, options: options)
    let base = database.version.rawValue
    again.contents = contents
    // What recovery found is what that version is from now on, and the next one is a new one.
    again.contents[base] = try Self.content(database)
    try change(database, base == 1 ? 0 : 1)
    again.contents[base + 1] = try Self.content(database)
    again.log = backend.log
    again.acks = [(0, acked == 0 ? base : acked), (backend.log.count, base + 1)]
    return again
  }
}
