// PinTests.swift: what pins keep, and that everything else is used again.

import Testing

@testable import Engine

@Suite("Pins and space")
struct PinTests {
  @Test("updates without pins make the file grow by one step at most")
  func noGrowth() throws {
    var test = try TestDatabase()
    try test.put(0..<500)
    for round in 0..<2000 { try test.put([round % 500], round: round) }
    let size = test.backend.bytes.count
    #expect(size <= 2 * Int(Layout.growthBytesMin))
    for round in 2000..<4000 { try test.put([round % 500], round: round) }
    #expect(test.backend.bytes.count == size)
    try test.check()
  }

  @Test("a snapshot stays the same while its neighbours' space is used again")
  func snapshotStays() throws {
    var test = try TestDatabase()
    try test.put(0..<300)
    let snapshot = try test.database.snapshot()
    let hash = TestDatabase.hash(test.model)
    for round in 0..<300 {
      try test.put([round % 300, (round * 7) % 300], round: round)
      if round % 50 == 0 {
        #expect(try snapshot.contentHash() == hash)
        #expect(try snapshot.row(in: "Dog", key: 5) == Fixtures.dog(5))
        try test.check()
      }
    }
    #expect(test.database.statistics().pinnedVersions == [snapshot.version])
    #expect(errorCode { try test.database.close() } == .busy)
    snapshot.release()
    snapshot.release()
    try test.check()
    try test.database.close()
    #expect(errorCode { try test.database.snapshot() } == .closed)
  }

  @Test("space used only by versions between the pins is used again")
  func betweenPins() throws {
    var test = try TestDatabase()
    try test.put(0..<300)
    var pins = [try test.database.snapshot()]
    for round in 0..<5 { try test.put([round]) }
    pins.append(try test.database.snapshot())
    for round in 0..<20 { try test.put([round], round: round) }
    let size = test.backend.bytes.count
    for round in 0..<3000 { try test.put([round % 300], round: round) }
    #expect(test.backend.bytes.count <= size + 65_536)
    for pin in pins { _ = try pin.contentHash() }
    try test.check()
    for pin in pins { pin.release() }
    try test.put([1])
    #expect(test.database.statistics().pendingBytes < 65_536)
    try test.check()
  }

  @Test("a mapping outlives the growth of its file")
  func growth() throws {
    var test = try TestDatabase()
    try test.put(0..<100)
    let snapshot = try test.database.snapshot()
    let hash = TestDatabase.hash(test.model)
    for round in 1..<6 { try test.put(round * 5000..<(round + 1) * 5000) }
    #expect(try snapshot.contentHash() == hash)
    snapshot.release()
    try test.check()
  }

  @Test("the first commit after an open keeps the version that the medium may fall back to")
  func fallbackIsKept() throws {
    // Killed between root slot and second sync: the newest slot is in the cache only. Until a sync
    // has succeeded, a power cut brings the version before it back, so its nodes must be whole.
    var test = try TestDatabase()
    for round in 0..<4 { try test.put(0..<100, round: round) }
    let before = test.backend.bytes
    let model = test.model
    try test.put(0..<100, round: 9)
    let newest = Int(test.database.version.rawValue % 2)
    var again = try TestDatabase(TestBackend(test.backend.bytes))
    again.model = test.model
    again.backend.clearLog()
    try again.put([5], round: 77)
    // Power cut before the first sync: nodes arrived, the newest slot never did.
    var image = test.backend.bytes
    let slot = Layout.slotOffsetsBytes[newest]
    image.replaceSubrange(slot..<slot + 4096, with: before[slot..<slot + 4096])
    for operation in again.backend.log {
      if operation == .sync { break }
      if case .write(let offset, let bytes) = operation {
        if offset + bytes.count > image.count {
          image += [UInt8](repeating: 0, count: offset + bytes.count - image.count)
        }
        image.replaceSubrange(offset..<offset + bytes.count, with: bytes)
      }
    }
    var old = try TestDatabase(TestBackend(image))
    old.model = model
    try old.check()
    try again.check()
  }
}

@Suite("E1")
struct LiveSectorTests {
  private static func sectors(
    _ inspection: FileInspection, where isWanted: (SectorUse) -> Bool
  ) -> Set<UInt64> {
    var sectors: Set<UInt64> = []
    for run in inspection.spaceMap where isWanted(run.use) {
      sectors.formUnion(run.offsetBytes / 4096..<(run.offsetBytes + run.sizeBytes) / 4096)
    }
    return sectors
  }

  /// What the newest version reaches; a pin keeps that without the free list, which only recovery
  /// reads.
  private static func reachable(
    _ backend: TestBackend, withFreeList: Bool
  ) throws -> Set<UInt64> {
    sectors(FileInspection.inspect(try backend.map())) { use in
      switch use {
      case .node(.freeList), .node(.freeListSegment): withFreeList
      case .node: true
      default: false
      }
    }
  }

  @Test("no commit writes to a sector that a live version reaches")
  func liveSectorsAreNotWritten() throws {
    var random = TestRandom(99)
    var test = try TestDatabase()
    try test.put(0..<2000)
    var pins: [(snapshot: Snapshot, sectors: Set<UInt64>)] = []
    for round in 0..<300 {
      let current = try Self.reachable(test.backend, withFreeList: true)
      if random.below(12) == 0 {
        pins.append(
          (
            try test.database.snapshot(),
            try Self.reachable(test.backend, withFreeList: false)
          ))
      }
      if pins.count > 4 { pins.remove(at: random.below(5)).snapshot.release() }
      test.backend.clearLog()
      try test.put((0..<random.below(20) + 1).map { _ in random.below(2500) }, round: round)
      var live = current
      for pin in pins { live.formUnion(pin.sectors) }
      for case .write(let offset, let bytes) in test.backend.log where offset >= 12_288 {
        let written = Set(UInt64(offset / 4096)..<UInt64((offset + bytes.count) / 4096))
        #expect(live.isDisjoint(with: written))
      }
    }
    for pin in pins { pin.snapshot.release() }
    try test.check()
  }
}
