// LayoutTests.swift: the byte map of docs/reference/file-format.md, asserted on real files.

import Testing

@testable import Engine

@Suite("File layout")
struct LayoutTests {
  private static func number(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> UInt64 {
    bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  @Test("an empty database has the bytes of the format document")
  func emptyDatabase() throws {
    let backend = TestBackend()
    let database = try Database.open(backend: backend)
    try database.verify()
    let bytes = backend.bytes
    #expect(bytes.count == 65_536)
    #expect(Array(bytes[0..<8]) == Array("FAULTLN".utf8) + [0x9a])
    #expect(Self.number(bytes, 16, 4) == 4)
    #expect(Self.number(bytes, 20, 4) == 4096)
    #expect(Self.number(bytes, 24, 4) == 1)
    #expect(Self.number(bytes, 28, 4) == 3)
    #expect(bytes[32..<4096].allSatisfy { $0 == 0 })
    // Slot 0 was never written; slot 1 holds version 1 twice.
    #expect(bytes[4096..<8192].allSatisfy { $0 == 0 })
    for copy in 0...1 {
      let start = 8192 + copy * 2048
      #expect(Self.number(bytes, start + 8, 4) == 1)
      #expect(Self.number(bytes, start + 12, 4) == UInt64(copy))
      #expect(Self.number(bytes, start + 16, 8) == 1)
      #expect(Self.number(bytes, start + 24, 8) == 12_288)
      #expect(Self.number(bytes, start + 32, 8) == Self.number(bytes, 12_288, 8))
      #expect(Self.number(bytes, start + 40, 8) == 16_384)
    }
    // The top node: 48 bytes of header, no free list, no tables.
    #expect(Self.number(bytes, 12_288 + 8, 8) == 12_288)
    #expect(Self.number(bytes, 12_288 + 16, 8) == 1)
    #expect(Self.number(bytes, 12_288 + 24, 4) == 72)
    #expect(bytes[12_288 + 28] == NodeKind.group.rawValue)
    #expect(bytes[(12_288 + 29)..<(12_288 + 64)].allSatisfy { $0 == 0 })
    #expect(Self.number(bytes, 12_288 + 64, 4) == 1)
    #expect(bytes[(12_288 + 68)...].allSatisfy { $0 == 0 })
  }

  @Test("a slot with edits has the bytes of the format document")
  func slotEdits() throws {
    let test = try TestDatabase()
    for age in [1, 2, 7] {
      let write = try test.database.beginWrite()
      try write.upsert(into: "Dog", key: 5, [.int(Int64(age)), .string("Rex")])
      try write.commit()
    }
    let state = test.database.state.withLock { $0.current }
    let bytes = test.backend.bytes
    let top = Int(state.slot.top.ref.offsetBytes)
    let leaf = Int(try state.group.table(named: "Dog").root.ref.offsetBytes)
    for copy in 0...1 {
      let start = 4096 * (1 + Int(state.version.rawValue % 2)) + copy * 2048
      #expect(Self.number(bytes, start + 16, 8) == state.version.rawValue)
      #expect(Self.number(bytes, top + 16, 8) < state.version.rawValue)
      #expect(Self.number(bytes, start + 24, 8) == UInt64(top))
      #expect(Self.number(bytes, start + 32, 8) == Self.number(bytes, top, 8))
      #expect(Self.number(bytes, start + 48, 8) == 0)
      let edits = start + 96
      let size = Int(Self.number(bytes, edits, 2))
      let checksum = RawBytes.over(Array(bytes[edits..<edits + size])) { Checksum.of($0) }
      #expect(Self.number(bytes, start + 56, 8) == checksum)
      #expect(Self.number(bytes, edits + 2, 2) == 2)
      #expect(Self.number(bytes, edits + 4, 4) == 1)
      var (offset, sector) = (edits + 8, 0)
      for place in [leaf, top].sorted() {
        #expect(Int(bytes[offset]) == (place / 4096 - sector) * 2)
        sector = place / 4096
        // One edit: the age as the base of its array; or the checksum of the root in the group.
        let count = Int(bytes[offset + 3])
        #expect(Int(bytes[offset + 1]) == count + 2)
        #expect(Int(bytes[offset + 2]) == (place == leaf ? 64 : 72 + 16) - 48)
        if place == leaf { #expect(bytes[offset + 4] == 7) } else { #expect(count == 8) }
        offset += 4 + count
      }
      #expect(offset == edits + size)
    }
  }

  @Test("a leaf has the bytes of the format document")
  func leaf() throws {
    let test = try TestDatabase()
    let write = try test.database.beginWrite()
    try write.insert(into: "Dog", key: 1000, [.int(-1), .string("ab")])
    try write.insert(into: "Dog", key: 1003, [.int(2), .string("c")])
    try write.commit()
    try test.database.verify()
    let bytes = test.backend.bytes
    let start = try #require(
      stride(from: 12_288, to: bytes.count, by: 4096).first {
        bytes[$0 + 28] == NodeKind.leaf.rawValue && Self.number(bytes, $0 + 16, 8) == 3
      })
    #expect(Self.number(bytes, start + 32, 4) == 2)
    #expect(Self.number(bytes, start + 36, 4) == 5)
    // Descriptors: base, offset, width, kind, column id.
    let expected: [(UInt64, UInt64, UInt8, UInt8, UInt64)] = [
      (1000, 128, 2, 1, 0), (UInt64(bitPattern: -1), 136, 2, 2, 1), (2, 144, 1, 3, 2),
      (0, 152, 0, 4, 2), (3, 152, 0, 5, 2),
    ]
    for (index, item) in expected.enumerated() {
      let descriptor = start + 48 + 16 * index
      #expect(Self.number(bytes, descriptor, 8) == item.0)
      #expect(Self.number(bytes, descriptor + 8, 4) == item.1)
      #expect(bytes[descriptor + 12] == item.2)
      #expect(bytes[descriptor + 13] == item.3)
      #expect(Self.number(bytes, descriptor + 14, 2) == item.4)
    }
    #expect(bytes[start + 128] == 0b1100)
    #expect(bytes[start + 136] == 0b1100)
    #expect(bytes[start + 144] == 0b10)
    #expect(Array(bytes[start + 152..<start + 155]) == Array("abc".utf8))
    #expect(Self.number(bytes, start + 24, 4) == 160)
  }

  @Test("a full inner node fits one sector")
  func innerFitsSector() {
    #expect(InnerView.sizeBytes(childCount: Layout.childCountMax) <= Layout.sectorSizeBytes)
  }
}
