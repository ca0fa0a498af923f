// SlotEditsOfOlderBasesTests.swift: edits are of the nodes of one base. What older nodes left in
// the sectors of edited ones, and slots whose edits belong to an older base, change no row.

import Testing

@testable import Engine

@Suite("Edits in slots, and older bases")
struct SlotEditsOfOlderBasesTests {
  private static func state(_ database: Database) -> VersionState {
    database.state.withLock { $0.current }
  }

  private static func write(
    _ database: Database, _ change: (WriteTransaction) throws -> Void
  ) throws {
    let write = try database.beginWrite()
    try change(write)
    try write.commit()
  }

  // MARK: marks

  private static let sizes = TableSchema(
    name: "Size", columns: [ColumnSchema(name: "size", type: .double)])

  /// The only leaf of the only table, and the link to it; reading it leaves a mark.
  private static func leaf(_ database: Database) throws -> (link: NodeLink, bytes: [UInt8]) {
    let state = state(database)
    let link = try #require(state.group.tables.first).root
    let node = try state.reader.node(link, kind: .leaf, newest: state.version)
    return (link, node.bytes.array)
  }

  /// The key of a row, and the value with which the leaf gets a checksum with this mark.
  private static func value(
    in leaf: [UInt8], rows: Int, mark: UInt32
  ) -> (key: Int64, double: Double)? {
    // The checksum leaves itself out.
    let covered = Array(leaf[8...])
    let solver = ChecksumSolver(covered)
    // The bytes of 0 are in other places, too.
    for key in 1..<rows {
      let stored = (0..<8).map { UInt8(truncatingIfNeeded: Double(key).bitPattern >> (8 * $0)) }
      let offset = stride(from: 40, to: covered.count - 8, by: 8).first {
        Array(covered[$0..<$0 + 8]) == stored
      }
      guard let offset, solver.canChoose(offset) else { continue }
      for upper in UInt64(1)..<100 {
        let word = solver.word(at: offset, for: upper << 32 | UInt64(mark))
        let double = Double(bitPattern: word)
        if double.isNormal { return (Int64(key), double) }
      }
    }
    return nil
  }

  @Test("a mark that an older node left does not let the edits of another be left out")
  func staleMark() throws {
    try withTemporaryFolder { folder in
      let reader = try Database.open(path: folder + "/marks.realm")
      let writer = try Database.open(path: folder + "/marks.realm")
      let rows = 200
      try Self.write(writer) { write in
        try write.createTable(Self.sizes)
        for key in 0..<rows {
          try write.insert(into: "Size", key: Int64(key), [.double(Double(key))])
        }
      }
      let first = try reader.snapshot()
      first.release()
      let old = try Self.leaf(reader).link
      // The reader does not see how the writer puts another node into that sector.
      for round in 0..<40 {
        let key = Int64(rows + round / 2)
        try Self.write(writer) { write in
          if round % 2 == 0 {
            try write.insert(into: "Size", key: key, [.double(-1)])
          } else {
            try write.delete(from: "Size", key: key)
          }
        }
        let now = try Self.leaf(writer).link
        if round % 2 == 1 && now.ref == old.ref && now != old { break }
      }
      let base = try Self.leaf(writer)
      try #require(base.link.ref == old.ref && base.link != old)
      // And edits it, so that its link has the mark of the node that the reader has read there.
      let mark = NodeReader.mark(old.checksum)
      let (key, double) = try #require(
        Self.value(in: base.bytes, rows: rows, mark: mark))
      try Self.write(writer) { try $0.update(in: "Size", key: key, [.double(double)]) }
      #expect(Self.state(writer).slot.hasEdits)
      let edited = try Self.leaf(writer).link
      try #require(edited.ref == old.ref && NodeReader.mark(edited.checksum) == mark)
      for database in [writer, reader] {
        let snapshot = try database.snapshot()
        defer { snapshot.release() }
        #expect(try snapshot.row(in: "Size", key: key) == [.double(double)])
      }
      try reader.verify()
      try reader.close()
      try writer.close()
    }
  }

  @Test("a reader of a version that ends sooner finds the edited nodes behind its end")
  func readerOfShorterVersion() throws {
    try withTemporaryFolder { folder in
      let reader = try Database.open(path: folder + "/longer.realm")
      let writer = try Database.open(path: folder + "/longer.realm")
      let end = Self.state(reader).slot.logicalSizeBytes
      try Self.write(writer) { write in
        try write.createTable(Self.sizes)
        for key in 0..<600 { try write.insert(into: "Size", key: Int64(key), [.double(0.5)]) }
      }
      for key in stride(from: 0, to: 600, by: 150) {
        try Self.write(writer) { try $0.update(in: "Size", key: Int64(key), [.double(0.25)]) }
      }
      let state = Self.state(writer)
      let edited = try #require(state.reader.edited).all
      try #require(edited.contains { $0.edits.link.ref.offsetBytes > end })
      try #require(state.slot.logicalSizeBytes <= UInt64(Self.state(reader).reader.mapping.count))
      let snapshot = try reader.snapshot()
      #expect(try snapshot.row(in: "Size", key: 150) == [.double(0.25)])
      snapshot.release()
      try reader.verify()
      try reader.close()
      try writer.close()
    }
  }

  // MARK: slots

  private static func change(_ database: Database, _ round: Int) throws {
    try write(database) { write in
      for key in [round * 37 % 900, round * 331 % 900] {
        try write.update(
          in: "Dog", key: Int64(key), [.int(Int64(round % 100)), .string("dog number \(key)")])
      }
    }
  }

  /// A database of dogs whose newest two versions have edits.
  private static func dogs(_ backend: TestBackend) throws -> Database {
    let database = try Database.open(backend: backend)
    try write(database) { write in
      try write.createTable(Fixtures.dogs)
      for key in 0..<900 { try write.insert(into: "Dog", key: Int64(key), Fixtures.dog(key)) }
    }
    for round in 1..<6 { try change(database, round) }
    #expect(state(database).slot.hasEdits)
    return database
  }

  private static func image(_ backend: TestBackend, _ slot: RootSlot) -> [UInt8] {
    var image = backend.bytes
    let start = Layout.slotOffsetsBytes[slot.index]
    image.replaceSubrange(start..<start + Layout.sectorSizeBytes, with: slot.encoded())
    return image
  }

  @Test("a whole slot whose edits are of an older base has the rows of its group, and is an error")
  func olderBase() throws {
    let backend = TestBackend()
    let database = try Self.dogs(backend)
    let old = Self.state(database)
    let edits = try #require(old.reader.edited).all.map(\.edits)
    // All edited leaves are written anew, and the old ones stay in their places.
    let pin = try database.snapshot()
    defer { pin.release() }
    try Self.write(database) { try $0.insert(into: "Dog", key: 1000, Fixtures.dog(1000)) }
    let newest = Self.state(database)
    try #require(!newest.slot.hasEdits)
    let content = try PowerCutRun.content(database)

    for part in [edits] + edits.map({ [$0] }) {
      let bytes = try #require(EditedNodes(part).encoded())
      let forged = RootSlot(
        version: newest.version.next.next, editing: newest.slot, bytes)
      let opened = try Database.open(backend: TestBackend(Self.image(backend, forged)))
      #expect(Self.state(opened).version == forged.version)
      #expect(try PowerCutRun.content(opened) == content)
      #expect(errorCode { try opened.verify() } == .corrupted)
    }
    // Edits that say the place of the present group, or leaf, with the checksum of the old one.
    let table = try #require(newest.group.tables.first)
    for (link, wrong) in [(newest.slot.top, old.slot.top), (table.root, edits[0].link)] {
      let moved = NodeEdits(
        link: NodeLink(ref: link.ref, checksum: wrong.checksum), edits: edits[0].edits,
        isPatched: true)
      let bytes = try #require(EditedNodes([moved]).encoded())
      let forged = RootSlot(version: newest.version.next.next, editing: newest.slot, bytes)
      let code = errorCode {
        let opened = try Database.open(backend: TestBackend(Self.image(backend, forged)))
        _ = try PowerCutRun.content(opened)
      }
      #expect(code == .corrupted)
    }
    // Edits of a present leaf, whose parent does not lead to what they make of it.
    let lost = NodeEdits(link: table.root, edits: edits[0].edits)
    let bytes = try #require(EditedNodes([lost]).encoded())
    let forged = RootSlot(version: newest.version.next.next, editing: newest.slot, bytes)
    let opened = try Database.open(backend: TestBackend(Self.image(backend, forged)))
    #expect(try PowerCutRun.content(opened) == content)
    #expect(errorCode { try opened.verify() } == .corrupted)
  }

  @Test("edits of a published version, whose slot cannot be read, are an error of the medium")
  func unreadableSlot() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.realm"
      let database = try Database.open(path: path)
      try Self.write(database) { write in
        try write.createTable(Fixtures.dogs)
        for key in 0..<900 { try write.insert(into: "Dog", key: Int64(key), Fixtures.dog(key)) }
      }
      try Self.change(database, 1)
      let slot = Self.state(database).slot
      try #require(slot.hasEdits)
      try database.close()
      // As it is in the lock file.
      let published = try #require(RootSlot(record: slot.record, index: slot.index))
      #expect(published.edits.isEmpty && published.hasEdits)
      let backend = try UnreadableBackend(path)
      #expect(try published.withEdits(in: backend.map()) == slot)
      backend.page = 1 + slot.index
      let mapping = try backend.map()
      #expect(errorCode { _ = try published.withEdits(in: mapping) } == .io)
      backend.page = 2 - slot.index
      #expect(try published.withEdits(in: backend.map()) == slot)
    }
  }

  @Test("a slot that is torn between the edits of two versions is one of them, or invalid")
  func tornBetweenEdits() throws {
    let backend = TestBackend()
    let database = try Self.dogs(backend)
    let before = backend.bytes
    var contents: [Version: UInt64] = [:]
    func note() throws {
      contents[Self.state(database).version] = try PowerCutRun.content(database)
    }
    try Self.change(database, 6)
    let between = backend.bytes
    try note()
    try Self.change(database, 7)
    try note()
    let after = backend.bytes
    let start = Layout.slotOffsetsBytes[Self.state(database).slot.index]
    let end = start + Layout.sectorSizeBytes
    #expect(between[start..<end] == before[start..<end])

    var found: [Version: Int] = [:]
    for cut in stride(from: start, through: end, by: 8) {
      for newestFirst in [true, false] {
        var image = after
        let older = newestFirst ? cut..<end : start..<cut
        image.replaceSubrange(older, with: before[older])
        let opened = try Database.open(backend: TestBackend(image))
        let version = Self.state(opened).version
        #expect(try PowerCutRun.content(opened) == contents[version])
        found[version, default: 0] += 1
      }
    }
    #expect(found.count == 2)
    #expect(found.values.allSatisfy { $0 > 100 })
  }
}
