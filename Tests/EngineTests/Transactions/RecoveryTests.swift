// RecoveryTests.swift: torn slots, damaged bytes, and files that are something else.

import Testing

@testable import Engine

@Suite("Recovery")
struct RecoveryTests {
  /// A database of two versions with rows, whose newest version is in slot `version % 2`.
  private static func image(commits: Int = 2) throws -> (bytes: [UInt8], test: TestDatabase) {
    var test = try TestDatabase()
    for round in 0..<commits { try test.put(0..<40, round: round) }
    try test.check()
    return (test.backend.bytes, test)
  }

  private static func content(_ bytes: [UInt8]) throws -> (Version, UInt64) {
    let database = try Database.open(backend: TestBackend(bytes))
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    let hash = try snapshot.contentHash()
    if !snapshot.tables.isEmpty { _ = try snapshot.row(in: snapshot.tables[0].name, key: 7) }
    try database.verify()
    return (snapshot.version, hash)
  }

  @Test("a torn newest slot falls back to the version before it", arguments: [2, 3])
  func tornSlot(_ commits: Int) throws {
    var (bytes, test) = try Self.image(commits: commits)
    let newest = test.database.version
    let start = Layout.slotOffsetsBytes[Int(newest.rawValue % 2)]
    for index in 0..<4096 { bytes[start + index] = UInt8(truncatingIfNeeded: index &* 31) }
    let (version, hash) = try Self.content(bytes)
    #expect(version.rawValue == newest.rawValue - 1)
    var older: [Int64: [Value]] = [:]
    for key in 0..<40 { older[Int64(key)] = Fixtures.dog(key + commits - 2) }
    #expect(hash == TestDatabase.hash(older))
    // The next commit goes to the torn slot and is found again.
    var again = try TestDatabase(TestBackend(bytes))
    again.model = older
    try again.put([3], round: 9)
    try again.check()
    #expect(again.database.version == newest)
    #expect(try Self.content(again.backend.bytes).0 == newest)
  }

  @Test("one whole copy of a slot is enough", arguments: [0, 1])
  func oneCopy(_ copy: Int) throws {
    var (bytes, test) = try Self.image()
    let start = Layout.slotOffsetsBytes[Int(test.database.version.rawValue % 2)] + copy * 2048
    for index in 0..<96 { bytes[start + index] = 0xff }
    #expect(try Self.content(bytes).0 == test.database.version)
  }

  @Test("a slot torn between its copies is the newer one, in either place", arguments: [0, 1])
  func copiesDiffer(_ older: Int) throws {
    let (before, _) = try Self.image(commits: 2)
    var (bytes, test) = try Self.image(commits: 4)
    let newest = test.database.version
    let start = Layout.slotOffsetsBytes[Int(newest.rawValue % 2)] + older * 2048
    bytes.replaceSubrange(start..<start + 2048, with: before[start..<start + 2048])
    #expect(try Self.content(bytes).0 == newest)
  }

  @Test("two unusable slots are corruption, not an empty database")
  func bothSlots() throws {
    var (bytes, _) = try Self.image()
    for start in Layout.slotOffsetsBytes {
      bytes[start + 3] ^= 1
      bytes[start + 2051] ^= 1
    }
    #expect(errorCode { try Self.content(bytes) } == .corrupted)
    for index in 4096..<12_288 { bytes[index] = 0 }
    #expect(errorCode { try Self.content(bytes) } == .corrupted)
  }

  @Test("a valid newest slot with a damaged top node is corruption, never older data")
  func damagedTop() throws {
    var (bytes, test) = try Self.image()
    let top = test.database.state.withLock { $0.current.slot.top.ref }
    bytes[Int(top.offsetBytes) + 50] ^= 4
    #expect(errorCode { try Self.content(bytes) } == .corrupted)
  }

  @Test("any flipped byte is an error or changes nothing")
  func flippedBytes() throws {
    let (bytes, test) = try Self.image()
    let expected = (test.database.version, TestDatabase.hash(test.model))
    var errors = 0
    for index in bytes.indices {
      // Stretches of zeros are sampled; everything else is flipped byte by byte.
      if bytes[index / 128 * 128..<index / 128 * 128 + 128].allSatisfy({ $0 == 0 }),
        index % 61 != 0
      {
        continue
      }
      var flipped = bytes
      flipped[index] ^= UInt8(1 << (index % 8))
      do {
        let found = try Self.content(flipped)
        if found != expected { Issue.record("byte \(index): other content") }
      } catch is EngineError { errors += 1 }
    }
    #expect(errors > 500)
  }

  @Test("reading without verify notices a damaged leaf, too")
  func readNotices() throws {
    var (bytes, test) = try Self.image()
    let root = test.database.state.withLock { $0.current.group.tables[0].root.ref }
    bytes[Int(root.offsetBytes) + 200] ^= 1
    let database = try Database.open(backend: TestBackend(bytes))
    let snapshot = try database.snapshot()
    #expect(errorCode { try snapshot.row(in: "Dog", key: 1) } == .corrupted)
    #expect(errorCode { try snapshot.contentHash() } == .corrupted)
    #expect(errorCode { try database.verify() } == .corrupted)
    let write = try database.beginWrite()
    #expect(errorCode { try write.upsert(into: "Dog", key: 1, Fixtures.dog(1)) } == .corrupted)
    #expect(errorCode { try write.commit() } == .corrupted)
  }

  @Test("a stale node at the right place is noticed")
  func staleNode() throws {
    // A lost write: the node of the newest version never arrived, and an older, whole node of the
    // same place is still there.
    var options = Database.Options()
    options.editsInSlots = false
    var test = try TestDatabase(options: options)
    for round in 0..<6 { try test.put(0..<40, round: round) }
    var images: [[UInt8]] = []
    for round in 6..<16 {
      try test.put(0..<40, round: round)
      images.append(test.backend.bytes)
    }
    let root = test.database.state.withLock { Int($0.current.group.tables[0].root.ref.offsetBytes) }
    var newest = try #require(images.last)
    let older = try #require(
      images.dropLast().last {
        $0[root + 28] == NodeKind.leaf.rawValue && $0[root..<root + 8] != newest[root..<root + 8]
      })
    newest.replaceSubrange(root..<root + 8192, with: older[root..<root + 8192])
    #expect(errorCode { try Self.content(newest) } == .corrupted)
  }

  @Test("truncated files are errors")
  func truncated() throws {
    let (bytes, _) = try Self.image()
    for size in stride(from: 512, to: bytes.count, by: 1536) {
      let code = errorCode { try Self.content(Array(bytes[..<size])) }
      // Only space behind the logical end may be missing.
      #expect(
        code == .truncated || code == .notADatabase || size >= 12_288 + 4 * 4096)
    }
  }

  @Test("garbage and text are not databases")
  func garbage() throws {
    var random = TestRandom(7)
    for size in [1, 64, 4096, 12_287, 12_288, 65_536, 100_000] {
      let bytes = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(errorCode { try Self.content(bytes) } == .notADatabase)
    }
    #expect(errorCode { try Self.content(Array("hello".utf8)) } == .notADatabase)
  }

  @Test("an older and a newer format are refused by name", arguments: [1, 5])
  func otherFormat(_ number: UInt8) throws {
    var (bytes, _) = try Self.image()
    bytes[16] = number
    let record = Array(bytes[16..<64])
    let sum = RawBytes.over(record) { Checksum.of($0) }
    for index in 0..<8 { bytes[8 + index] = UInt8(truncatingIfNeeded: sum >> UInt64(8 * index)) }
    #expect(errorCode { try Self.content(bytes) } == .unsupportedFormat)
  }

  @Test("the table of recovery has an action for every pair of slots")
  func table() {
    #expect(RecoveryTable.action(.valid, .valid) == .useNewer)
    for other in [SlotState.invalid, .empty] {
      #expect(RecoveryTable.action(.valid, other) == .useSlot0)
      #expect(RecoveryTable.action(other, .valid) == .useSlot1)
      #expect(RecoveryTable.action(.invalid, other) == .reportCorruption)
      #expect(RecoveryTable.action(.empty, other) == .recogniseCreation)
    }
  }
}
