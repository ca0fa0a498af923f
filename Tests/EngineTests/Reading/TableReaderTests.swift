// TableReaderTests.swift: reading in place agrees with reading values, and refuses what it should.

import Testing

@testable import Engine

@Suite("Table reader")
struct TableReaderTests {
  private static let people = TableSchema(
    name: "Person",
    columns: [
      ColumnSchema(name: "age", type: .int), ColumnSchema(name: "name", type: .string),
      ColumnSchema(name: "salary", type: .int),
    ])

  /// Rows with gaps, negative keys and a leaf without gaps.
  private static func filled(
    _ count: Int
  ) throws -> (database: Database, model: [Int64: [Value]]) {
    var random = TestRandom(77)
    var model: [Int64: [Value]] = [:]
    let database = try Database.open(backend: TestBackend())
    let write = try database.beginWrite()
    try write.createTable(Self.people)
    for number in 0..<count {
      let key = number < count / 2 ? Int64(number) : Int64(random.below(1 << 40)) - 1 << 39
      let name =
        random.below(50) == 0 ? String(repeating: "long", count: 200) : "name \(number % 97)"
      let values: [Value] = [
        .int(Int64(random.below(100))), .string(name), .int(Int64(bitPattern: random.next()) >> 20),
      ]
      model[key] = values
      try write.upsert(into: "Person", key: key, values)
    }
    try write.commit()
    return (database, model)
  }

  private static func int(_ values: [Value], _ column: Int) -> Int64 {
    guard case .int(let number) = values[column] else { return .min }
    return number
  }

  @Test("rows are found by key, and their values are the same as a snapshot's")
  func lookups() throws {
    let (database, model) = try Self.filled(4000)
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    let reader = try snapshot.reader(for: "Person")
    #expect(reader.rowCount == model.count)
    let age = try reader.column("age", of: Int64.self)
    let name = try reader.column("name", of: String.self)
    let salary = try reader.column("salary", of: Int64.self)
    for (key, values) in model {
      let position = try #require(try reader.find(key))
      #expect(position.key == key)
      let text = try reader.string(at: position, name)
      #expect(
        try [
          .int(reader.int(at: position, age)), .string(text),
          .int(reader.int(at: position, salary)),
        ]
          == values)
      #expect(try !reader.isNull(at: position, age))
      let size = try reader.withUTF8(at: position, name) { $0.count }
      #expect(size == text.utf8.count)
    }
    var random = TestRandom(3)
    for key in [Int64.min, .max, -1, 2001] + (0..<500).map({ _ in Int64(random.below(1 << 41)) }) {
      #expect((try reader.find(key) != nil) == (model[key] != nil))
    }
  }

  @Test("counts, sums, extremes and keys agree with the rows")
  func scans() throws {
    for count in [0, 1, 400, 4000] {
      let (database, model) = try Self.filled(count)
      let snapshot = try database.snapshot()
      defer { snapshot.release() }
      let reader = try snapshot.reader(for: "Person")
      for (index, columnName) in [(0, "age"), (2, "salary")] {
        let column = try reader.column(columnName, of: Int64.self)
        let values = model.mapValues { Self.int($0, index) }
        for comparison in PackedArrayScanTests.comparisons([40, 99, 0, -1, .max]) {
          let expected = values.filter { PackedArrayScanTests.passes($0.value, comparison) }
            .keys.sorted()
          #expect(try reader.count(column, where: comparison) == expected.count)
          #expect(try reader.keys(column, where: comparison) == expected)
          var visited: [Int64] = []
          try reader.forEach(column, where: comparison) { visited.append($0.key) }
          #expect(visited == expected)
        }
        #expect(try reader.sum(column) == values.values.reduce(0, +))
        #expect(try reader.minimum(column) == values.values.min())
        #expect(try reader.maximum(column) == values.values.max())
      }
    }
  }

  @Test("a sum that is not a 64-bit number is an error, and a sum that comes back is none")
  func overflow() throws {
    let database = try Database.open(backend: TestBackend())
    let write = try database.beginWrite()
    try write.createTable(
      TableSchema(name: "T", columns: [ColumnSchema(name: "n", type: .int)]))
    for key in 0..<3 as Range<Int64> { try write.insert(into: "T", key: key, [.int(.max)]) }
    try write.commit()
    #expect(errorCode { try Self.sum(database) } == .limit)
    let second = try database.beginWrite()
    for key in 3..<6 as Range<Int64> { try second.insert(into: "T", key: key, [.int(-.max)]) }
    try second.commit()
    #expect(try Self.sum(database) == 0)
  }

  private static func sum(_ database: Database) throws -> Int64 {
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    let reader = try snapshot.reader(for: "T")
    return try reader.sum(reader.column("n", of: Int64.self))
  }

  @Test("a released snapshot, an unknown table and a column of another type are errors")
  func refusals() throws {
    let (database, _) = try Self.filled(10)
    let snapshot = try database.snapshot()
    #expect(errorCode { try snapshot.reader(for: "Nobody") } == .noSuchTable)
    let reader = try snapshot.reader(for: "Person")
    #expect(errorCode { try reader.column("age", of: String.self) } == .schemaMismatch)
    #expect(errorCode { try reader.column("name", of: Int64.self) } == .schemaMismatch)
    #expect(errorCode { try reader.column("height", of: Int64.self) } == .noSuchColumn)
    let age = try reader.column("age", of: Int64.self)
    let name = try reader.column("name", of: String.self)
    let position = try #require(try reader.find(1))
    snapshot.release()
    #expect(errorCode { try snapshot.reader(for: "Person") } == .closed)
    #expect(errorCode { try reader.find(1) } == .closed)
    #expect(errorCode { try reader.int(at: position, age) } == .closed)
    #expect(errorCode { try reader.string(at: position, name) } == .closed)
    #expect(errorCode { try reader.withUTF8(at: position, name) { $0.count } } == .closed)
    #expect(errorCode { try reader.isNull(at: position, age) } == .closed)
    #expect(errorCode { try reader.count(age, where: .equal(1)) } == .closed)
    #expect(errorCode { try reader.keys(age, where: .equal(1)) } == .closed)
    #expect(errorCode { try reader.forEach(age, where: .equal(1)) { _ in } } == .closed)
    #expect(errorCode { try reader.sum(age) } == .closed)
    #expect(errorCode { try reader.minimum(age) } == .closed)
    #expect(errorCode { try reader.maximum(age) } == .closed)
    #expect(errorCode { try reader.count(name, equalTo: "x") } == .closed)
    #expect(errorCode { try reader.keys(name, withPrefix: "x") } == .closed)
  }

  @Test("a position of another reader traps")
  func foreignPosition() async {
    await #expect(processExitsWith: .failure) {
      let (database, _) = try Self.filled(10)
      let snapshot = try database.snapshot()
      let (one, two) = try (snapshot.reader(for: "Person"), snapshot.reader(for: "Person"))
      guard let position = try one.find(1) else { return }
      _ = try two.int(at: position, two.column("age", of: Int64.self))
    }
  }

  @Test("a reader keeps reading its version while later ones replace all nodes")
  func isolation() throws {
    let (database, model) = try Self.filled(2000)
    let snapshot = try database.snapshot()
    let reader = try snapshot.reader(for: "Person")
    let age = try reader.column("age", of: Int64.self)
    let before = try reader.sum(age)
    for round in 0..<3 {
      let write = try database.beginWrite()
      for key in model.keys {
        try write.update(in: "Person", key: key, [.int(Int64(round)), .string(""), .int(0)])
      }
      try write.commit()
    }
    #expect(try reader.sum(age) == before)
    snapshot.release()
  }

  @Test("every damaged byte of a leaf is an error or changes nothing")
  func damage() throws {
    var random = TestRandom(8)
    let backend = TestBackend()
    let database = try Database.open(backend: backend)
    let write = try database.beginWrite()
    try write.createTable(Self.people)
    for key in 0..<300 as Range<Int64> {
      try write.insert(into: "Person", key: key, [.int(key % 100), .string("n\(key)"), .int(key)])
    }
    try write.commit()
    let clean = backend.bytes
    let expected = try Self.reading(clean)
    var errors = 0
    for _ in 0..<400 {
      var bytes = clean
      let offset = Layout.headerSizeBytes + random.below(bytes.count - Layout.headerSizeBytes)
      bytes[offset] ^= UInt8(1 << random.below(8))
      do { #expect(try Self.reading(bytes) == expected) } catch is EngineError { errors += 1 }
    }
    #expect(errors > 10)
  }

  /// Everything a reader says of the one table.
  private static func reading(_ bytes: [UInt8]) throws -> [Int64] {
    let database = try Database.open(backend: TestBackend(bytes))
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    let reader = try snapshot.reader(for: "Person")
    let age = try reader.column("age", of: Int64.self)
    let name = try reader.column("name", of: String.self)
    var found = try [
      Int64(reader.count(age, where: .less(40))), reader.sum(age),
      Int64(reader.count(name, withPrefix: "n1")),
    ]
    found += try reader.keys(age, where: .equal(7))
    if let position = try reader.find(150) { found.append(try reader.int(at: position, age)) }
    return found
  }
}
