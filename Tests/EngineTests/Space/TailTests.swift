// TailTests.swift: [U] space at the end goes back to the file system, nodes move out of an almost
// empty tail, and no reader and no crash notices.

import Glibc
import Testing

@testable import Engine

@Suite("Tail")
struct TailTests {
  private static func truncations(_ backend: TestBackend) -> Int {
    backend.log.filter { $0.name == "truncate" }.count
  }

  /// Rows of 500 bytes, 16 to a leaf.
  private static func wide(_ key: Int) -> [Value] {
    [.int(Int64(key)), .string(String(repeating: "w\(key) ", count: 500 / "w\(key) ".count))]
  }

  private static func put(_ test: inout TestDatabase, _ keys: Range<Int>) throws {
    let write = try test.database.beginWrite()
    for key in keys {
      test.model[Int64(key)] = wide(key)
      try write.upsert(into: "Dog", key: Int64(key), wide(key))
    }
    try write.commit()
  }

  private static func delete(_ test: inout TestDatabase, _ keys: some Sequence<Int>) throws {
    let write = try test.database.beginWrite()
    for key in keys {
      test.model[Int64(key)] = nil
      try write.delete(from: "Dog", key: Int64(key))
    }
    try write.commit()
  }

  @Test("an empty tail is given back after some commits, once")
  func givenBack() throws {
    var test = try TestDatabase()
    try Self.put(&test, 0..<4000)
    let large = test.backend.bytes.count
    try Self.delete(&test, 0..<4000)
    test.backend.clearLog()
    for round in 0..<Layout.shrinkPatience / 2 { try test.put([round]) }
    #expect(Self.truncations(test.backend) == 0)
    for round in 0..<2 * Layout.shrinkPatience { try test.put([round]) }
    #expect(Self.truncations(test.backend) == 1)
    #expect(test.backend.bytes.count < large / 8)
    #expect(test.database.statistics().fileSizeBytes == UInt64(test.backend.bytes.count))
    try test.check()
    var again = try TestDatabase(TestBackend(test.backend.bytes))
    again.model = test.model
    try again.check()
    try Self.put(&again, 0..<3000)
    try again.check()
  }

  @Test("a tail is large when it is more than a quarter of the file")
  func largeTail() throws {
    let test = try TestDatabase()
    let state = test.database.state.withLock { $0.current }
    let unit: UInt64 = 1 << 30
    let logical = VersionState(
      slot: RootSlot(
        version: state.slot.version, top: state.slot.top, logicalSizeBytes: 3 * unit),
      group: state.group, reader: state.reader)
    #expect(unit > 2 * Layout.growthStep(from: 3 * unit))
    for (size, isLarge) in [(4 * unit, false), (4 * unit + 4096, true)] {
      var tail = TailState(logical)
      for _ in 0..<Layout.shrinkPatience { tail.note(logical, fileSizeBytes: size) }
      #expect(tail.isLong == isLarge)
      // Once that it is not, and the patience begins anew.
      tail.note(logical, fileSizeBytes: 3 * unit)
      #expect(!tail.isLong)
    }
  }

  @Test("growing and emptying in turn does not cut the file each time")
  func hysteresis() throws {
    var test = try TestDatabase()
    try Self.put(&test, 0..<2000)
    for cycle in 0..<12 {
      if cycle == 3 { test.backend.clearLog() }
      try Self.delete(&test, 0..<2000)
      for round in 5000..<5004 { try test.put([round]) }
      try Self.put(&test, 0..<2000)
    }
    #expect(Self.truncations(test.backend) == 0)
    #expect(!test.backend.log.contains { $0.name == "allocate" })
    try test.check()
  }

  @Test("the file is not cut below what a pinned version reaches")
  func pinned() throws {
    var test = try TestDatabase()
    try Self.put(&test, 0..<3000)
    let snapshot = try test.database.snapshot()
    let hash = TestDatabase.hash(test.model)
    let end = Int(test.database.statistics().logicalSizeBytes)
    try Self.delete(&test, 0..<3000)
    for round in 0..<3 * Layout.shrinkPatience {
      try test.put([round])
      #expect(test.backend.bytes.count >= end)
    }
    #expect(try snapshot.contentHash() == hash)
    snapshot.release()
    for round in 0..<2 * Layout.shrinkPatience { try test.put([round]) }
    #expect(test.backend.bytes.count < end / 4)
    try test.check()
  }

  @Test("nor below the logical end of a pinned version that reaches little")
  func pinnedEnd() throws {
    // Bytes that nobody honest wrote could lead a reader of that version anywhere before its end.
    var test = try TestDatabase()
    try Self.put(&test, 0..<3000)
    try Self.delete(&test, 0..<3000)
    let snapshot = try test.database.snapshot()
    let end = Int(test.database.statistics().logicalSizeBytes)
    for round in 0..<3 * Layout.shrinkPatience {
      try test.put([round])
      #expect(test.backend.bytes.count >= end)
    }
    #expect(Int(test.database.statistics().logicalSizeBytes) < end / 4)
    #expect(try snapshot.count(of: "Dog") == 0)
    snapshot.release()
    for round in 0..<2 * Layout.shrinkPatience { try test.put([round]) }
    #expect(test.backend.bytes.count < end / 4)
    try test.check()
  }

  @Test("a version between pins may end before and behind the others")
  func pinnedShort() throws {
    // The short version is pinned, grown over, and emptied again: its own end is what counts, and
    // its nodes lie among those of the others.
    var test = try TestDatabase()
    try Self.put(&test, 0..<200)
    var pins = [(try test.database.snapshot(), TestDatabase.hash(test.model))]
    try Self.put(&test, 200..<3000)
    try Self.delete(&test, stride(from: 0, to: 3000, by: 2))
    pins.append((try test.database.snapshot(), TestDatabase.hash(test.model)))
    try Self.delete(&test, stride(from: 1, to: 3000, by: 2))
    for round in 0..<3 * Layout.shrinkPatience { try test.put([round]) }
    for (snapshot, hash) in pins { #expect(try snapshot.contentHash() == hash) }
    pins.remove(at: 1).0.release()
    for round in 0..<3 * Layout.shrinkPatience { try test.put([round]) }
    #expect(try pins[0].0.contentHash() == pins[0].1)
    #expect(Self.truncations(test.backend) >= 1)
    pins[0].0.release()
    try test.check()
  }

  @Test("readers on old mappings of a real file go on while it is cut")
  func realFile() throws {
    try withTemporaryFolder { folder in
      let database = try Database.open(path: folder + "/a.realm")
      let first = try database.beginWrite()
      try first.createTable(Fixtures.dogs)
      for key in 0..<300 { try first.insert(into: "Dog", key: Int64(key), Self.wide(key)) }
      try first.commit()
      let small = try database.snapshot()
      let hash = try small.contentHash()
      let more = try database.beginWrite()
      for key in 300..<4000 { try more.insert(into: "Dog", key: Int64(key), Self.wide(key)) }
      try more.commit()
      let large = database.statistics().fileSizeBytes
      let less = try database.beginWrite()
      for key in 300..<4000 { try less.delete(from: "Dog", key: Int64(key)) }
      try less.commit()
      var pin = try database.snapshot()
      for round in 0..<40 {
        // The version after its release is the first that ends early.
        if round == 10 { pin.release() }
        if round == 13 { pin = try database.snapshot() }
        let write = try database.beginWrite()
        try write.update(in: "Dog", key: Int64(round), Self.wide(round))
        try write.commit()
      }
      var status = stat()
      #expect(unsafe stat(folder + "/a.realm", &status) == 0)
      #expect(UInt64(status.st_size) == database.statistics().fileSizeBytes)
      #expect(UInt64(status.st_size) < large / 4)
      #expect(try small.contentHash() == hash)
      #expect(try pin.contentHash() == hash)
      pin.release()
      small.release()
      try database.verify()
      try database.close()
      try Database.open(path: folder + "/a.realm").verify()
    }
  }

  @Test("a link that leads behind the logical end is an error, not a signal")
  func hostileLink() throws {
    let test = try TestDatabase()
    let reader = test.database.state.withLock { $0.current.reader }
    let end = test.database.statistics().logicalSizeBytes
    #expect(reader.mapping.count > Int(end))
    let link = NodeLink(ref: Ref(offsetBytes: end), checksum: 1)
    #expect(errorCode { try reader.node(link, kind: .leaf, newest: .first) } == .corrupted)
    #expect(reader.bytes.count == Int(end))
    try test.database.verify()
  }

  @Test("crashes while the tail is given back lose nothing")
  func powerCuts() throws {
    let change: (Database, Int) throws -> Void = { database, round in
      let write = try database.beginWrite()
      if write.tables.isEmpty { try write.createTable(Fixtures.dogs) }
      if round == 0 {
        for key in 0..<1000 { try write.insert(into: "Dog", key: Int64(key), Self.wide(key)) }
      } else if try write.row(in: "Dog", key: 999) != nil {
        for key in 0..<1000 { try write.delete(from: "Dog", key: Int64(key)) }
      }
      try write.upsert(into: "Dog", key: 7, Self.wide(round + 5))
      try write.commit()
    }
    for commitProtocol in [CommitProtocol.twoPhase, .checksummed] {
      var options = Database.Options()
      options.commitProtocol = commitProtocol
      var run = PowerCutRun(options: options, change: change)
      try run.record(rounds: Layout.shrinkPatience + 6)
      #expect(run.log.contains { $0.name == "truncate" })
      // The first two commits are of hundreds of sectors, and other tests look into such.
      let (states, findings) = run.explore(mixtures: 1, ackedFrom: 3)
      #expect(findings == [])
      #expect(states > 300)
    }
  }
}

@Suite("Evacuation")
struct EvacuationTests {
  private static func value(_ key: Int, long: Bool) -> [Value] {
    let text = "value \(key) "
    return [
      .int(Int64(key)),
      .string(String(repeating: text, count: (long ? 2500 : 500) / text.count)),
    ]
  }

  /// Rows of which only the last ones stay: a file whose nodes are all in its tail.
  private static func tailOnly(
    long: Bool, options: Database.Options = .init()
  ) throws -> TestDatabase {
    var test = try TestDatabase(options: options)
    let count = long ? 1200 : 8000
    for part in 0..<4 {
      let write = try test.database.beginWrite()
      for key in part * count / 4..<(part + 1) * count / 4 {
        test.model[Int64(key)] = value(key, long: long)
        try write.insert(into: "Dog", key: Int64(key), value(key, long: long))
      }
      try write.commit()
    }
    let write = try test.database.beginWrite()
    for key in 0..<count * 17 / 20 {
      test.model[Int64(key)] = nil
      try write.delete(from: "Dog", key: Int64(key))
    }
    try write.commit()
    return test
  }

  private static func touch(_ test: inout TestDatabase, _ round: Int) throws {
    let key = Int64(1_000_000 + round % 3)
    test.model[key] = Fixtures.dog(round)
    let write = try test.database.beginWrite()
    try write.upsert(into: "Dog", key: key, Fixtures.dog(round))
    try write.commit()
  }

  @Test("commits that change nothing move nodes, too, below nodes that stay")
  func emptyCommits() throws {
    var test = try Self.tailOnly(long: false)
    let large = test.backend.bytes.count
    for round in 0..<60 {
      try test.database.beginWrite().commit()
      if round < 20 { try test.check() }
    }
    try test.check()
    #expect(test.backend.bytes.count < large / 3)
    try Self.touch(&test, 1)
    try test.check()
  }

  @Test("nodes move out of the tail, a bounded number per commit", arguments: [false, true])
  func moves(_ long: Bool) throws {
    var test = try Self.tailOnly(long: long)
    let large = test.backend.bytes.count
    #expect(large > 3 << 20)
    test.backend.logs = false
    for round in 0..<120 {
      let before = test.backend.writtenBytes
      try Self.touch(&test, round)
      #expect(test.backend.writtenBytes - before < 100 * 4096)
      if round % 10 == 0 { try test.check() }
    }
    try test.check()
    let content = Int(test.database.statistics().contentBytes)
    #expect(test.backend.bytes.count < large / 3)
    #expect(test.backend.bytes.count < content * 3 / 2 + (512 << 10))
    var again = try TestDatabase(TestBackend(test.backend.bytes))
    again.model = test.model
    try again.check()
  }

  @Test("a file that is in order is left alone")
  func rests() throws {
    var test = try Self.tailOnly(long: false)
    test.backend.logs = false
    for round in 0..<150 { try Self.touch(&test, round) }
    let before = test.backend.writtenBytes
    for round in 0..<50 { try Self.touch(&test, round) }
    #expect(test.backend.writtenBytes - before < 50 * 12 * 4096)
    try test.check()
  }

  @Test("a snapshot of the full file stays as it is while nodes move")
  func pinned() throws {
    var test = try Self.tailOnly(long: true)
    let snapshot = try test.database.snapshot()
    let hash = TestDatabase.hash(test.model)
    for round in 0..<60 { try Self.touch(&test, round) }
    #expect(try snapshot.contentHash() == hash)
    try test.check()
    snapshot.release()
    for round in 0..<80 { try Self.touch(&test, round) }
    try test.check()
    let content = Int(test.database.statistics().contentBytes)
    #expect(test.backend.bytes.count < content * 3 / 2 + (512 << 10))
  }

  @Test("a failed sync while nodes move poisons as ever, and a reopen finds a whole version")
  func failedSync() throws {
    for sync in 0..<2 {
      var test = try Self.tailOnly(long: true, options: PatchedStore.writingNodes)
      for round in 0..<3 { try Self.touch(&test, round) }
      let model = test.model
      test.backend.failingSync = sync
      #expect(errorCode { try Self.touch(&test, 9) } == .io)
      #expect(errorCode { try test.database.beginWrite() } == .poisoned)
      var again = try TestDatabase(TestBackend(test.backend.bytes))
      again.model = sync == 0 ? model : test.model
      try again.check()
      for round in 0..<100 { try Self.touch(&again, round) }
      try again.check()
    }
  }

  @Test("damage behind the walk is not the commit's error")
  func damage() throws {
    var test = try Self.tailOnly(long: false)
    var bytes = test.backend.bytes
    // A leaf in the middle, which no commit here changes.
    let leaves = FileInspection.inspect(try test.backend.map()).spaceMap.filter {
      $0.use == SectorUse.node(SectorUse.NodeUse.leaf)
    }
    let leaf = Int(leaves[leaves.count / 2].offsetBytes)
    bytes[leaf + 3000] ^= 1
    var again = try TestDatabase(TestBackend(bytes))
    again.model = test.model
    for round in 0..<50 { try Self.touch(&again, round) }
    for round in 0..<5 { try Self.touch(&test, round) }
    try test.check()
  }

  @Test("crashes while nodes move lose nothing")
  func powerCuts() throws {
    let change: (Database, Int) throws -> Void = { database, round in
      let write = try database.beginWrite()
      if write.tables.isEmpty { try write.createTable(Fixtures.dogs) }
      if round == 0 {
        for key in 0..<700 {
          try write.insert(into: "Dog", key: Int64(key), Self.value(key, long: true))
        }
      } else if try write.row(in: "Dog", key: 1) != nil {
        for key in 0..<600 { try write.delete(from: "Dog", key: Int64(key)) }
      }
      try write.upsert(into: "Dog", key: 1000, Fixtures.dog(round))
      try write.commit()
    }
    for commitProtocol in [CommitProtocol.twoPhase, .checksummed] {
      var options = Database.Options()
      options.commitProtocol = commitProtocol
      var run = PowerCutRun(options: options, change: change)
      try run.record(rounds: 7)
      let moving = run.log.filter { operation in
        if case .write(_, let bytes) = operation { bytes.count > 0 } else { false }
      }
      #expect(moving.count > 20)
      let (states, findings) = run.explore(mixtures: 2, ackedFrom: 3, sectorStep: 17)
      #expect(findings == [])
      #expect(states > 100)
    }
  }
}

@Suite("Evacuation of all kinds of nodes")
struct EvacuationKindTests {
  private static let schema = TableSchema(
    name: "All",
    columns: [
      ColumnSchema(name: "number", type: .int, isIndexed: true),
      ColumnSchema(name: "name", type: .string, isIndexed: true),
      ColumnSchema(name: "list", type: .int, collection: .list),
      ColumnSchema(name: "words", type: .string, collection: .list),
    ])

  private static func values(_ key: Int) -> [Value] {
    let words = (0..<6).map { Value.string(String(repeating: "word \(key) ", count: 120 + $0)) }
    return [
      .int(Int64(key * 37 % 1009)), .string(String(repeating: "n\(key)", count: 200)),
      .list((0..<900).map { .int(Int64($0 * key)) }), .list(words),
    ]
  }

  @Test(
    "indexes, collections and long values move like the rest",
    arguments: [nil, [UInt8](repeating: 7, count: 64)])
  func moves(_ key: [UInt8]?) throws {
    var options = Database.Options()
    options.encryptionKey = key
    let backend = TestBackend()
    backend.logs = false
    let database = try Database.open(backend: backend, options: options)
    let first = try database.beginWrite()
    try first.createTable(Self.schema)
    try first.commit()
    for part in 0..<4 {
      let write = try database.beginWrite()
      for row in part * 60..<(part + 1) * 60 {
        try write.insert(into: "All", key: Int64(row), Self.values(row))
      }
      try write.commit()
    }
    let large = backend.bytes.count
    let write = try database.beginWrite()
    for row in 0..<200 { try write.delete(from: "All", key: Int64(row)) }
    try write.commit()
    let hash = try PowerCutRun.content(database)
    let pin = try database.snapshot()
    // Some commits change nothing, some a row, so that trees are walked stored and in memory.
    for round in 0..<120 {
      let write = try database.beginWrite()
      if round % 3 == 1 { try write.update(in: "All", key: 239, Self.values(239)) }
      if round % 3 == 2 { try write.update(in: "All", key: 200, Self.values(200)) }
      try write.commit()
      if round == 40 {
        #expect(try pin.contentHash() == hash)
        pin.release()
      }
      if round % 10 == 0 {
        try database.verify()
        #expect(try PowerCutRun.content(database) == hash)
      }
    }
    #expect(try database.verify().rows == 40)
    let content = Int(database.statistics().contentBytes)
    #expect(backend.bytes.count < content * 3 / 2 + (512 << 10))
    #expect(backend.bytes.count < large / 2)
    let snapshot = try database.snapshot()
    #expect(try snapshot.keys(in: "All", column: "number", equalTo: .int(210 * 37 % 1009)) == [210])
    snapshot.release()
    let again = try Database.open(backend: TestBackend(backend.bytes), options: options)
    #expect(try PowerCutRun.content(again) == hash)
    try again.verify()
  }
}
