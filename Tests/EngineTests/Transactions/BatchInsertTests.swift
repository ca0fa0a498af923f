// BatchInsertTests.swift: [U] rows inserted in batches are the rows inserted one by one, whatever
// their order, their types, and whatever goes wrong in the middle.

import Testing

@testable import Engine

@Suite("Batch insert")
struct BatchInsertTests {
  private static let schema = TableSchema(
    name: "T",
    columns: [
      ColumnSchema(name: "int", type: .int), ColumnSchema(name: "double", type: .double),
      ColumnSchema(name: "text", type: .string),
      ColumnSchema(name: "maybe", type: .string, isOptional: true),
      ColumnSchema(name: "float", type: .float, isOptional: true),
      ColumnSchema(name: "bool", type: .bool),
    ])

  /// A column of a type that a batch keeps as values.
  private static let dated = TableSchema(
    name: "T",
    columns: schema.columns + [ColumnSchema(name: "date", type: .date, isOptional: true)])

  private static func row(_ number: Int, _ random: inout TestRandom) -> [Value] {
    let length = random.below(60) == 0 ? 500 + random.below(200) : random.below(30)
    let text = String(repeating: "ö", count: length / 2)
    return [
      .int(random.below(30) == 0 ? Int64(bitPattern: random.next()) : Int64(number % 9)),
      .double(Double(random.below(4)) / 3), .string(text),
      random.below(3) == 0 ? .null : .string("\(number)\(length > 500 ? text : "")"),
      random.below(2) == 0 ? .null : .float(Float(number)), .bool(random.below(2) == 0),
    ]
  }

  private static func fill(_ row: inout RowBuilder, _ values: [Value]) throws(EngineError) {
    for value in values {
      switch value {
      case .int(let number): try row.append(number)
      case .double(let number): try row.append(number)
      case .float(let number): try row.append(number)
      case .bool(let isTrue): try row.append(isTrue)
      case .string(let text) where text.utf8.count % 2 == 0:
        try row.append(utf8: Array(text.utf8).span)
      case .string(let text): try row.append(text)
      default: try row.append(value)
      }
    }
  }

  @Test("a row that is dropped leaves the rows before it in the transaction")
  func droppedRow() throws {
    let item = try Case(Self.schema)
    var random = TestRandom(5)
    let write = try item.database.beginWrite()
    let batch = try RowBatch(write, "T")
    for key in 0..<3 {
      try unsafe Self.fill(&batch.row.pointee, Self.row(key, &random))
      try batch.endRow(Int64(key))
    }
    try unsafe batch.row.pointee.append(7 as Int64)
    try batch.dropRow()
    #expect(try write.count(of: "T") == 3)
    try write.commit()
    try item.database.verify()
  }

  /// A database, and a model of what it must hold.
  private struct Case {
    let database: Database
    let schema: TableSchema
    var model: [Int64: [Value]] = [:]

    init(_ schema: TableSchema) throws {
      self.schema = schema
      database = try Database.open(backend: TestBackend())
      let write = try database.beginWrite()
      try write.createTable(schema)
      try write.commit()
    }

    mutating func insert(_ keys: [Int64], _ random: inout TestRandom) throws {
      let rows = keys.enumerated().map { number, _ in
        BatchInsertTests.row(number, &random)
          + (schema.columns.count > 6 ? [.date(seconds: Int64(number), nanoseconds: 1)] : [])
      }
      let write = try database.beginWrite()
      try write.insert(into: "T", count: keys.count) { row, index throws(EngineError) in
        try BatchInsertTests.fill(&row, rows[index])
        return keys[index]
      }
      for (key, row) in zip(keys, rows) { model[key] = row }
      if let first = keys.first { #expect(try write.row(in: "T", key: first) == model[first]) }
      #expect(try write.count(of: "T") == model.count)
      try write.commit()
      try check()
    }

    func check() throws {
      var hasher = ContentHasher()
      hasher.beginTable(schema)
      for (key, values) in model { hasher.combine(key: key, values) }
      let snapshot = try database.snapshot()
      defer { snapshot.release() }
      #expect(try snapshot.contentHash() == hasher.finalize())
      #expect(try database.verify().rows == UInt64(model.count))
    }
  }

  @Test("ascending keys, in batches of every size")
  func ascending() throws {
    var random = TestRandom(1)
    for schema in [Self.schema, Self.dated] {
      var test = try Case(schema)
      var next: Int64 = -500
      for size in [0, 1, 1, 2, 10, 100, 500, 1000, 3000, 1, 700] {
        let keys = (0..<size).map { _ in
          next += 1 + Int64(random.below(3))
          return next
        }
        try test.insert(keys, &random)
      }
    }
  }

  @Test("keys in any order, and between those that are there")
  func anyOrder() throws {
    var random = TestRandom(2)
    for schema in [Self.schema, Self.dated] {
      var test = try Case(schema)
      var keys = (0..<4000).map { Int64($0) - 700 }
      keys.shuffle(using: &random)
      try test.insert(Array(keys[..<1500]), &random)
      try test.insert(keys[1500..<2500].sorted(), &random)
      try test.insert(keys[2500...].sorted().reversed(), &random)
    }
  }

  @Test("a leaf of constant columns has thousands of rows, and many of them a few leaves")
  func constantRows() throws {
    let database = try Database.open(backend: TestBackend())
    let write = try database.beginWrite()
    try write.createTable(TableSchema(name: "T", columns: [ColumnSchema(name: "n", type: .int)]))
    try write.insert(into: "T", count: 50_000) { row, index throws(EngineError) in
      try row.append(Int64(7))
      return Int64(index)
    }
    try write.commit()
    let snapshot = try database.snapshot()
    let reader = try snapshot.reader(for: "T")
    #expect(try reader.count(reader.column("n", of: Int64.self), where: .equal(7)) == 50_000)
    #expect(try database.verify().rows == 50_000)
    snapshot.release()
  }

  @Test("a batch makes the same leaves as rows that come one by one")
  func sameLeaves() throws {
    func sizeBytes(_ insert: (WriteTransaction, [[Value]]) throws -> Void) throws -> UInt64 {
      var random = TestRandom(4)
      let rows = (0..<5000).map { Self.row($0, &random) }
      let database = try Database.open(backend: TestBackend())
      let write = try database.beginWrite()
      try write.createTable(Self.schema)
      try insert(write, rows)
      try write.commit()
      return try database.verify().reachableBytes
    }
    let single = try sizeBytes { write, rows in
      for (key, row) in rows.enumerated() { try write.insert(into: "T", key: Int64(key), row) }
    }
    let batch = try sizeBytes { write, rows in
      try write.insert(into: "T", count: rows.count) { row, index throws(EngineError) in
        try Self.fill(&row, rows[index])
        return Int64(index)
      }
    }
    #expect(batch == single)
  }

  private typealias Fault = (
    code: EngineError.Code, row: (inout RowBuilder) throws(EngineError) -> Int64
  )

  /// What goes wrong in row 400, and what it should be called.
  private static func faults(_ good: [Value]) -> [Fault] {
    [
      (.schemaMismatch, { (row) throws(EngineError) in 400 }),
      (
        .schemaMismatch,
        { (row) throws(EngineError) in
          try row.append("a text")
          for value in good.dropFirst() { try row.append(value) }
          return 400
        }
      ),
      (
        .schemaMismatch,
        { (row) throws(EngineError) in
          for value in good + [.int(1)] { try row.append(value) }
          return 400
        }
      ),
      (
        .schemaMismatch,
        { (row) throws(EngineError) in
          try row.append(.null)
          for value in good.dropFirst() { try row.append(value) }
          return 400
        }
      ),
      (
        .schemaMismatch,
        { (row) throws(EngineError) in
          for value in good.prefix(2) { try row.append(value) }
          try row.append(utf8: [0x61, 0xff].span)
          return 400
        }
      ),
      (
        .valueTooLarge,
        { (row) throws(EngineError) in
          for value in good.prefix(2) { try row.append(value) }
          try row.append(String(repeating: "x", count: 16 << 20 + 1))
          for value in good.dropFirst(3) { try row.append(value) }
          return 400
        }
      ),
      (
        .keyExists,
        { (row) throws(EngineError) in
          for value in good { try row.append(value) }
          return 399
        }
      ),
      (
        .keyExists,
        { (row) throws(EngineError) in
          for value in good { try row.append(value) }
          return 7
        }
      ),
      (.busy, { (row) throws(EngineError) in throw EngineError(code: .busy, message: "planted") }),
    ]
  }

  @Test("a row that fails is not there, those before it are", arguments: [schema, dated])
  func failures(_ schema: TableSchema) throws {
    var random = TestRandom(5)
    let good = Self.row(1, &random) + (schema.columns.count > 6 ? [.null] : [])
    for (code, fault) in Self.faults(good) {
      var test = try Case(schema)
      let write = try test.database.beginWrite()
      let found = errorCode {
        try write.insert(into: "T", count: 1000) { row, index throws(EngineError) in
          if index == 400 { return try fault(&row) }
          for value in good { try row.append(value) }
          return Int64(index)
        }
      }
      #expect(found == code)
      try write.insert(into: "T", key: 5000, good)
      try write.commit()
      for key in Array(0..<400) + [5000] { test.model[Int64(key)] = good }
      try test.check()
    }
  }

  @Test("long strings of a batch have nodes of their own, also when their row comes late")
  func longStrings() throws {
    var test = try Case(Self.schema)
    let write = try test.database.beginWrite()
    let keys: [Int64] = [10, 20, 5, 30, 20_000, 1]
    try write.insert(into: "T", count: keys.count) { row, index throws(EngineError) in
      let text = String(repeating: "\(index)", count: 600 + index * 1000)
      try Self.fill(&row, [.int(1), .double(2), .string(text), .null, .null, .bool(true)])
      return keys[index]
    }
    try write.commit()
    for (index, key) in keys.enumerated() {
      let text = String(repeating: "\(index)", count: 600 + index * 1000)
      test.model[key] = [.int(1), .double(2), .string(text), .null, .null, .bool(true)]
    }
    try test.check()
  }

  @Test("a closed transaction and an unknown table are errors")
  func refusals() throws {
    let database = try Database.open(backend: TestBackend())
    let write = try database.beginWrite()
    #expect(
      errorCode { try write.insert(into: "T", count: 1) { _, _ in 1 } } == .noSuchTable)
    write.cancel()
    #expect(errorCode { try write.insert(into: "T", count: 1) { _, _ in 1 } } == .closed)
  }
}
