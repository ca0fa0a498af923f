// CollectionEndTests.swift: a collection's tree whose inner node says that a child holds
// more elements than all of them do. Found by a mutant: a change of the collection trapped.

import Testing

@testable import Engine

@Suite struct CollectionEndTests {
  @Test func isCorruptionForAWriter() throws {
    let backend = TestBackend()
    let database = try Database.open(backend: backend)
    let write = try database.beginWrite()
    try write.createTable(
      TableSchema(
        name: "T", columns: [ColumnSchema(name: "list", type: .int, collection: .list)]))
    try write.insert(into: "T", key: 1, [.list((0..<9000).map { .int(Int64($0) << 40) })])
    try write.commit()
    let inner = try #require(Reseal.nodes(database, .collectionInner).first)
    let leaf = try #require(Reseal.nodes(database, .leaf).first)
    let top = try #require(Reseal.nodes(database, .group).first)
    try database.close()
    let children = Int(Reseal.number(backend.bytes, inner + NodeField.count, 4))
    try #require(children > 2)
    for child in 0..<children {
      var bytes = backend.bytes
      let parents = Reseal.parents(bytes, nodes: [top, leaf, inner])
      Reseal.set(&bytes, inner + Layout.nodeHeaderBytes + 8 * child, 1 << 63 + 5)
      Reseal.seal(&bytes, node: inner, parents: parents)
      let damaged = try Database.open(backend: TestBackend(bytes))
      for position in [0, 4500, 8999] {
        let write = try damaged.beginWrite()
        let path = CollectionPath(table: "T", key: 1, column: "list")
        let code = errorCode {
          try write.append(.int(1), to: path)
          try write.remove(at: position, from: path)
        }
        #expect(code == .corrupted, "child \(child)")
        write.cancel()
      }
    }
  }
}
