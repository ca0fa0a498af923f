// NextIDTests.swift: a group that would give the id 0 away. Found by mutants: adding a column to
// such a table trapped, and a table of id 0 was written that no one could read.

import Testing

@testable import Engine

@Suite struct NextIDTests {
  /// A database with one table without columns, and where in the image its group stands.
  private static func empty() throws -> (bytes: [UInt8], group: Int) {
    let backend = TestBackend()
    let database = try Database.open(backend: backend)
    let write = try database.beginWrite()
    try write.createTable(TableSchema(name: "T", columns: []))
    try write.commit()
    let group = try #require(Reseal.nodes(database, .group).first)
    try database.close()
    return (backend.bytes, group)
  }

  /// Offsets behind the group's header: the next table's id, and of the table its next column's.
  @Test(arguments: [(16, 4), (28, 2)])
  func isCorruption(offset: Int, count: Int) throws {
    var (bytes, group) = try Self.empty()
    let start = group + Layout.nodeHeaderBytes + offset
    #expect(Reseal.number(bytes, start, count) == (count == 4 ? 2 : 1))
    Reseal.set(&bytes, start, 0, count)
    Reseal.seal(&bytes, node: group, parents: [:])
    #expect(errorCode { try Database.open(backend: TestBackend(bytes)) } == .corrupted)
  }
}
