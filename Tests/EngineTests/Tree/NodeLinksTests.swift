// NodeLinksTests.swift: the walker finds every link of every kind of node, and where it stands.

import Testing

@testable import Engine

@Suite("Links of nodes")
struct NodeLinksTests {
  private static func database() throws -> ModelDatabase {
    var random = TestRandom(31)
    let test = try ModelDatabase(ColumnFixtures.all)
    try test.write { write in
      for key in 0..<30 {
        try write.insert(into: "All", key: Int64(key), ColumnFixtures.row(test.schema, &random))
      }
      try write.createTable(Fixtures.dogs)
      for key in 0..<TableSize.rows(60_000) {
        try write.insert(into: "Dog", key: Int64(key), Fixtures.dog(key))
      }
      try write.createTable(
        TableSchema(
          name: "Long", columns: [ColumnSchema(name: "l", type: .double, collection: .list)]))
      let numbers = (0..<TableSize.rows(300_000)).map { Value.double(Double($0)) }
      try write.insert(into: "Long", key: 1, [.list(numbers)])
    }
    return test
  }

  @Test("a walk over links reaches exactly the nodes that verify counts, from their own bytes")
  func walk() throws {
    let database = try Self.database().database
    let report = try database.verify()
    let snapshot = try database.snapshot()
    let state = snapshot.state
    var kinds: [NodeKind: Int] = [.group: 1, .freeList: state.group.freeList.isNone ? 0 : 1]
    var refs: Set<Ref> = []
    for table in state.group.tables {
      var stack = table.roots
      while let (link, role) = stack.popLast() {
        let node = try state.reader.node(
          link, kind: role.kind, level: role.level, newest: state.version)
        kinds[role.kind, default: 0] += 1
        #expect(refs.insert(link.ref).inserted)
        try NodeLinks.forEach(in: node, role) { child throws(EngineError) in
          let offset = child.offsetBytes
          #expect(node.bytes.uint64(offset) == child.link.ref.offsetBytes)
          #expect(node.bytes.uint64(offset + 8) == child.link.checksum)
          stack.append((child.link, child.role))
        }
      }
    }
    #expect(kinds.values.reduce(0, +) == report.nodes)
    for kind in [NodeKind.inner, .leaf, .string, .collectionInner, .collectionLeaf] {
      #expect((kinds[kind] ?? 0) > 0, "\(kind)")
    }
    snapshot.release()
  }

  @Test("a link rewritten at its offset leads to the copy of a node")
  func rewritten() throws {
    // One string node is copied to space that the version does not use; the leaf is patched and
    // sealed again.
    var test = try ModelDatabase(
      TableSchema(name: "T", columns: [ColumnSchema(name: "s", type: .string)]))
    let text = String(repeating: "z", count: 3000)
    try test.write { try test.put(1, [.string(text)], $0) }
    let snapshot = try test.database.snapshot()
    let table = try snapshot.state.group.table(named: "T")
    let reader = snapshot.state.reader
    let node = try reader.node(table.root, kind: .leaf, newest: snapshot.version)
    var children: [ChildLink] = []
    try NodeLinks.forEach(in: node, .tree(table.shape, level: 0)) { children.append($0) }
    let child = try #require(children.first)
    snapshot.release()
    var bytes = test.backend.bytes
    let parents = Reseal.parents(
      bytes,
      nodes: try [NodeKind.group, .leaf, .string].flatMap { try Reseal.nodes(test.database, $0) })
    let (from, leaf) = (Int(child.link.ref.offsetBytes), Int(table.root.ref.offsetBytes))
    let unused = FileInspection.inspect(try test.backend.map()).spaceMap.first {
      $0.use == SectorUse.free || $0.use == SectorUse.pending
    }
    let place = Int(try #require(unused).offsetBytes)
    bytes.replaceSubrange(place..<place + 4096, with: bytes[from..<from + 4096])
    Reseal.set(&bytes, place + 8, UInt64(place))
    Reseal.seal(&bytes, node: place, parents: [:])
    Reseal.set(&bytes, leaf + child.offsetBytes, UInt64(place))
    Reseal.set(&bytes, leaf + child.offsetBytes + 8, Reseal.number(bytes, place))
    Reseal.seal(&bytes, node: leaf, parents: parents)
    bytes.replaceSubrange(from..<from + 4096, with: [UInt8](repeating: 0xee, count: 4096))
    let moved = try Database.open(backend: TestBackend(bytes))
    #expect(try moved.snapshot().row(in: "T", key: 1) == [.string(text)])
  }
}
