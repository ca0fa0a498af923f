// HalfChangeTests.swift: a change that a damaged node broke off half-way. Found by mutants: the
// next call of the same transaction trapped.

import Testing

@testable import Engine

@Suite struct HalfChangeTests {
  private static let columns = [
    ColumnSchema(name: "text", type: .string), ColumnSchema(name: "first", type: .int),
    ColumnSchema(name: "last", type: .int),
  ]

  /// A table with one leaf, which does not match its checksum.
  private static func damaged() throws -> TestBackend {
    let backend = TestBackend()
    let database = try Database.open(backend: backend)
    let write = try database.beginWrite()
    try write.createTable(TableSchema(name: "T", columns: columns))
    try write.createTable(Fixtures.dogs)
    for key in 0..<3 {
      try write.insert(into: "T", key: Int64(key), [.string("a"), .int(1), .int(2)])
    }
    try write.commit()
    let leaf = try #require(Reseal.nodes(database, .leaf).first)
    try database.close()
    var bytes = backend.bytes
    bytes[leaf + 60] ^= 1
    return TestBackend(bytes)
  }

  @Test func everyLaterCallThrowsTheSameError() throws {
    let database = try Database.open(backend: Self.damaged())
    let write = try database.beginWrite()
    #expect(errorCode { try write.removeColumn("text", from: "T") } == .corrupted)
    #expect(errorCode { try write.addIndex(to: "last", in: "T") } == .corrupted)
    #expect(errorCode { try write.insert(into: "Dog", key: 1, Fixtures.dog(1)) } == .corrupted)
    #expect(errorCode { try write.commit() } == .corrupted)
    // The transaction has ended, and the next one is whole.
    let next = try database.beginWrite()
    try next.insert(into: "Dog", key: 1, Fixtures.dog(1))
    try next.commit()
    #expect(try database.snapshot().count(of: "Dog") == 1)
  }
}
