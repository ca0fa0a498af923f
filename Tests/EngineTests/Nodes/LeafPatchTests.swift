// LeafPatchTests.swift: edits make one leaf of another, and bytes that no writer wrote are errors.

import Testing

@testable import Engine

@Suite("Leaf patches")
struct LeafPatchTests {
  private static let ref = Ref(sector: 9)

  private static func edits(_ base: [UInt8], _ changed: [UInt8], _ most: Int) -> [UInt8]? {
    RawBytes.over(base) { base in
      RawBytes.over(changed) { LeafPatch.edits(from: base, to: $0, sizeBytesMax: most) }
    }
  }

  private static func apply(_ edits: [UInt8], to base: [UInt8]) throws -> [UInt8] {
    try MutableBytes.withScratch(count: base.count) { leaf in
      Result {
        leaf.copy(base, to: 0)
        try LeafPatch(baseChecksum: 0, edits: edits).apply(to: leaf, at: ref)
        return leaf.readable.array
      }
    }.get()
  }

  @Test("edits lead from any bytes to any others of the same size")
  func roundTrip() throws {
    var random = TestRandom(77)
    for round in 0..<400 {
      let count = 49 + random.below(round % 4 == 0 ? 16_000 : 300)
      let base = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      var changed = base
      for _ in 0..<random.below(20) {
        let start = 48 + random.below(count - 48)
        for offset in start..<min(count, start + 1 + random.below(9)) {
          changed[offset] = UInt8(truncatingIfNeeded: random.next())
        }
      }
      let edits = try #require(Self.edits(base, changed, .max))
      #expect(try Self.apply(edits, to: base) == changed)
      #expect((edits.isEmpty) == (base == changed))
      if !edits.isEmpty { #expect(Self.edits(base, changed, edits.count - 1) == nil) }
      #expect(Self.edits(base, changed, edits.count) == edits)
    }
  }

  @Test("a difference costs its bytes and four more; the header is none")
  func cost() {
    let base = [UInt8](repeating: 7, count: 200)
    var changed = base
    changed[10] = 1
    #expect(Self.edits(base, changed, 0) == [])
    changed[60] = 1
    changed[63] = 1
    changed[100] = 1
    #expect(Self.edits(base, changed, 100) == [60, 0, 4, 0, 1, 7, 7, 1, 100, 0, 1, 0, 1])
  }

  @Test(
    "edits without bytes, in the header, behind the end, over each other or cut are errors",
    arguments: [
      [60, 0, 0, 0], [47, 0, 1, 0, 9], [60, 0, 2, 0, 9], [199, 0, 2, 0, 9, 9], [200, 0, 1, 0, 9],
      [60, 0, 2, 0, 9, 9, 61, 0, 1, 0, 9], [60, 0, 1], [255, 255, 1, 0, 9],
      [100, 0, 1, 0, 9, 60, 0, 1, 0, 9],
    ] as [[UInt8]])
  func damaged(_ edits: [UInt8]) {
    let base = [UInt8](repeating: 7, count: 200)
    #expect(errorCode { try Self.apply(edits, to: base) } == .corrupted)
  }

  // MARK: in a file

  /// An inner node of level 1 with patches, as an adversary changes it.
  private static let changes: [(name: String, change: @Sendable (inout [UInt8]) -> Void)] = [
    ("more patches than children", { ResealedFile.store(UInt64(9999), in: &$0, at: 36) }),
    ("a patch less", { $0[36] -= 1 }),
    (
      "a child twice",
      { node in
        let at = directory(node)
        node[at + 16] = node[at]
      }
    ),
    ("no such child", { node in node[directory(node)] = 200 }),
    ("edits that begin elsewhere", { node in node[directory(node) + 4] ^= 4 }),
    ("edits behind the node", { node in node[directory(node) + 23] = 0x7f }),
    ("another leaf's checksum", { node in node[directory(node) + 9] ^= 1 }),
    ("another byte", { node in node[node.count - 1] ^= 1 }),
    (
      "an edit of the header",
      { node in
        let at = edits(node)
        node[at] = 8
        node[at + 1] = 0
      }
    ),
    (
      "an edit without bytes",
      { node in
        let at = edits(node)
        node[at + 2] = 0
      }
    ),
  ]

  private static func directory(_ node: [UInt8]) -> Int {
    InnerView.sizeBytes(childCount: Int(ResealedFile.number(node, NodeField.count, 4)))
  }

  private static func edits(_ node: [UInt8]) -> Int {
    Int(ResealedFile.number(node, directory(node) + 4, 4))
  }

  @Test("what no writer wrote into an inner node is an error", arguments: changes.indices)
  func resealed(_ index: Int) throws {
    var store = try PatchedStore(rows: 3000)
    try store.patch(rounds: 10)
    let state = store.state
    let record = try state.group.table(named: "Person")
    #expect(record.level == 1 && store.patchedLeafCount > 5)
    let bytes = try ResealedFile.changing(
      store.backend.bytes, state, [record.root.ref, state.slot.top.ref],
      Self.changes[index].change)
    let name = Self.changes[index].name
    let database = try Database.open(backend: TestBackend(bytes))
    #expect(errorCode { try database.verify() } == .corrupted, "\(name)")
    let snapshot = try database.snapshot()
    #expect(
      errorCode { for key in 0..<3000 { _ = try snapshot.row(in: "Person", key: Int64(key)) } }
        == .corrupted || index == 1, "\(name)")
    snapshot.release()
  }

  @Test("a group that counts patches wrongly is an error of verify")
  func wrongCount() throws {
    var store = try PatchedStore(rows: 3000)
    try store.patch(rounds: 10)
    for (count, openError) in [(0, nil), (3, nil), (5000, EngineError.Code.corrupted)] {
      let bytes = try ResealedFile.changing(
        store.backend.bytes, store.state, [store.state.slot.top.ref]
      ) { group in for place in 0..<4 { group[68 + place] = UInt8(count >> (8 * place) & 255) } }
      guard openError == nil else {
        #expect(errorCode { try Database.open(backend: TestBackend(bytes)) } == openError)
        continue
      }
      let database = try Database.open(backend: TestBackend(bytes))
      #expect(errorCode { try database.verify() } == .corrupted)
      try database.close()
    }
  }
}
