// LargeFileTests.swift: refs and sizes that do not fit 31 or 32 bits.

import Testing

@testable import Engine

@Suite struct LargeFileTests {
  /// A database whose newest version says that everything up to `endBytes` is pending, and that the
  /// version before it may still need it; so the next commit writes behind that.
  private static func spread(endBytes: Int) throws -> HoleyBackend {
    var test = try TestDatabase()
    for round in 0..<3 { try test.put(0..<40, round: round) }
    let list = try #require(Reseal.nodes(test.database, .freeList).first)
    let top = try #require(Reseal.nodes(test.database, .group).first)
    let version = test.database.version
    try test.database.close()
    var bytes = test.backend.bytes
    let slot = Layout.slotOffsetsBytes[Int(version.rawValue % 2)]
    let end = Reseal.number(bytes, slot + SlotField.logicalSizeBytes) / 4096
    let parents = Reseal.parents(bytes, nodes: [top, list])
    let free = Int(Reseal.number(bytes, list + NodeField.count, 4))
    let pending = Int(Reseal.number(bytes, list + NodeField.auxiliary, 4))
    let spot = list + Layout.nodeHeaderBytes + 16 * free + 32 * pending
    try #require(spot + 32 <= list + Int(Reseal.number(bytes, list + NodeField.sizeBytes, 4)))
    Reseal.set(&bytes, spot, end)
    Reseal.set(&bytes, spot + 8, UInt64(endBytes / 4096) - end)
    Reseal.set(&bytes, spot + 16, version.rawValue - 1)
    Reseal.set(&bytes, spot + 24, version.rawValue)
    Reseal.set(&bytes, list + NodeField.auxiliary, UInt64(pending + 1), 4)
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
    for round in 0..<3 {
      let write = try database.beginWrite()
      for key in 0..<400 {
        try write.upsert(into: "Dog", key: Int64(key), Fixtures.dog(key + round))
      }
      if round == 0 {
        try write.createTable(TableSchema(name: "Stays", columns: Fixtures.dogs.columns))
        for key in 0..<400 { try write.insert(into: "Stays", key: Int64(key), Fixtures.dog(key)) }
      }
      try write.commit()
      try database.verify()
    }
    try database.close()
    // What the first of these commits wrote, and the others did not touch, lies behind the bound.
    let again = try Database.open(backend: backend)
    let snapshot = try again.snapshot()
    let root = try snapshot.state.group.table(named: "Stays").root.ref
    #expect(root.offsetBytes > 1 << UInt64(bits))
    for key in 0..<400 {
      #expect(try snapshot.row(in: "Stays", key: Int64(key)) == Fixtures.dog(key))
      #expect(try snapshot.row(in: "Dog", key: Int64(key)) == Fixtures.dog(key + 2))
    }
    snapshot.release()
    try again.verify()
  }
}
