// FreeListTests.swift: segments of the free list: written once, read back the same, dissolved when
// they are wrong; and bytes in them that no engine wrote.

import Testing

@testable import Engine

@Suite("Free list")
struct FreeListTests {
  private static func space(_ database: Database) -> SpaceMap {
    database.state.withLock { $0.space?.map } ?? SpaceMap(free: [], endSector: 0)
  }

  /// A database with so many pinned versions that segments are needed.
  private static func pinned(_ count: Int) throws -> (TestDatabase, [Snapshot]) {
    var test = try TestDatabase(options: PatchedStore.writingNodes)
    try test.put(0..<3000)
    var pins: [Snapshot] = []
    for round in 0..<count {
      pins.append(try test.database.snapshot())
      try test.put([round * 7 % 3000], round: round)
    }
    return (test, pins)
  }

  @Test("a commit leaves segments alone that still hold")
  func segmentsStay() throws {
    var (test, pins) = try Self.pinned(400)
    let before = Self.space(test.database).segments.map(\.link)
    #expect(before.count >= 3)
    test.backend.logs = false
    let start = test.backend.writtenBytes
    for round in 0..<20 { try test.put([round * 11], round: round) }
    let after = Self.space(test.database).segments.map(\.link)
    #expect(Array(after.prefix(before.count)) == before)
    #expect(test.backend.writtenBytes - start < 20 * 10 * 4096)
    try test.check()
    for pin in pins { pin.release() }
    pins = []
    try test.check()
  }

  @Test("what is read back is what was written, and then reclaimed without pins")
  func reopen() throws {
    let (test, pins) = try Self.pinned(300)
    try test.check()
    let written = Self.space(test.database)
    let state = test.database.state.withLock { $0.current }
    let read = try Recovery.space(of: state)
    #expect(read.free == written.free)
    #expect(read.segments.map(\.link) == written.segments.map(\.link))
    #expect(
      Set(read.pending.map(\.span)) == Set(written.pending.map(\.span)))
    var again = try TestDatabase(
      TestBackend(test.backend.bytes), options: PatchedStore.writingNodes)
    again.model = test.model
    try again.check()
    for round in 0..<3 { try again.put([round], round: round) }
    // Without pins everything is free again, and the segments are gone.
    #expect(Self.space(again.database).segments.isEmpty)
    #expect(again.database.statistics().pendingBytes < 20 * 4096)
    #expect(Int(again.database.statistics().logicalSizeBytes) < test.backend.bytes.count / 4)
    try again.check()
    for pin in pins { pin.release() }
  }

  @Test("letting pins go one by one gives all of their space back")
  func releaseOneByOne() throws {
    var (test, pins) = try Self.pinned(300)
    var random = TestRandom(5)
    while !pins.isEmpty {
      let index = random.below(pins.count)
      pins.remove(at: index).release()
      try test.put([pins.count % 3000], round: pins.count)
      if pins.count % 25 == 0 {
        try test.check()
        for pin in pins { _ = try pin.count(of: "Dog") }
        if let pin = pins.last { _ = try pin.contentHash() }
      }
    }
    try test.put([1])
    try test.put([2])
    #expect(test.database.statistics().pinnedBytes == 0)
    #expect(Self.space(test.database).segments.isEmpty)
    try test.check()
  }

  @Test("many free spans go to segments, of which a commit rewrites those it takes from")
  func freeSegments() throws {
    // Every second of two thousand long strings goes: a thousand free spans that never merge.
    var test = try TestDatabase()
    let text = String(repeating: "t", count: 3000)
    let write = try test.database.beginWrite()
    for key in 0..<2000 {
      test.model[Int64(key)] = [.int(1), .string(text)]
      try write.insert(into: "Dog", key: Int64(key), [.int(1), .string(text)])
    }
    try write.commit()
    let delete = try test.database.beginWrite()
    for key in stride(from: 0, to: 2000, by: 2) {
      test.model[Int64(key)] = nil
      try delete.delete(from: "Dog", key: Int64(key))
    }
    try delete.commit()
    for round in 0..<3 { try test.put([5000 + round]) }
    let segments = Self.space(test.database).segments
    #expect(segments.count >= 4)
    try test.check()
    test.backend.logs = false
    for round in 0..<40 {
      let before = Set(Self.space(test.database).segments.map(\.link.ref))
      let start = test.backend.writtenBytes
      try test.put([5000 + round % 3], round: round)
      let after = Set(Self.space(test.database).segments.map(\.link.ref))
      #expect(before.subtracting(after).count <= 4)
      #expect(test.backend.writtenBytes - start < 16 * 4096)
      if round % 8 == 0 { try test.check() }
    }
    var again = try TestDatabase(TestBackend(test.backend.bytes))
    again.model = test.model
    try again.check()
    for round in 0..<10 { try again.put([round]) }
    try again.check()
  }

  @Test("a map and a model agree over random commits, pins and reopenings")
  func againstModel() throws {
    var random = TestRandom(20_266)
    var test = try TestDatabase()
    try test.put(0..<1500)
    var pins: [(Snapshot, UInt64)] = []
    for round in 0..<400 {
      if random.below(3) == 0 {
        pins.append((try test.database.snapshot(), TestDatabase.hash(test.model)))
      }
      if pins.count > 60 || (random.below(4) == 0 && !pins.isEmpty) {
        let (pin, hash) = pins.remove(at: random.below(pins.count))
        #expect(try pin.contentHash() == hash)
        pin.release()
      }
      try test.put((0..<random.below(40) + 1).map { _ in random.below(1500) }, round: round)
      if round % 20 == 0 { try test.check() }
    }
    for (pin, hash) in pins { #expect(try pin.contentHash() == hash) }
    try test.check()
    for (pin, _) in pins { pin.release() }
  }

  @Test("verify reads the list of a version that commits have gone past")
  func verifyAcrossCommits() async throws {
    let test = try TestDatabase()
    let database = test.database
    var keys = test
    try keys.put(0..<2000)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for _ in 0..<25 {
          let rows = try database.verify().rows
          #expect(rows == 2000)
        }
      }
      for round in 0..<150 {
        let write = try database.beginWrite()
        try write.update(in: "Dog", key: Int64(round), Fixtures.dog(round + 3))
        try write.commit()
      }
      try await group.waitForAll()
    }
    try database.verify()
  }

  @Test("spans that overlap, lie outside or have wrong versions are corruption")
  func hostileSpans() throws {
    let (test, pins) = try Self.pinned(200)
    for pin in pins { pin.release() }
    let state = test.database.state.withLock { $0.current }
    let bytes = test.backend.bytes
    let list = Int(state.group.freeList.ref.offsetBytes)
    let segments = Int(number(bytes, list + 36, 4))
    let spans = list + 56 + 16 * segments
    let edits: [(offset: Int, bytes: [UInt8])] = [
      (list + 48, [0xff, 0xff, 0xff, 0xff]), (list + 32, [0xff, 0xff, 0xff]),
      (list + 36, [0xff, 0xff, 0xff]), (list + 52, [1]),
      (spans, [1, 0, 0, 0, 0x10, 0, 0, 0]), (spans, [0xff, 0xff, 0xff, 0xff, 0xff]),
      (spans, Array(bytes[spans + 24..<spans + 32])),
      (spans + 8, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
      (spans + 16, [0xff, 0xff, 0xff, 0xff]), (list + 56, [0, 0x40]),
    ]
    for (offset, edit) in edits {
      var image = bytes
      image.replaceSubrange(offset..<offset + edit.count, with: edit)
      guard image != bytes else { continue }
      reseal(&image, state)
      #expect(
        errorCode { try Database.open(backend: TestBackend(image)) } == .corrupted,
        "byte \(offset - list)")
    }
    try test.check()
  }

  private func number(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> UInt64 {
    bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Makes the checksums of list, group and slot right again, as an adversary would.
  private func reseal(_ image: inout [UInt8], _ state: VersionState) {
    let list = Int(state.group.freeList.ref.offsetBytes)
    let group = Int(state.slot.top.ref.offsetBytes)
    let slot = Layout.slotOffsetsBytes[state.slot.index]
    let listSum = seal(&image, at: list, size: Int(number(image, list + 24, 4)))
    set(&image, group + 56, listSum)
    let groupSum = seal(&image, at: group, size: Int(number(image, group + 24, 4)))
    for copy in [slot, slot + 2048] {
      set(&image, copy + 32, groupSum)
      _ = seal(&image, at: copy, size: Layout.slotRecordBytes)
    }
  }

  private func seal(_ image: inout [UInt8], at offset: Int, size: Int) -> UInt64 {
    let sum = RawBytes.over(Array(image[offset + 8..<offset + size])) { Checksum.of($0) }
    set(&image, offset, sum)
    return sum
  }

  private func set(_ image: inout [UInt8], _ offset: Int, _ number: UInt64) {
    for index in 0..<8 {
      image[offset + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index))
    }
  }
}
