// UnplacedRefTests.swift: a file with a ref that only a writer's memory has. Found by mutants:
// changing the row trapped, or took a value of the transaction for the file's.

import Testing

@testable import Engine

@Suite struct UnplacedRefTests {
  private static let text = Value.string(String(repeating: "long", count: 200))
  private static let list = Value.list((0..<400).map { .int(Int64($0) << 40) })

  /// A row with a long value and a large list, both of which claim to be the writer's first, or to
  /// stand elsewhere.
  private static func image(_ ref: UInt64 = 1 << 63) throws -> [UInt8] {
    let backend = TestBackend()
    let database = try Database.open(backend: backend)
    let write = try database.beginWrite()
    try write.createTable(
      TableSchema(
        name: "T",
        columns: [
          ColumnSchema(name: "text", type: .string),
          ColumnSchema(name: "list", type: .int, collection: .list),
        ]))
    try write.insert(into: "T", key: 1, [text, list])
    try write.commit()
    let leaf = try #require(Reseal.nodes(database, .leaf).first)
    let targets =
      try Reseal.nodes(database, .string) + Reseal.nodes(database, .collectionLeaf)
    let top = try #require(Reseal.nodes(database, .group).first)
    try database.close()
    var bytes = backend.bytes
    let parents = Reseal.parents(bytes, nodes: [top, leaf] + targets)
    for target in targets {
      for link in parents[target] ?? [] {
        #expect(link.parent == leaf)
        Reseal.set(&bytes, link.offset, ref)
      }
    }
    Reseal.seal(&bytes, node: leaf, parents: parents)
    return bytes
  }

  @Test(arguments: [1 << 63, Layout.fileSizeBytesMax, Layout.fileSizeBytesMax - 4096])
  func isCorruptionForAWriter(_ ref: UInt64) throws {
    let database = try Database.open(backend: TestBackend(Self.image(ref)))
    #expect(errorCode { try database.verify() } == .corrupted)
    for hasOwn in [false, true] {
      for step in 0..<3 {
        let write = try database.beginWrite()
        if hasOwn {
          // The writer's own long value and list, in a leaf that is not the damaged one.
          try write.createTable(TableSchema(name: "Own", columns: write.tables[0].columns))
          try write.insert(into: "Own", key: 2, [Self.text, Self.list])
        }
        let code = errorCode { () throws -> Void in
          switch step {
          case 0: try write.update(in: "T", key: 1, [Self.text, .list([])])
          case 1: try write.delete(from: "T", key: 1)
          default:
            try write.append(.int(1), to: CollectionPath(table: "T", key: 1, column: "list"))
          }
        }
        #expect(code == .corrupted)
        write.cancel()
      }
    }
  }
}
