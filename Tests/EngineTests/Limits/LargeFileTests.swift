// LargeFileTests.swift: refs and sizes that do not fit 31 or 32 bits.

import Testing

@testable import Engine

@Suite struct LargeFileTests {
  /// A database whose newest version says that everything up to `endBytes` is pending, and that the
  /// version before it may still need it; so the next commit writes behind that.
  private static func spread(endBytes: Int) throws -> HoleyBackend {
    var test = try TestDatabase(options: PatchedStore.writingNodes)
    for round in 0..<3 { try test.put(0..<40, round: round) }
    let list = try #require(Reseal.nodes(test.database, .freeList).first)
    let top = try #require(Reseal.nodes(test.database, .group).first)
    let version = test.database.version
    try test.database.close()
    var bytes = test.backend.bytes
    let slot = Layout.slotOffsetsBytes[Int(version.rawValue % 2)]
    let end = Reseal.number(bytes, slot + SlotField.logicalSizeBytes) / 4096
    let parents = Reseal.parents(bytes, nodes: [top, list])
    // One span more, in the rest of the list's sector.
    let size = Int(Reseal.number(bytes, list + NodeField.sizeBytes, 4))
    let spans = Reseal.number(bytes, list + NodeField.count, 4)
    let links = Reseal.number(bytes, list + NodeField.auxiliary, 4)
    let spot = list + Layout.nodeHeaderBytes + 8 + 16 * Int(links) + 24 * Int(spans)
    try #require(Reseal.number(bytes, list + Layout.nodeHeaderBytes, 4) == 0)
    try #require(size + 24 <= Layout.sectorSizeBytes)
    Reseal.set(&bytes, spot, end | (UInt64(endBytes / 4096) - end) << 36)
    Reseal.set(&bytes, spot + 8, version.rawValue - 1)
    Reseal.set(&bytes, spot + 16, version.rawValue)
    Reseal.set(&bytes, list + NodeField.count, spans + 1, 4)
    Reseal.set(&bytes, list + NodeField.sizeBytes, UInt64(size + 24), 4)
    for copy in [slot, slot + Layout.slotCopyDistanceBytes] {
      Reseal.set(&bytes, copy + SlotField.logicalSizeBytes, UInt64(endBytes))
    }
    Reseal.seal(&bytes, node: list, parents: parents)
    return try HoleyBackend(bytes, sizeBytes: endBytes)
  }

  @Test(arguments: [31, 32, 33])
  func nodesBehind(bits: Int) throws {
    // The first node behind it lies across the bound.
    let endBytes = 1 << bits - 4096
    let backend = try Self.spread(endBytes: endBytes)
    let database = try Database.open(backend: backend)
    #expect(try database.verify().pendingBytes > UInt64(endBytes - 1 << 20))
    let create = try database.beginWrite()
    try create.createTable(TableSchema(name: "Cat", columns: Fixtures.dogs.columns))
    for key in 0..<400 {
      try create.upsert(into: "Dog", key: Int64(key), Fixtures.dog(key))
      try create.insert(into: "Cat", key: Int64(key), Fixtures.dog(key))
    }
    try create.commit()
    try database.verify()
    try database.close()
    let again = try Database.open(backend: backend)
    let snapshot = try again.snapshot()
    let root = try snapshot.state.group.table(named: "Cat").root.ref
    #expect(root.offsetBytes > 1 << UInt64(bits))
    try Self.expectRows(snapshot, round: 0)
    snapshot.release()
    // Most of the file is free by now, so these commits bring the nodes back.
    for round in 1..<4 {
      let write = try again.beginWrite()
      for key in 0..<400 {
        try write.upsert(into: "Dog", key: Int64(key), Fixtures.dog(key + round))
      }
      try write.commit()
      try again.verify()
    }
    let newest = try again.snapshot()
    #expect(try newest.state.group.table(named: "Cat").root.ref.offsetBytes < 1 << 20)
    try Self.expectRows(newest, round: 3)
    newest.release()
  }

  private static func expectRows(_ snapshot: Snapshot, round: Int) throws {
    for key in 0..<400 {
      #expect(try snapshot.row(in: "Cat", key: Int64(key)) == Fixtures.dog(key))
      #expect(try snapshot.row(in: "Dog", key: Int64(key)) == Fixtures.dog(key + round))
    }
  }
}
