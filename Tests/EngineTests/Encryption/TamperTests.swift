// TamperTests.swift: what somebody may do to an encrypted file, and the error that each gives.

import Testing

@testable import Engine

@Suite("Tampering")
struct TamperTests {
  private static let options = EncryptedFixtures.options()

  private static func content(_ bytes: [UInt8]) throws -> (version: Version, hash: UInt64) {
    let database = try Database.open(backend: TestBackend(bytes), options: options)
    try database.verify()
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    return (database.version, try snapshot.contentHash())
  }

  /// What three ways to read say of damage below a root slot that is whole.
  private static func readings(_ bytes: [UInt8]) throws -> Set<EngineError.Code?> {
    let database = try Database.open(backend: TestBackend(bytes), options: options)
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    return [
      errorCode { try snapshot.row(in: "Dog", key: 1) },
      errorCode { try snapshot.contentHash() },
      errorCode { try database.verify() },
    ]
  }

  private static func made(_ rounds: Int = 2) throws -> TestDatabase {
    var test = try TestDatabase(options: options)
    for round in 0..<rounds { try test.put(0..<40, round: round) }
    return test
  }

  private static func reseal(_ bytes: inout [UInt8], record start: Int) {
    let record = Array(bytes[start + 8..<start + Layout.slotRecordBytes])
    let sum = RawBytes.over(record) { Checksum.of($0) }
    for index in 0..<8 {
      bytes[start + index] = UInt8(truncatingIfNeeded: sum >> UInt64(8 * index))
    }
  }

  @Test("a flip anywhere in a sealed node, its clear fields and its tag included, is damage")
  func flippedNode() throws {
    let test = try Self.made()
    let root = try EncryptedFixtures.root(test.database)
    let end = root.sectors * 4096
    for place in [0, 7, 8, 16, 20, 35, 36, 44, 47, 48, 100, end - 17, end - 16, end - 1] {
      var bytes = test.backend.bytes
      bytes[root.offset + place] ^= 0x10
      #expect(try Self.readings(bytes) == [.corrupted], "byte \(place) of \(end)")
    }
  }

  @Test("two nodes that changed places are swapped nodes")
  func swapped() throws {
    var test = try Self.made()
    let write = try test.database.beginWrite()
    try write.createTable(TableSchema(name: "Other", columns: Fixtures.dogs.columns))
    for key in 0..<40 { try write.insert(into: "Other", key: Int64(key), Fixtures.dog(key + 1)) }
    try write.commit()
    try test.put(0..<40, round: 5)
    let first = try EncryptedFixtures.root(test.database, table: 0)
    let second = try EncryptedFixtures.root(test.database, table: 1)
    #expect(first.sectors == second.sectors)
    var bytes = test.backend.bytes
    let count = first.sectors * 4096
    let moved = Array(bytes[first.offset..<first.offset + count])
    bytes.replaceSubrange(
      first.offset..<first.offset + count, with: bytes[second.offset..<second.offset + count])
    bytes.replaceSubrange(second.offset..<second.offset + count, with: moved)
    #expect(try Self.readings(bytes) == [.swappedNode])
    // A copy of one over the other is the same.
    var copied = test.backend.bytes
    copied.replaceSubrange(
      first.offset..<first.offset + count, with: copied[second.offset..<second.offset + count])
    #expect(try Self.readings(copied) == [.swappedNode])
  }

  @Test("an older node put back at its place is a rolled back node")
  func rolledBack() throws {
    var test = try Self.made(6)
    var images: [[UInt8]] = []
    for round in 6..<16 {
      try test.put(0..<40, round: round)
      images.append(test.backend.bytes)
    }
    let root = try EncryptedFixtures.root(test.database)
    let range = root.offset..<root.offset + root.sectors * 4096
    let newest = try #require(images.last)
    // Images in which a node of another version starts at the same place and is as long.
    var tried = 0
    for older in images.dropLast() {
      let isSame = older[range] == newest[range]
      let isNode =
        older[root.offset..<root.offset + 8] == newest[root.offset..<root.offset + 8]
        && older[root.offset + 16..<root.offset + 20] == newest[root.offset + 16..<root.offset + 20]
      guard !isSame, isNode else { continue }
      var bytes = newest
      bytes.replaceSubrange(range, with: older[range])
      #expect(try Self.readings(bytes) == [.rolledBackNode])
      tried += 1
    }
    #expect(tried > 0)
  }

  @Test("a truncated file is told from a damaged one")
  func truncated() throws {
    let test = try Self.made(1)
    let bytes = test.backend.bytes
    let logical = test.database.state.withLock { Int($0.current.slot.logicalSizeBytes) }
    for size in stride(from: 12_288, to: logical, by: 4096) {
      #expect(errorCode { try Self.content(Array(bytes[..<size])) } == .truncated)
    }
    #expect(try Self.content(Array(bytes[..<logical])).version == test.database.version)
    #expect(errorCode { try Self.content(Array(bytes[..<8192])) } == .notADatabase)
  }

  @Test("a slot without a seal, with another file's, or changed and summed up again is forged")
  func forgedSlots() throws {
    let test = try Self.made()
    let other = try Self.made()
    let version = test.database.version
    #expect(other.database.version == version)
    for index in [0, 1] {
      let start = Layout.slotOffsetsBytes[index]
      let copies = [start, start + Layout.slotCopyDistanceBytes]
      var foreign = test.backend.bytes
      foreign.replaceSubrange(start..<start + 4096, with: other.backend.bytes[start..<start + 4096])
      #expect(errorCode { try Self.content(foreign) } == .forgedSlot)
      var unsealed = test.backend.bytes
      for copy in copies {
        for offset in 64..<96 { unsealed[copy + offset] = 0 }
        Self.reseal(&unsealed, record: copy)
      }
      #expect(errorCode { try Self.content(unsealed) } == .forgedSlot)
      var changed = test.backend.bytes
      for copy in copies {
        changed[copy + SlotField.logicalSizeBytes + 1] ^= 0x10
        Self.reseal(&changed, record: copy)
      }
      #expect(errorCode { try Self.content(changed) } == .forgedSlot)
      // One copy forged, the other whole: the whole one counts.
      var half = test.backend.bytes
      for offset in 64..<96 { half[start + offset] = 0 }
      Self.reseal(&half, record: start)
      #expect(try Self.content(half).version == version)
    }
    // The copies are not interchangeable.
    let start = Layout.slotOffsetsBytes[Int(version.rawValue % 2)]
    var exchanged = test.backend.bytes
    exchanged.replaceSubrange(start..<start + 96, with: exchanged[start + 2048..<start + 2144])
    for offset in 2048..<2144 { exchanged[start + offset] ^= 0xff }
    #expect(try Self.content(exchanged).version.rawValue == version.rawValue - 1)
  }

  @Test("a plain file with a sealed slot has an invalid slot")
  func sealedPlain() throws {
    var test = try TestDatabase()
    try test.put(0..<5)
    var bytes = test.backend.bytes
    let start = Layout.slotOffsetsBytes[Int(test.database.version.rawValue % 2)]
    for copy in [start, start + 2048] {
      bytes[copy + 70] = 1
      Self.reseal(&bytes, record: copy)
    }
    let database = try Database.open(backend: TestBackend(bytes))
    #expect(database.version.rawValue == test.database.version.rawValue - 1)
  }

  @Test("a torn newest slot of an encrypted file falls back to the version before it")
  func tornSlot() throws {
    let test = try Self.made(3)
    var bytes = test.backend.bytes
    let start = Layout.slotOffsetsBytes[Int(test.database.version.rawValue % 2)]
    for index in 0..<4096 { bytes[start + index] = UInt8(truncatingIfNeeded: index &* 31) }
    #expect(try Self.content(bytes).version.rawValue == test.database.version.rawValue - 1)
  }

  @Test("a header whose key check or salt was changed is the wrong key's, not a trap")
  func changedHeader() throws {
    let test = try Self.made()
    for offset in [HeaderField.salt, HeaderField.keyCheck] {
      var bytes = test.backend.bytes
      bytes[offset] ^= 1
      #expect(errorCode { try Self.content(bytes) } == .corrupted)
      let record = Array(bytes[16..<64])
      let sum = RawBytes.over(record) { Checksum.of($0) }
      for index in 0..<8 { bytes[8 + index] = UInt8(truncatingIfNeeded: sum >> UInt64(8 * index)) }
      #expect(errorCode { try Self.content(bytes) } == .wrongKey)
    }
  }

  @Test("any flipped byte of an encrypted file is an error or changes nothing")
  func flippedBytes() throws {
    let test = try Self.made()
    let bytes = test.backend.bytes
    let expected = (test.database.version, TestDatabase.hash(test.model))
    let logical = test.database.state.withLock { Int($0.current.slot.logicalSizeBytes) }
    var errors = 0
    for index in stride(from: 0, to: logical, by: 13) {
      var flipped = bytes
      flipped[index] ^= UInt8(1 << (index % 8))
      do {
        let found = try Self.content(flipped)
        #expect(found == expected, "byte \(index)")
      } catch is EngineError { errors += 1 }
    }
    #expect(errors > 500)
  }
}
