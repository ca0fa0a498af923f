// LimitTests.swift: the limits of docs/reference/limits.md, at the bound and one beyond, and empty
// everything.

import Testing

@testable import Engine

@Suite struct LimitTests {
  private static func message(_ call: () throws -> Void) -> String {
    do {
      try call()
      return "no error"
    } catch { return "\(error)" }
  }

  @Test func theLongestStringAndOneByteMore() throws {
    let database = try Database.open(backend: TestBackend())
    let write = try database.beginWrite()
    try write.createTable(
      TableSchema(name: "T", columns: [ColumnSchema(name: "s", type: .string)]))
    let longest = String(repeating: "é", count: 8 << 20)
    #expect(longest.utf8.count == 16_777_216)
    try write.insert(into: "T", key: 1, [.string(longest)])
    let message = Self.message {
      try write.insert(into: "T", key: 2, [.string(longest + "x")])
    }
    #expect(message.contains("16777217") && message.contains("16777216"), "\(message)")
    #expect(try write.count(of: "T") == 1)
    try write.commit()
    #expect(try database.snapshot().row(in: "T", key: 1) == [.string(longest)])
  }

  @Test func namesOfAnyUTF8() throws {
    let backend = TestBackend()
    let database = try Database.open(backend: backend)
    let names = [
      "a", " ", "\0", "\n\t\"'", "é", "e\u{301}x", "👩‍👩‍👧‍👦", "\u{202e}rtl", "表", "\u{10ffff}",
      String(repeating: "x", count: 255), String(repeating: "é", count: 127),
      String(repeating: "🦊", count: 63) + "abc",
    ]
    let write = try database.beginWrite()
    for (index, name) in names.enumerated() {
      let columns = names.map { ColumnSchema(name: $0, type: .int) }
      try write.createTable(TableSchema(name: name, columns: columns))
      try write.insert(into: name, key: 1, names.indices.map { .int(Int64($0 + index)) })
    }
    for name in ["", String(repeating: "x", count: 256), String(repeating: "é", count: 128)] {
      let table = TableSchema(name: name, columns: [])
      let count = name.utf8.count
      let asTable = Self.message { try write.createTable(table) }
      #expect(asTable.contains("has \(count) bytes; use 1 to 255"), "\(asTable)")
      let asColumn = Self.message {
        try write.addColumn(ColumnSchema(name: name, type: .int), to: "a")
      }
      #expect(asColumn.contains("has \(count) bytes; use 1 to 255"), "\(asColumn)")
    }
    try write.commit()
    try database.close()
    let again = try Database.open(backend: TestBackend(backend.bytes))
    try again.verify()
    let snapshot = try again.snapshot()
    #expect(snapshot.tables.map { Array($0.name.utf8) } == names.map { Array($0.utf8) })
    for (index, name) in names.enumerated() {
      let row = try snapshot.row(in: name, key: 1)
      #expect(row == names.indices.map { .int(Int64($0 + index)) })
    }
  }

  @Test func emptyEverything() throws {
    let backend = TestBackend()
    var database = try Database.open(backend: backend)
    // No table, no column, no row, no byte, no element, no change.
    try database.beginWrite().commit()
    let none = try database.snapshot()
    #expect(none.tables.isEmpty)
    none.release()
    let write = try database.beginWrite()
    let columns = [
      ColumnSchema(name: "s", type: .string, isIndexed: true),
      ColumnSchema(name: "b", type: .binary, isUnique: true),
      ColumnSchema(name: "m", type: .mixed),
      ColumnSchema(name: "list", type: .string, collection: .list),
      ColumnSchema(name: "set", type: .binary, collection: .set),
      ColumnSchema(name: "map", type: .int, collection: .dictionary),
      ColumnSchema(name: "links", type: .link, collection: .list, target: "No rows"),
    ]
    try write.createTable(TableSchema(name: "No columns", columns: []))
    try write.createTable(TableSchema(name: "No rows", columns: [columns[0]]))
    try write.createTable(TableSchema(name: "Empty", columns: columns))
    let row: [Value] = [
      .string(""), .binary([]), .null, .list([]), .set([]), .dictionary([]), .list([]),
    ]
    try write.insert(into: "No columns", key: 0, [])
    try write.insert(into: "Empty", key: .min, row)
    try write.commit()
    try database.close()
    database = try Database.open(backend: TestBackend(backend.bytes))
    #expect(try database.verify().rows == 2)
    let snapshot = try database.snapshot()
    #expect(try snapshot.row(in: "No columns", key: 0) == [])
    #expect(try snapshot.row(in: "No rows", key: 0) == nil)
    #expect(try snapshot.row(in: "Empty", key: .min) == row)
    #expect(
      try snapshot.keys(in: "Empty", column: "s", equalTo: .string("")) == [.min])
    #expect(try snapshot.keys(in: "No rows", column: "s", equalTo: .string("")) == [])
    let reader = try snapshot.reader(for: "No rows")
    let text = try reader.column("s", of: String.self)
    #expect(try reader.count(text, equalTo: "") == 0)
    // An element that is empty is not a collection without elements.
    let last = try database.beginWrite()
    let list = CollectionPath(table: "Empty", key: .min, column: "list")
    try last.append(.string(""), to: list)
    #expect(try last.count(of: list) == 1)
    try last.delete(from: "Empty", key: .min)
    try last.commit()
    try database.verify()
  }

  /// A sanitizer maps terabytes for itself, so no process can be limited.
  private static var hasSanitizer: Bool {
    #if ADDRESS_SANITIZER || THREAD_SANITIZER
      true
    #else
      false
    #endif
  }

  /// A process that may not map the file gets an error, and the file is as before.
  @Test(.disabled(if: hasSanitizer, "skipped: the sanitizer takes the address space"))
  func aFileThatCannotBeMapped() throws {
    try withAccounts { path in
      let descriptor = try Syscalls.open(path, writable: true).get()
      #expect(Syscalls.truncate(descriptor, to: 16 << 30) == nil)
      Syscalls.close(descriptor)
      let worker = try WorkerProcess(path, "open-limited", 8 << 30)
      let line = worker.line() ?? "nothing"
      #expect(line.hasPrefix("error ") && line.contains("mmap"), "\(line)")
      #expect(worker.wait() == 1)
      // Without the limit 16 GiB are mapped in one piece, on a machine that has less memory.
      let database = try Database.open(path: path)
      #expect(try Accounts.sum(in: database) == Accounts.sumWanted)
      try database.close()
    }
  }
}
