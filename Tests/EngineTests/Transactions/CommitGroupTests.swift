// CommitGroupTests.swift: commits of threads that wait for each other share two syncs.

import Synchronization
import Testing

@testable import Engine

/// A database whose threads group their commits, with a backend that logs.
private struct Grouped {
  let backend: TestBackend
  let database: Database
  let witness = Witness()

  init(_ backend: TestBackend = TestBackend()) throws {
    self.backend = backend
    var options = Database.Options()
    options.groupedCommits = true
    // The clock stands still: on a busy machine a group would be too old for its next member.
    options.coordination.now = { 0 }
    options.coordination.beforePublishStore = { [witness] in if $0 == 0 { witness.look() } }
    database = try Database.open(backend: backend, options: options)
    witness.watch(database)
    if database.version == .first {
      let write = try database.beginWrite()
      try write.createTable(Fixtures.dogs)
      try write.commit()
    }
  }

  /// What a member of a group does, and how it ended.
  enum Member: Sendable {
    case commits(Int)
    case cancels(Int)
    case fails(Int)
  }

  static func run(_ member: Member, in database: Database) throws {
    let write = try database.beginWrite()
    switch member {
    case .commits(let key):
      try write.insert(into: "Dog", key: Int64(key), Fixtures.dog(key))
      try write.commit()
    case .cancels(let key):
      try write.insert(into: "Dog", key: Int64(key), Fixtures.dog(key))
      write.cancel()
    case .fails(let key):
      let rows = Int64(key)..<Int64(key) + 20_000
      for row in rows { try write.insert(into: "Dog", key: row, Fixtures.dog(Int(row))) }
      try write.commit()
    }
  }

  /// Runs members in this order as one group, led by a commit of `leader`.
  /// - Returns: The error code of each, nil for well; the leader is the first.
  func run(leader: Int, _ members: [Member]) throws -> [EngineError.Code?] {
    let codes = Codes()
    let write = try database.beginWrite()
    try write.insert(into: "Dog", key: Int64(leader), Fixtures.dog(leader))
    var threads: [TestThread] = []
    for (index, member) in members.enumerated() {
      let database = database
      threads.append(
        startThread {
          codes.set(index + 1, errorCode { try Self.run(member, in: database) })
        })
      while database.session.writerLock.waiterCount <= index { Syscalls.sleep(milliseconds: 1) }
    }
    codes.set(0, errorCode { try write.commit() })
    for thread in threads { thread.join() }
    return (0...members.count).map { codes.get($0) }
  }

  func keys() throws -> [Int64] {
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    var keys: [Int64] = []
    try snapshot.forEach(in: "Dog") { key, _ in keys.append(key) }
    return keys
  }
}

/// Looks at the writer word when a version is published.
private final class Witness: Sendable {
  private let region = Mutex<SharedRegion?>(nil)
  private let seen = Mutex<[Bool]>([])
  func watch(_ database: Database) { region.withLock { $0 = database.session.region } }
  func look() {
    guard let region = region.withLock({ $0 }) else { return }
    seen.withLock { $0.append(region.load(RegionLayout.writerOffset) != 0) }
  }
  var all: [Bool] { seen.withLock { $0 } }
}

private final class Codes: Sendable {
  private let codes = Mutex<[Int: EngineError.Code]>([:])
  func set(_ index: Int, _ code: EngineError.Code?) { codes.withLock { $0[index] = code } }
  func get(_ index: Int) -> EngineError.Code? { codes.withLock { $0[index] } }
}

@Suite("Commit groups")
struct CommitGroupTests {
  @Test("a group of any size has two syncs and one root slot, and all of its changes")
  func syncs() throws {
    for count in 0...6 {
      let grouped = try Grouped()
      grouped.backend.clearLog()
      let before = grouped.database.version
      let codes = try grouped.run(leader: 0, (0..<count).map { .commits($0 + 1) })
      #expect(codes.allSatisfy { $0 == nil })
      let names = grouped.backend.log.map(\.name)
      #expect(names.count { $0 == "slot" } == 1)
      #expect(names.count { $0 == "sync" } == 2)
      #expect(names.suffix(3) == ["sync", "slot", "sync"])
      #expect(try grouped.keys() == Array(0...Int64(count)))
      // The slot of the current root stays, so the version's parity changes.
      #expect((grouped.database.version.rawValue - before.rawValue) % 2 == 1)
      try grouped.database.verify()
      #expect(try Grouped(TestBackend(grouped.backend.bytes)).keys() == Array(0...Int64(count)))
    }
  }

  @Test("a member that cancels drops its own changes and nobody else's")
  func cancel() throws {
    let grouped = try Grouped()
    grouped.backend.clearLog()
    let codes = try grouped.run(
      leader: 0, [.commits(1), .cancels(2), .commits(3), .cancels(4)])
    #expect(codes.allSatisfy { $0 == nil })
    #expect(try grouped.keys() == [0, 1, 3])
    #expect(grouped.backend.log.count { $0 == .sync } == 2)
    try grouped.database.verify()
  }

  @Test("a member for which the disk has no room fails alone")
  func memberFails() throws {
    let grouped = try Grouped()
    grouped.backend.capacityBytes = grouped.backend.bytes.count
    let codes = try grouped.run(leader: 0, [.commits(1), .commits(3), .fails(100)])
    #expect(codes == [nil, nil, nil, .noSpace])
    // Whoever follows a death in here must know: the member that failed did not end the writing.
    #expect(grouped.witness.all == [true, true], "one for the table, one for the group")
    #expect(try grouped.keys() == [0, 1, 3])
    try grouped.database.verify()
  }

  @Test(
    "a member whose write fails after the file has grown fails alone", arguments: [false, true])
  func memberFailsAfterGrowth(mapsAgain: Bool) throws {
    let grouped = try Grouped()
    grouped.backend.failsWriteAfterGrowth = true
    if !mapsAgain { grouped.backend.failingMap = 1 }
    let codes = try grouped.run(leader: 0, [.commits(1), .fails(100), .commits(3)])
    #expect(codes[2] == .io)
    if mapsAgain {
      #expect(codes == [nil, nil, .io, nil])
      #expect(try grouped.keys() == [0, 1, 3])
      try grouped.database.verify()
    } else {
      // Nobody could read what is staged.
      #expect(errorCode { try grouped.database.beginWrite() } == .poisoned)
    }
  }

  @Test("after a write that failed in a file that had grown and had no mapping, commits are whole")
  func failedMap() throws {
    var test = try TestDatabase()
    try test.put(0..<10)
    test.backend.failsWriteAfterGrowth = true
    test.backend.failingMap = 1
    let old = test.model
    #expect(errorCode { try test.put(100..<20_000) } == .io)
    test.model = old
    for round in 0..<3 {
      try test.put(round * 5..<round * 5 + 1000, round: round)
      try test.check()
    }
  }

  @Test("every commit is announced to those who wait for changes", arguments: [false, true])
  func announced(isGrouped: Bool) throws {
    let grouped = try Grouped()
    let region = grouped.database.session.region
    let watcher = try grouped.database.makeChangeWatcher()
    defer { watcher.cancel() }
    let before = region.load32(RegionLayout.changeCountOffset)
    _ = try grouped.run(leader: 0, isGrouped ? [.commits(1), .commits(2)] : [])
    #expect(region.load32(RegionLayout.changeCountOffset) != before)
  }

  @Test("a failed sync fails every member and poisons the handle", arguments: 0...1)
  func failedSync(number: Int) throws {
    let grouped = try Grouped()
    grouped.backend.failingSync = number
    let codes = try grouped.run(leader: 0, [.commits(1), .commits(2)])
    #expect(codes == [.io, .io, .io])
    #expect(try grouped.keys() == [])
    #expect(errorCode { try grouped.database.beginWrite() } == .poisoned)
  }

  @Test("whatever a crash leaves of a group, all of it is there or nothing")
  func powerCuts() throws {
    var random = TestRandom(3)
    let grouped = try Grouped()
    _ = try grouped.run(leader: 0, [.commits(1), .commits(2)])
    grouped.backend.clearLog()
    let start = grouped.backend.bytes
    _ = try grouped.run(leader: 10, [.commits(11), .cancels(12), .commits(13), .commits(14)])
    var cut = PowerCut()
    cut.apply(.allocate(start.count))
    cut.apply(.write(offset: 0, bytes: start))
    cut.apply(.sync)
    var seen: Set<Int> = []
    for operation in grouped.backend.log {
      cut.apply(operation)
      for image in cut.images(mixtures: 6, random: &random) {
        let found = try Grouped(TestBackend(image))
        let keys = try found.keys()
        #expect(keys == [0, 1, 2] || keys == [0, 1, 2, 10, 11, 13, 14])
        seen.insert(keys.count)
        try found.database.verify()
      }
    }
    #expect(seen == [3, 7])
  }

  @Test("pins taken while groups commit keep their content, and space comes back")
  func pins() throws {
    let grouped = try Grouped()
    _ = try grouped.run(leader: 0, [.commits(1), .commits(2)])
    let snapshot = try grouped.database.snapshot()
    let hash = try snapshot.contentHash()
    for round in 1..<30 {
      _ = try grouped.run(leader: round * 3, [.commits(round * 3 + 1), .commits(round * 3 + 2)])
      #expect(try snapshot.contentHash() == hash)
      try grouped.database.verify()
    }
    snapshot.release()
    let write = try grouped.database.beginWrite()
    try write.delete(from: "Dog", key: 0)
    try write.commit()
    #expect(grouped.database.statistics().pendingBytes < 20 * 4096)
    try grouped.database.verify()
  }

  @Test("a group that has waited long enough takes no new members")
  func age() throws {
    var options = Database.Options()
    options.groupedCommits = true
    let clock = Atomic<UInt64>(0)
    // Each look at the clock is 15 ms later: the leader begins a group, the first member is too
    // late to pass its turn on.
    options.coordination.now = { clock.add(15, ordering: .relaxed).newValue }
    let backend = TestBackend()
    let database = try Database.open(backend: backend, options: options)
    let write = try database.beginWrite()
    try write.createTable(Fixtures.dogs)
    var threads: [TestThread] = []
    for index in 0..<3 {
      threads.append(
        startThread {
          #expect(throws: Never.self) { try Grouped.run(.commits(index), in: database) }
        })
      while database.session.writerLock.waiterCount <= index { Syscalls.sleep(milliseconds: 1) }
    }
    try write.commit()
    for thread in threads { thread.join() }
    #expect(try database.snapshot().count(of: "Dog") == 3)
    let slots = backend.log.map(\.name).count { $0 == "slot" }
    #expect(slots > 2, "creation writes one, and this more than one group")
    try database.verify()
  }

  @Test("without the option each commit has its own syncs")
  func notGrouped() throws {
    let backend = TestBackend()
    var test = try TestDatabase(backend)
    backend.clearLog()
    try test.put([1])
    try test.put([2])
    #expect(backend.log.count { $0 == .sync } == 4)
    try test.check()
  }
}
