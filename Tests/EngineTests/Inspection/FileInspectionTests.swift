// FileInspectionTests.swift: what inspection says of whole and of damaged images.

import Testing

@testable import Engine

@Suite("File inspection")
struct FileInspectionTests {
  private static func inspect(_ bytes: [UInt8]) throws -> FileInspection {
    FileInspection.inspect(try TestBackend(bytes).map())
  }

  @Test("every sector of a whole file has its use")
  func whole() throws {
    var test = try TestDatabase()
    try test.put(0..<2000)
    try test.put(0..<100, round: 4)
    try test.check()
    let report = try Self.inspect(test.backend.bytes)
    #expect(report.corruption == nil)
    #expect(report.version == test.database.version)
    #expect(report.formatVersion == .current)
    #expect(report.tables.map(\.rows) == [2000])
    #expect(report.tables[0].depth == 2)
    #expect(report.spaceMap.first?.use == .header)
    #expect(report.spaceMap.reduce(0) { $0 + $1.sizeBytes } == report.fileSizeBytes)
    #expect(!report.spaceMap.contains { $0.use == .unaccounted })
  }

  @Test("damage in one table does not hide the other")
  func damaged() throws {
    var test = try TestDatabase()
    let write = try test.database.beginWrite()
    try write.createTable(TableSchema(name: "B", columns: []))
    for key in 0..<5 { try write.insert(into: "B", key: Int64(key), []) }
    try write.commit()
    try test.put(0..<100)
    var bytes = test.backend.bytes
    let root = test.database.state.withLock { Int($0.current.group.tables[0].root.ref.offsetBytes) }
    bytes[root + 100] ^= 1
    let report = try Self.inspect(bytes)
    #expect(report.corruption?.code == .corrupted)
    #expect(report.corruption?.message.contains("ref \(root)") == true)
    #expect(report.tables.map(\.nodes) == [0, 1])
    #expect(report.spaceMap.contains { $0.use == .unaccounted })
    #expect(try Self.inspect([]).corruption?.code == .notADatabase)
    #expect(try test.database.verify().tables == 2)
  }
}
