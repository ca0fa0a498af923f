// SlotEditsTests.swift: small commits as edits in the root slot: their calls, what crashes leave of
// them, who reads them, and when nodes are written all the same.

import Testing

@testable import Engine

@Suite("Edits in slots")
struct SlotEditsTests {
  private static func options(_ commitProtocol: CommitProtocol) -> Database.Options {
    var options = Database.Options()
    options.commitProtocol = commitProtocol
    return options
  }

  private static func slot(_ database: Database) -> RootSlot {
    database.state.withLock { $0.current.slot }
  }

  /// Changes few bytes of one or two leaves.
  private static func smallChange(_ database: Database, _ round: Int) throws {
    let write = try database.beginWrite()
    if round == 0 {
      try write.createTable(Fixtures.dogs)
      for key in 0..<900 { try write.insert(into: "Dog", key: Int64(key), Fixtures.dog(key)) }
    } else {
      for index in 0...round % 2 {
        let key = (round * 331 + index * 400) % 900
        try write.update(
          in: "Dog", key: Int64(key), [.int(Int64(round % 100)), .string("dog number \(key)")])
      }
    }
    try write.commit()
  }

  // MARK: calls

  @Test(
    "a small commit writes its slot and syncs once",
    arguments: [CommitProtocol.twoPhase, .checksummed])
  func calls(_ commitProtocol: CommitProtocol) throws {
    let backend = TestBackend()
    let database = try Database.open(backend: backend, options: Self.options(commitProtocol))
    for round in 0..<3 { try Self.smallChange(database, round) }
    for round in 3..<12 {
      backend.clearLog()
      try Self.smallChange(database, round)
      #expect(Self.slot(database).hasEdits)
      #expect(backend.log.map(\.name) == ["slot", "sync"])
    }
    try database.verify()
  }

  @Test("edits gather until a slot is full; then the nodes are written, and edits begin anew")
  func folds() throws {
    var store = try PatchedStore(rows: 3000, options: .init())
    var (folds, full) = (0, 0)
    for _ in 0..<600 {
      let before = store.state.slot
      let key = Int64(store.random.below(3000))
      let person = GrowthWorkload.person(0, &store.random)
      store.people[key] = person
      let write = try store.database.beginWrite()
      try write.update(in: "Person", key: key, person)
      try write.commit()
      let after = store.state.slot
      if after.hasEdits {
        #expect(after.edits.count <= Layout.slotEditsBytesMax)
        #expect(after.top == before.top)
      } else if before.hasEdits {
        folds += 1
        // A value may also be one that makes its leaf larger.
        full += before.edits.count > Layout.slotEditsBytesMax - 200 ? 1 : 0
      }
    }
    #expect((3...15).contains(folds) && full >= folds / 2, "\(full) of \(folds)")
    try store.check()
  }

  @Test("what is no edit of bytes in their places is written as nodes")
  func nodes() throws {
    var store = try PatchedStore(rows: 500, options: .init())
    func expectNodes(_ change: (WriteTransaction) throws -> Void) throws {
      try store.changeScore(of: 1)
      try store.changeScore(of: 2)
      #expect(store.state.slot.hasEdits)
      let write = try store.database.beginWrite()
      try change(write)
      try write.commit()
      #expect(!store.state.slot.hasEdits)
      try store.database.verify()
    }
    let person = GrowthWorkload.person(1, &store.random)
    try expectNodes { try $0.insert(into: "Person", key: 1000, person) }
    try expectNodes { try $0.delete(from: "Person", key: 1000) }
    try expectNodes {
      try $0.update(
        in: "Person", key: 3, [.int(1), .int(1), .string(String(repeating: "long", count: 300))])
    }
    try expectNodes { try $0.createTable(Fixtures.dogs) }
    try expectNodes { try $0.addColumn(ColumnSchema(name: "weight", type: .int), to: "Person") }
  }

  @Test("a commit of nothing has no edits of its own, and a value set back has none at all")
  func nothing() throws {
    let store = try PatchedStore(rows: 500, options: .init())
    let old = store.people[7] ?? []
    for values in [old, [.int(9), old[1], old[2]], old, old] {
      let write = try store.database.beginWrite()
      try write.update(in: "Person", key: 7, values)
      try write.commit()
    }
    #expect(store.state.slot.hasEdits)
    #expect(store.state.reader.edited?.isEmpty == true)
    try store.check()
  }

  // MARK: crashes

  @Test(
    "after a crash at any operation the version is the acked one or the one in flight",
    arguments: [CommitProtocol.twoPhase, .checksummed])
  func crashAnywhere(_ commitProtocol: CommitProtocol) throws {
    var run = PowerCutRun(options: Self.options(commitProtocol), change: Self.smallChange)
    try run.record(rounds: 8)
    #expect(run.log.filter { $0.name == "slot" }.count >= 8)
    let (states, findings) = run.explore()
    #expect(findings == [])
    #expect(states > 100)
  }

  @Test("killed writers and second crashes bring nothing back")
  func crashTwice() throws {
    var run = PowerCutRun(change: Self.smallChange)
    try run.record(rounds: 5)
    let killed = try run.exploreKills()
    #expect(killed.findings == [])
    let twice = try run.exploreTwice(every: 20)
    #expect(twice.findings == [])
    #expect(killed.states > 50 && twice.states > 20)
  }

  @Test("the crash test catches a commit that ends without its sync")
  func syncMissing() throws {
    var run = PowerCutRun(change: Self.smallChange)
    try run.record(.secondSyncMissing, rounds: 6)
    #expect(!run.explore().findings.isEmpty)
  }

  // MARK: readers

  @Test("edited leaves are moved out of a tail")
  func tail() throws {
    let backend = TestBackend()
    let database = try Database.open(backend: backend)
    var write = try database.beginWrite()
    try write.createTable(TableSchema(name: "Text", columns: [.init(name: "s", type: .string)]))
    for key in 0..<5000 {
      try write.insert(into: "Text", key: Int64(key), [.string(String(repeating: "a", count: 400))])
    }
    try write.commit()
    try Self.smallChange(database, 0)
    // While it is held, the texts' places are not free.
    var held: Snapshot? = try database.snapshot()
    write = try database.beginWrite()
    try write.removeTable("Text")
    try write.commit()
    var moved = 0
    for round in 1..<40 {
      if round == 6 { held = nil }
      let before = Self.slot(database)
      try Self.smallChange(database, round)
      let isShorter = Self.slot(database).logicalSizeBytes < before.logicalSizeBytes
      moved += before.hasEdits && isShorter ? 1 : 0
      try database.verify()
    }
    #expect(moved > 0 && held == nil)
    let again = try Database.open(backend: TestBackend(backend.bytes))
    #expect(try PowerCutRun.content(again) == PowerCutRun.content(database))
  }

  @Test("another handle reads edits, writes on top of them, and folds them")
  func twoHandles() throws {
    try withTemporaryFolder { folder in
      let first = try Database.open(path: folder + "/two.realm")
      let second = try Database.open(path: folder + "/two.realm")
      for round in 0..<120 {
        try Self.smallChange(round % 3 == 0 ? first : second, round)
        #expect(try PowerCutRun.content(first) == PowerCutRun.content(second))
      }
      try first.verify()
      try second.close()
      try first.close()
    }
  }

  @Test("pinned versions keep their rows while their slots are overwritten", arguments: [1, 2])
  func pins(_ seed: UInt64) throws {
    var store = try PatchedStore(rows: 3000, seed: seed, options: .init())
    for round in 0..<400 {
      if round % 10 == 0 { try store.pin() }
      try store.changeScore(of: Int64(store.random.below(3000)))
    }
    try store.check()
    let again = try Database.open(backend: TestBackend(store.backend.bytes))
    try store.check(again, store.people)
  }

  @Test("a leaf with a patch is edited after it, also when nobody has read its bytes before")
  func patchedAndEdited() throws {
    var store = try PatchedStore(rows: 3000)
    try store.patch(rounds: 60)
    #expect(store.patchedLeafCount > 5)
    // The first commit of a handle writes nodes; the others edit, and none of them has a pin.
    let backend = TestBackend(store.backend.bytes)
    let second = try Database.open(backend: backend)
    var people = store.people
    for round in 0..<64 {
      let key = Int64(round * 701 % 3000)
      var person = people[key] ?? []
      person[1] = .int(Int64(round) | 1 << 62)
      people[key] = person
      let write = try second.beginWrite()
      try write.update(in: "Person", key: key, person)
      try write.commit()
      guard round == 4 else { continue }
      let state = second.state.withLock { $0.current }
      let edited = try #require(state.reader.edited).all.map(\.edits)
      // Which leaves have a patch is known when their inner node was read.
      _ = try PowerCutRun.content(second)
      #expect(edited.contains { state.reader.patch($0.link) != nil })
      // Another handle has verified no sector yet.
      let third = try Database.open(backend: TestBackend(backend.bytes))
      try store.check(third, people)
    }
    try store.check(second, people)
    try store.check()
  }

  // MARK: indexes

  private static let notes = TableSchema(
    name: "Note",
    columns: [
      ColumnSchema(name: "n", type: .int, isIndexed: true),
      ColumnSchema(name: "text", type: .string, isFullText: true),
    ])

  /// Rows whose pairs and words stay in their leaves when `change` is another one.
  private static func note(_ key: Int, change: Int) -> [Value] {
    [
      .int(Int64(key * 10 + change % 9)),
      .string("word\((key + change) % 7 + 10) of \(key % 50 + 10)"),
    ]
  }

  private static func changeNotes(_ database: Database, _ round: Int) throws {
    let write = try database.beginWrite()
    if round == 0 {
      try write.createTable(notes)
      for key in 0..<1800 { try write.insert(into: "Note", key: Int64(key), note(key, change: 0)) }
    } else {
      let key = round * 331 % 800 + 50
      try write.update(in: "Note", key: Int64(key), note(key, change: round))
    }
    try write.commit()
  }

  private static func kinds(_ database: Database) throws -> Set<NodeKind> {
    let state = database.state.withLock { $0.current }
    let edited = state.reader.edited?.all.map(\.edits) ?? []
    return try Set(
      edited.map { node in
        try NodeHeader(at: node.link.ref, in: state.reader.bytes).kind
      })
  }

  @Test("pairs of an index and words of a full-text index are edited in their leaves")
  func indexes() throws {
    let backend = TestBackend()
    let database = try Database.open(backend: backend)
    var kinds: Set<NodeKind> = []
    for round in 0..<60 {
      try Self.changeNotes(database, round)
      kinds.formUnion(try Self.kinds(database))
      try database.verify()
      let again = try Database.open(backend: TestBackend(backend.bytes))
      try again.verify()
      #expect(try PowerCutRun.content(again) == PowerCutRun.content(database))
    }
    #expect(kinds == [.group, .inner, .leaf, .indexInner, .indexLeaf, .wordLeaf])
  }

  @Test("indexes agree with the rows after a crash at any operation")
  func indexCrashes() throws {
    var run = PowerCutRun(change: Self.changeNotes)
    try run.record(rounds: 8)
    let (states, findings) = run.explore()
    #expect(findings == [])
    #expect(states > 100)
  }

  // MARK: copies

  @Test("a copy and a compacted file hold the edited rows")
  func copies() throws {
    try withTemporaryFolder { folder in
      let database = try Database.open(path: folder + "/old.realm")
      for round in 0..<9 { try Self.smallChange(database, round) }
      #expect(Self.slot(database).hasEdits)
      let content = try PowerCutRun.content(database)
      try database.writeCopy(to: folder + "/copy.realm", encryptionKey: nil)
      let copy = try Database.open(path: folder + "/copy.realm")
      #expect(try PowerCutRun.content(copy) == content)
      #expect(!Self.slot(copy).hasEdits)
      try copy.verify()
      try copy.close()
      try database.close()
    }
  }

  // MARK: bytes

  @Test("files of format version 3 get no edits")
  func oldFiles() throws {
    for file in ["format-2-two-phase.realm", "format-3-two-phase.realm"] {
      let bytes = try fileBytes(GoldenFile.folder + "/" + file)
      let database = try Database.open(backend: TestBackend(bytes))
      for round in 0..<4 {
        let write = try database.beginWrite()
        try write.upsert(into: "Dog", key: 3, Fixtures.dog(10 + round))
        try write.commit()
        #expect(!Self.slot(database).hasEdits)
      }
      try database.verify()
    }
  }

  /// Edits of some nodes, each with two runs; `checksum` is that of a place.
  private static func edits(
    of sectors: [UInt64], checksum: (Ref) -> UInt64, runBytes: (UInt64) -> Int
  ) -> [NodeEdits] {
    sectors.map { sector in
      let (ref, count, isPatched) = (Ref(sector: sector), runBytes(sector), sector % 3 == 0)
      var edits: [UInt8] = []
      for start in [48 + Int(sector % 300), 40_000] {
        edits.appendLittleEndian(UInt16(start))
        edits.appendLittleEndian(UInt16(count))
        edits += [UInt8](repeating: UInt8(truncatingIfNeeded: sector), count: count)
      }
      return NodeEdits(
        link: NodeLink(ref: ref, checksum: isPatched ? 1 << 60 + sector : checksum(ref)),
        edits: edits, isPatched: isPatched)
    }
  }

  @Test("edits are read as they were written")
  func coding() throws {
    func checksum(_ ref: Ref) -> UInt64 { ref.sector &* 0x9e37_79b9_7f4a_7c15 }
    let sectors: [UInt64] = [3, 4, 67, 68, 131, 1 << 13, 1 << 20, (1 << 36) - 1]
    let edits = Self.edits(of: sectors, checksum: checksum) { Int($0 % 140) + 1 }
    let nodes = EditedNodes(edits)
    let bytes = try #require(nodes.encoded())
    #expect(bytes.count == nodes.slotBytes)
    #expect(try SlotEdits.decode(bytes, at: .none, checksumInFile: checksum) == edits)
    let many = Self.edits(of: Array(3..<40), checksum: checksum) { _ in 30 }
    #expect(EditedNodes(many).encoded() == nil)
    for count in 0..<bytes.count {
      #expect(throws: EngineError.self) {
        try SlotEdits.decode(Array(bytes[..<count]), at: .none, checksumInFile: checksum)
      }
    }
    var form = bytes
    form[4] = 2
    #expect(throws: EngineError.self) {
      try SlotEdits.decode(form, at: .none, checksumInFile: checksum)
    }
  }

  @Test("no bytes of edits are a trap, and what is read from them is within a node")
  func hostileCoding() throws {
    let edits = Self.edits(of: [3, 4, 67, 131], checksum: { $0.sector }, runBytes: { _ in 9 })
    let bytes = try #require(EditedNodes(edits).encoded())
    var (random, read) = (TestRandom(7), 0)
    for _ in 0..<20_000 {
      var changed = bytes
      for _ in 0...random.below(3) {
        changed[8 + random.below(bytes.count - 8)] = UInt8(random.below(256))
      }
      guard let found = try? SlotEdits.decode(changed, at: .none, checksumInFile: { $0.sector })
      else { continue }
      read += 1
      for node in found {
        let leaf = [UInt8](repeating: 0, count: Layout.editedNodeBytesMax)
        try MutableBytes.withScratch(count: leaf.count) { copy in
          copy.copy(leaf, to: 0)
          try LeafPatch(baseChecksum: 0, edits: node.edits).apply(to: copy, at: node.link.ref)
        }
      }
    }
    #expect(read > 1_000)
  }

  @Test("a damaged base node, and edits of a node that the version has not, are errors")
  func damage() throws {
    let backend = TestBackend()
    let database = try Database.open(backend: backend)
    for round in 0..<6 { try Self.smallChange(database, round) }
    let state = database.state.withLock { $0.current }
    let edited = try #require(state.reader.edited).all.map(\.edits)
    #expect(edited.count >= 3)
    for node in edited {
      var image = backend.bytes
      image[Int(node.link.ref.offsetBytes) + 100] ^= 1
      let code = errorCode {
        let opened = try Database.open(backend: TestBackend(image))
        try opened.verify()
      }
      #expect(code == .corrupted)
    }
    // Within a node, and behind the end.
    let large = try edited.first {
      try NodeHeader(at: $0.link.ref, in: state.reader.bytes).sizeBytes > 4096
    }
    let inside = try #require(large).link.ref.sector + 1
    for sector in [inside, state.slot.logicalSizeBytes / 4096 + 1] {
      let unused = NodeEdits(
        link: NodeLink(ref: Ref(sector: sector), checksum: 1), edits: [60, 0, 1, 0, 7])
      let bytes = try #require(EditedNodes(edited + [unused]).encoded())
      let forged = RootSlot(version: state.version, editing: state.slot, bytes)
      var image = backend.bytes
      let start = Layout.slotOffsetsBytes[forged.index]
      image.replaceSubrange(start..<start + 4096, with: forged.encoded())
      let code = errorCode {
        let opened = try Database.open(backend: TestBackend(image))
        try opened.verify()
      }
      #expect(code == .corrupted)
    }
  }
}
