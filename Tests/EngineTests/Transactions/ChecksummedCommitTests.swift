// ChecksummedCommitTests.swift: commits of one sync: their calls, what crashes leave of them, and
// when they take two syncs all the same.

import Synchronization
import Testing

@testable import Engine

@Suite("Checksummed commits")
struct ChecksummedCommitTests {
  private static var options: Database.Options {
    var options = Database.Options()
    options.commitProtocol = .checksummed
    return options
  }

  private static func database(
    _ backend: TestBackend = TestBackend(), commits: Int = 3
  ) throws -> TestDatabase {
    var test = try TestDatabase(backend, options: options)
    for round in 0..<commits { try test.put(0..<40, round: round) }
    return test
  }

  private static func flags(_ database: Database) -> RootSlot.Flags {
    database.state.withLock { $0.current.slot.flags }
  }

  /// What a backend did, but for writes of nodes.
  private static func steps(_ backend: TestBackend) -> [String] {
    backend.log.map { $0.name }.filter { $0 != "nodes" }
  }

  @Test("the first commit of a handle has two syncs, the others one, behind nodes and slot")
  func oneSync() throws {
    var test = try Self.database(commits: 2)
    for round in 0..<10 {
      test.backend.clearLog()
      try test.put([round], round: 5)
      #expect(Self.steps(test.backend) == ["slot", "sync"])
    }
    try test.check()
    var again = try TestDatabase(TestBackend(test.backend.bytes), options: Self.options)
    again.model = test.model
    again.backend.clearLog()
    try again.put([3], round: 9)
    #expect(Self.steps(again.backend) == ["sync", "slot", "sync"])
    again.backend.clearLog()
    try again.put([4], round: 9)
    #expect(Self.steps(again.backend) == ["slot", "sync"])
    try again.check()
  }

  @Test("a commit of many nodes, or of many bytes, has two syncs")
  func largeCommits() throws {
    var test = try Self.database()
    try test.put(0..<3000)
    #expect(Self.flags(test.database) == .checksummed)
    let write = try test.database.beginWrite()
    for key in 0..<Layout.freshLinkCountMax + 10 {
      let text = String(repeating: "x", count: 600)
      test.model[Int64(key)] = [.int(1), .string(text)]
      try write.upsert(into: "Dog", key: Int64(key), [.int(1), .string(text)])
    }
    try write.commit()
    #expect(Self.flags(test.database) == [])
    try test.put([5], round: 3)
    #expect(Self.flags(test.database) == .checksummed)
    let large = try test.database.beginWrite()
    let text = String(repeating: "y", count: 9 << 20)
    test.model[7] = [.int(1), .string(text)]
    try large.upsert(into: "Dog", key: 7, [.int(1), .string(text)])
    try large.commit()
    #expect(Self.flags(test.database) == [])
    try test.check()
  }

  @Test("after a crash at any operation the version is the acked one or the one in flight")
  func crashAnywhere() throws {
    var run = PowerCutRun(options: Self.options)
    try run.record(rounds: 9)
    let (states, findings) = run.explore()
    #expect(findings == [])
    #expect(states > 1000)
  }

  @Test("a second crash never brings back what recovery refused")
  func crashTwice() throws {
    var run = PowerCutRun(options: Self.options)
    try run.record(rounds: 4)
    let (states, findings) = try run.exploreTwice(every: 30)
    #expect(findings == [])
    #expect(states > 200)
  }

  @Test("what a killed writer left in the cache is made durable before it is built upon")
  func killed() throws {
    var run = PowerCutRun(options: Self.options)
    try run.record(rounds: 4)
    let (states, findings) = try run.exploreKills()
    #expect(findings == [])
    #expect(states > 500)
  }

  @Test("the crash test catches a commit that ends without its sync")
  func plantedBug() throws {
    var run = PowerCutRun(options: Self.options)
    try run.record(.secondSyncMissing, rounds: 5)
    #expect(!run.explore().findings.isEmpty)
  }

  @Test("each sector of fresh nodes that alone did not arrive brings the version before it back")
  func lostNodes() throws {
    var test = try Self.database()
    let before = test.backend.bytes
    let old = (test.database.version, TestDatabase.hash(test.model))
    test.backend.clearLog()
    try test.put([1, 30], round: 77)
    var sectors = 0
    for case .write(let offset, let bytes) in test.backend.log where offset >= 12_288 {
      for sector in stride(from: offset, to: offset + bytes.count, by: 4096) {
        var image = test.backend.bytes
        image.replaceSubrange(sector..<sector + 4096, with: before[sector..<sector + 4096])
        let database = try Database.open(backend: TestBackend(image), options: Self.options)
        #expect(database.version == old.0)
        #expect(try PowerCutRun.content(database) == old.1)
        try database.verify()
        sectors += 1
      }
    }
    #expect(sectors >= 3)
    try test.check()
  }

  @Test("a refused slot is cleared before the next commit writes a node")
  func staleSlot() throws {
    var test = try Self.database()
    let old = test.model
    let before = test.backend.bytes
    test.backend.clearLog()
    try test.put([1, 30], round: 77)
    guard case .write(let offset, _) = test.backend.log[0] else { return }
    var image = test.backend.bytes
    image.replaceSubrange(offset..<offset + 4096, with: before[offset..<offset + 4096])
    var again = try TestDatabase(TestBackend(image), options: Self.options)
    again.model = old
    again.backend.clearLog()
    try again.put([2], round: 5)
    #expect(Array(again.backend.log.map(\.name).prefix(2)) == ["slot", "sync"])
    let slot = Layout.slotOffsetsBytes[Int(again.database.version.rawValue % 2)]
    #expect(
      again.backend.log[0] == .write(offset: slot, bytes: [UInt8](repeating: 0, count: 4096)))
    try again.check()
    again.backend.clearLog()
    try again.put([3], round: 5)
    #expect(Self.steps(again.backend) == ["slot", "sync"])
    try again.check()
  }

  @Test("a file goes from one protocol to the other and back")
  func bothProtocols() throws {
    let test = try TestDatabase()
    var model = test.model
    var bytes = test.backend.bytes
    for round in 0..<8 {
      var options = Database.Options()
      options.commitProtocol = round % 2 == 0 ? .checksummed : .twoPhase
      options.editsInSlots = false
      var again = try TestDatabase(TestBackend(bytes), options: options)
      again.model = model
      for step in 0..<3 { try again.put([round, step, 50 + step], round: round) }
      try again.check()
      #expect(Self.flags(again.database) == (round % 2 == 0 ? .checksummed : []))
      model = again.model
      bytes = again.backend.bytes
    }
  }

  @Test("when there is no whole version before the refused one, that is corruption")
  func nothingToGoBackTo() throws {
    let test = try Self.database()
    var bytes = test.backend.bytes
    let (newest, top) = test.database.state.withLock { ($0.current.version, $0.current.slot.top) }
    bytes[Int(top.ref.offsetBytes) + 60] ^= 1
    let older = Layout.slotOffsetsBytes[Int(newest.next.rawValue % 2)]
    for index in older..<older + 4096 { bytes[index] = 0xee }
    #expect(errorCode { try Database.open(backend: TestBackend(bytes)) } == .corrupted)
    try test.check()
  }
}

@Suite("Checksummed commits of many")
struct SharedChecksummedCommitTests {
  /// Which of a handle's commits synced their nodes before the slot.
  private final class Syncs: Sendable {
    private let count = Mutex(0)

    var options: Database.Options {
      var options = Database.Options()
      options.commitProtocol = .checksummed
      options.failpoint = Failpoint { (step) throws(EngineError) in
        if step == .syncNodes { self.count.withLock { $0 += 1 } }
      }
      return options
    }

    func take() -> Int {
      count.withLock { count in
        defer { count = 0 }
        return count
      }
    }
  }

  private static func put(_ database: Database, _ key: Int) throws {
    let write = try database.beginWrite()
    if write.tables.isEmpty { try write.createTable(Fixtures.dogs) }
    try write.upsert(into: "Dog", key: Int64(key), Fixtures.dog(key))
    try write.commit()
  }

  @Test("any handle may use one sync when the newest version is durable, whoever made it")
  func handles() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.realm"
      let (first, second) = (Syncs(), Syncs())
      let one = try Database.open(path: path, options: first.options)
      try Self.put(one, 1)
      #expect(first.take() == 1)
      try Self.put(one, 2)
      #expect(first.take() == 0)
      let two = try Database.open(path: path, options: second.options)
      try Self.put(two, 3)
      #expect(second.take() == 0)
      try Self.put(one, 4)
      #expect(first.take() == 0)
      // A commit without durability: the next one makes it durable before it builds on it.
      var options = Database.Options()
      options.durability = .unsafe
      let careless = try Database.open(path: path, options: options)
      try Self.put(careless, 5)
      try Self.put(two, 6)
      #expect(second.take() == 1)
      try Self.put(two, 7)
      #expect(second.take() == 0)
      #expect(try one.verify().rows == 7)
      for database in [one, two, careless] { try database.close() }
      let again = try Database.open(path: path, options: first.options)
      #expect(try again.verify().rows == 7)
      try Self.put(again, 8)
      #expect(first.take() == 1)
      try again.close()
    }
  }
}
