// RowTestTests.swift: conditions over several columns agree with looking at every row's values, in
// plain and encrypted files, and keys of a table are those that a transaction sees.

import Testing

@testable import Engine

@Suite("Tests of rows")
struct RowTestTests {
  private static let table = TableSchema(
    name: "Thing",
    columns: [
      ColumnSchema(name: "int", type: .int, isOptional: true),
      ColumnSchema(name: "bool", type: .bool, isOptional: true),
      ColumnSchema(name: "double", type: .double, isOptional: true),
      ColumnSchema(name: "float", type: .float),
      ColumnSchema(name: "text", type: .string, isOptional: true),
      ColumnSchema(name: "date", type: .date, isOptional: true),
      ColumnSchema(name: "link", type: .link, target: "Thing"),
      ColumnSchema(name: "mixed", type: .mixed),
      ColumnSchema(name: "list", type: .int, collection: .list),
    ])

  private static func filled(
    _ options: Database.Options, _ count: Int
  ) throws -> (database: Database, rows: [Int64: [Value]]) {
    var random = TestRandom(41)
    let database = try Database.open(backend: TestBackend(), options: options)
    let write = try database.beginWrite()
    try write.createTable(table)
    var rows: [Int64: [Value]] = [:]
    for number in 0..<count {
      let key = Int64(number) * 3 - 50
      func optional(_ value: Value) -> Value { random.below(5) == 0 ? .null : value }
      let values: [Value] = [
        optional(.int(Int64(random.below(9)))), optional(.bool(random.below(2) == 0)),
        optional(.double([0, -0.0, 1.5, .nan, .infinity][random.below(5)])),
        .float(Float(random.below(4)) / 2),
        optional(.string(["", "a", "ab", "AB", "xÄb", "ß"][random.below(6)])),
        optional(.date(seconds: 0, nanoseconds: 0)), .null, .null, .list([]),
      ]
      rows[key] = values
      try write.insert(into: "Thing", key: key, values)
    }
    try write.commit()
    return (database, rows)
  }

  private typealias Case = (test: RowTest, passes: ([Value]) -> Bool)

  private static func number(_ row: [Value]) -> Int64? {
    if case .int(let number) = row[0] { number } else { nil }
  }

  private static func real(_ row: [Value]) -> Double {
    if case .double(let real) = row[2] { real } else { .nan }
  }

  private static func word(_ row: [Value]) -> String? {
    if case .string(let text) = row[4] { text } else { nil }
  }

  private static func searches(_ reader: TableReader) throws -> [Case] {
    func search(
      _ text: String, _ place: TextSearch.Place, _ options: String = ""
    ) throws -> RowTest {
      try reader.test(
        reader.column("text", of: String.self),
        TextSearch(
          text, at: place, ignoresCase: options.contains("c"),
          ignoresMarks: options.contains("d")))
    }
    return [
      (try search("b", .anywhere), { word($0)?.contains("b") ?? false }),
      (try search("", .anywhere), { word($0) != nil }),
      (try search("B", .end, "c"), { word($0)?.lowercased().hasSuffix("b") ?? false }),
      (try search("Ab", .whole, "c"), { word($0)?.lowercased() == "ab" }),
      (try search("äB", .anywhere, "c"), { word($0) == "xÄb" }),
      (try search("Ab", .anywhere, "d"), { word($0) == "xÄb" }),
      (try search("aB", .anywhere, "cd"), { ["ab", "AB", "xÄb"].contains(word($0)) }),
      (try search("ss", .start, "c"), { word($0) == "ß" }),
      (.not(try search("a", .start, "c")), { !(word($0)?.lowercased().hasPrefix("a") ?? false) }),
    ]
  }

  private static func check(
    _ cases: [Case], _ reader: TableReader, _ rows: [Int64: [Value]]
  ) throws {
    for (index, (test, passes)) in cases.enumerated() {
      let expected = rows.keys.sorted().filter { passes(rows[$0]!) }
      #expect(try reader.keys(where: test) == expected, "case \(index)")
      #expect(try reader.count(where: test) == expected.count, "case \(index)")
      let numbers = expected.compactMap { number(rows[$0]!) }
      let sum = try reader.sum(reader.column("int", of: Int64.self), where: test)
      #expect(sum.total == Int128(numbers.reduce(0, +)), "case \(index)")
      #expect(sum.count == numbers.count, "case \(index)")
      var visited: [Int64] = []
      try reader.forEachRow(where: test) { visited.append($0.key) }
      #expect(visited == expected, "case \(index)")
    }
  }

  private static func check(_ database: Database, _ rows: [Int64: [Value]]) throws {
    let snapshot = try database.snapshot()
    let reader = try snapshot.reader(for: "Thing")
    let int = try reader.test(reader.column("int", of: Int64.self), .less(4))
    let notInt = try reader.test(reader.column("int", of: Int64.self), .notEqual(4))
    let bool = try reader.test(reader.column("bool", of: Bool.self), equalTo: true)
    let double = try reader.test(reader.column("double", of: Double.self), .atLeast(0))
    let float = try reader.test(reader.column("float", of: Float.self), .equal(0.5))
    let text = try reader.test(reader.column("text", of: String.self), withPrefix: "a")
    let isA = try reader.test(reader.column("text", of: String.self), equalTo: "a")
    let oneOf = try reader.test(reader.column("text", of: String.self), isOneOf: ["ab", "", "x"])
    let isNull = try reader.test(isNull: "date")
    let cases: [Case] = [
      (int, { number($0).map { $0 < 4 } ?? false }), (notInt, { number($0) != 4 }),
      (bool, { $0[1] == .bool(true) }), (.not(bool), { $0[1] != .bool(true) }),
      (double, { real($0) >= 0 }), (float, { $0[3] == .float(0.5) }),
      (text, { word($0)?.hasPrefix("a") ?? false }), (isNull, { $0[5] == .null }),
      (oneOf, { ["ab", ""].contains(word($0)) }),
      (.not(oneOf), { !["ab", ""].contains(word($0)) }),
      (.not(isNull), { $0[5] != .null }), (.all([]), { _ in true }), (.any([]), { _ in false }),
      (
        .all([int, double, .not(isA)]),
        {
          number($0).map { $0 < 4 } ?? false && real($0) >= 0 && word($0) != "a"
        }
      ),
      (
        .any([isNull, .all([bool, float]), isA]),
        {
          $0[5] == .null || $0[1] == .bool(true) && $0[3] == .float(0.5) || word($0) == "a"
        }
      ),
      (
        .not(.any([isNull, .not(.all([int, .not(.not(float))]))])),
        {
          $0[5] != .null && number($0).map { $0 < 4 } ?? false && $0[3] == .float(0.5)
        }
      ),
    ]
    try check(cases + searches(reader), reader, rows)
    var all: [Int64] = []
    try reader.forEachRow(where: nil) { all.append($0.key) }
    #expect(all == rows.keys.sorted())
    #expect(try snapshot.keys(of: "Thing") == all)
    for column in ["mixed", "list"] {
      let error = #expect(throws: EngineError.self) { try reader.test(isNull: column) }
      #expect(error?.code == .schemaMismatch)
    }
    snapshot.release()
    let closed = #expect(throws: EngineError.self) { try reader.count(where: isNull) }
    #expect(closed?.code == .closed)
  }

  @Test("find the rows that looking at every value finds", arguments: [0, 1, 64, 65, 5_000])
  func agree(count: Int) throws {
    let (database, rows) = try Self.filled(.init(), count)
    try Self.check(database, rows)
    try database.verify()
    try database.close()
  }

  @Test("find the same rows in an encrypted file")
  func encrypted() throws {
    var options = Database.Options()
    options.encryptionKey = (0..<64).map { UInt8($0) }
    let (database, rows) = try Self.filled(options, 2_000)
    try Self.check(database, rows)
    try database.close()
  }

  @Test("belong to the reader that made them")
  func foreignReader() async {
    await #expect(processExitsWith: .failure) {
      let (database, _) = try Self.filled(.init(), 1)
      let snapshot = try database.snapshot()
      let first = try snapshot.reader(for: "Thing")
      let second = try snapshot.reader(for: "Thing")
      _ = try second.count(where: try first.test(isNull: "date"))
    }
  }

  @Test("keys of a transaction are those of its changes, before and after commits")
  func keysOfTransaction() throws {
    let (database, rows) = try Self.filled(.init(), 3_000)
    var model = Set(rows.keys)
    var random = TestRandom(43)
    for _ in 0..<4 {
      let write = try database.beginWrite()
      #expect(try write.keys(of: "Thing") == model.sorted())
      for _ in 0..<700 {
        let key = Int64(random.below(12_000)) - 1_000
        if model.remove(key) != nil {
          try write.delete(from: "Thing", key: key)
        } else {
          model.insert(key)
          try write.insert(into: "Thing", key: key, rows[-50]!)
        }
      }
      #expect(try write.keys(of: "Thing") == model.sorted())
      try write.commit()
    }
    let write = try database.beginWrite()
    for key in model.sorted() { try write.delete(from: "Thing", key: key) }
    #expect(try write.keys(of: "Thing").isEmpty)
    write.cancel()
    let error = #expect(throws: EngineError.self) { try write.keys(of: "Thing") }
    #expect(error?.code == .closed)
    try database.close()
  }
}
