// InMemoryTests.swift: databases without a file: shared by name, gone at last close.

import Testing

@testable import Engine

@Suite("In memory")
struct InMemoryTests {
  private static func add(_ database: Database, _ keys: Range<Int>) throws {
    let write = try database.beginWrite()
    if write.tables.isEmpty { try write.createTable(Fixtures.dogs) }
    for key in keys { try write.upsert(into: "Dog", key: Int64(key), Fixtures.dog(key)) }
    try write.commit()
  }

  @Test("opens of one identifier share the content; others do not")
  func shared() throws {
    let first = try Database.open(inMemory: "shared")
    try Self.add(first, 0..<10)
    let second = try Database.open(inMemory: "shared")
    let other = try Database.open(inMemory: "other")
    let snapshot = try second.snapshot()
    #expect(try snapshot.count(of: "Dog") == 10)
    #expect(other.version == .first)
    try Self.add(second, 10..<20)
    #expect(first.version == second.version)
    #expect(try snapshot.count(of: "Dog") == 10)
    snapshot.release()
    try other.verify()
    try first.verify()
    try other.close()
    try second.close()
    try first.close()
  }

  @Test("the content is gone after the last close, and not before")
  func lastClose() throws {
    let first = try Database.open(inMemory: "close")
    let second = try Database.open(inMemory: "close")
    try Self.add(first, 0..<5)
    try first.close()
    #expect(try second.verify().rows == 5)
    try second.close()
    #expect(errorCode { try second.snapshot() } == .closed)
    let third = try Database.open(inMemory: "close")
    #expect(third.version == .first)
    try third.verify()
    try third.close()
  }

  @Test("the content is gone when nothing refers to it any more")
  func lastReference() throws {
    do { try Self.add(try Database.open(inMemory: "dropped"), 0..<5) }
    let again = try Database.open(inMemory: "dropped")
    #expect(again.version == .first)
    try again.close()
  }

  @Test("snapshots outlive growth, shrinking and many commits")
  func grows() throws {
    let database = try Database.open(inMemory: "grows")
    try Self.add(database, 0..<100)
    let snapshot = try database.snapshot()
    let hash = try snapshot.contentHash()
    for round in 1..<10 { try Self.add(database, round * 2000..<(round + 1) * 2000) }
    let large = database.statistics().fileSizeBytes
    #expect(try snapshot.contentHash() == hash)
    let write = try database.beginWrite()
    for key in 2000..<20_000 { try write.delete(from: "Dog", key: Int64(key)) }
    try write.commit()
    for round in 0..<40 { try Self.add(database, round..<round + 1) }
    #expect(database.statistics().fileSizeBytes < large / 2)
    #expect(try snapshot.contentHash() == hash)
    snapshot.release()
    #expect(try database.verify().rows == 100)
    try database.close()
  }

  @Test("statistics name what every byte of the logical file is for")
  func statistics() throws {
    var test = try TestDatabase()
    try test.put(0..<1000)
    let snapshot = try test.database.snapshot()
    try test.put(0..<1000, round: 3)
    try test.put([1])
    let figures = test.database.statistics()
    let report = try test.database.verify()
    #expect(figures.contentBytes == report.reachableBytes)
    #expect(
      figures.contentBytes + figures.freeBytes + figures.pendingBytes + 12_288
        == figures.logicalSizeBytes)
    #expect(figures.pinnedBytes > 0 && figures.pinnedBytes <= figures.pendingBytes)
    #expect(figures.activeVersions.map(\.version) == [snapshot.version, test.database.version])
    #expect(figures.activeVersions.map(\.pins) == [1, 0])
    snapshot.release()
    try test.put([2])
    #expect(test.database.statistics().pinnedBytes == 0)
    try test.check()
  }
}
