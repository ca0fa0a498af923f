// MemoTests.swift: a version's memo is part of it like its tables: whatever kind of commit makes
// the version, and wherever the version is copied.

import Testing

@testable import Engine

@Suite("A version's memo")
struct MemoTests {
  private static let schema = TableSchema(
    name: "t", columns: [ColumnSchema(name: "n", type: .int)])

  private func memo(_ number: Int) -> [UInt8] {
    (0..<900).map { UInt8(truncatingIfNeeded: $0 < 30 ? number + $0 : 0) }
  }

  @Test("is that of its commit, of edits and of nodes, and of no other", arguments: [false, true])
  func commits(isEncrypted: Bool) throws {
    try withTemporaryFolder { folder in
      var options = Database.Options()
      if isEncrypted { options.encryptionKey = [UInt8](repeating: 7, count: 64) }
      var database = try Database.open(path: folder + "/a", options: options)
      var write = try database.beginWrite()
      try write.createTable(Self.schema)
      try write.commit()
      var kept: [Snapshot] = []
      for number in 0..<40 {
        write = try database.beginWrite()
        write.memo = memo(number)
        // Rows make nodes; the memo alone, or with a value, is an edit.
        if number % 4 == 1 { try write.insert(into: "t", key: Int64(number), [.int(3)]) }
        if number % 4 == 2 {
          try write.set(.int(Int64(number)), in: "t", key: Int64(number - 1), column: "n")
        }
        try write.commit()
        kept.append(try database.snapshot())
        write = try database.beginWrite()
        write.memo = []
        write.cancel()
      }
      for (number, snapshot) in kept.enumerated() { #expect(snapshot._memo == memo(number)) }
      kept = []
      try database.verify()
      try database.close()
      database = try Database.open(path: folder + "/a", options: options)
      #expect(try database.snapshot()._memo == memo(39))
      #expect(try database.compact())
      #expect(try database.snapshot()._memo == memo(39))
      try database.writeCopy(to: folder + "/b", encryptionKey: nil)
      let copy = try Database.open(path: folder + "/b")
      #expect(try copy.snapshot()._memo == memo(39))
      try copy.verify()
      write = try copy.beginWrite()
      write.memo = [1, 2]
      try write.commit()
      #expect(try copy.snapshot()._memo == [1, 2])
    }
  }
}
