// ColumnFixtures.swift: values at the edges of every type, tables that have every kind of column,
// and a database beside a model of rows.

import Testing

@testable import Engine

enum ColumnFixtures {
  /// Every type, optional or not, in every collection.
  static var allColumns: [ColumnSchema] {
    var columns: [ColumnSchema] = []
    for type in ColumnType.allCases {
      for collection in CollectionKind.allCases {
        for isOptional in [false, true] {
          if let forced = ColumnSchema.nullability(type, collection), forced != isOptional {
            continue
          }
          columns.append(
            ColumnSchema(
              name: "\(type) \(collection)\(isOptional ? "?" : "")", type: type,
              isOptional: isOptional, collection: collection,
              target: type == .link ? targets.name : nil))
        }
      }
    }
    return columns
  }

  /// Where links of the fixtures lead: a row for each edge value.
  static let targets = TableSchema(name: "Target", columns: [])

  static func makeTargets(_ write: WriteTransaction) throws {
    try write.createTable(targets)
    for case .link(let key) in edges(.link) { try write.insert(into: targets.name, key: key, []) }
  }

  static let all = TableSchema(name: "All", columns: allColumns)

  private static func text(_ length: Int) -> String { String(repeating: "x", count: length) }

  /// Values at the edges of a type.
  static func edges(_ type: ColumnType) -> [Value] {
    switch type {
    case .int: [0, 1, -1, .min, .max, 255, 256, 65_536, 1 << 40].map { .int($0) }
    case .string:
      ["", "a", "\0x\0", "é", "e\u{301}", "🐕", text(127), text(512), text(513), text(1200)].map {
        .string($0)
      }
    case .bool: [.bool(false), .bool(true)]
    case .float:
      [0, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0001, 0xffc0_0000, 0x7f80_0001, 1].map {
        .float(Float(bitPattern: $0))
      } + [.float(3.25), .float(-3.25)]
    case .double:
      [0, 1 << 63, 0x7ff0 << 48, 0xfff0 << 48, 0x7ff8_0000_0000_0001, 0x7ff0_0000_0000_0001, 1]
        .map { .double(Double(bitPattern: $0)) } + [.double(.pi), .double(-.pi)]
    case .binary:
      [0, 1, 127, 128, 512, 513, 4100].map { count in
        .binary((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ count) })
      }
    case .date:
      [
        .date(seconds: 0, nanoseconds: 0), .date(seconds: .min, nanoseconds: 999_999_999),
        .date(seconds: .max, nanoseconds: 1), .date(seconds: -1, nanoseconds: 500_000_000),
        .date(seconds: 1_800_000_000, nanoseconds: 0),
      ] + [0.1, -1e-20, .infinity, -1e300, .nan].map { .date(sinceReferenceDate: $0) }
    case .objectId:
      [0, 1, .max].map { .objectId(ObjectId(high: $0, low: UInt32(truncatingIfNeeded: $0))) }
        + [.objectId(ObjectId(high: 0x0102_0304_0506_0708, low: 0x090a_0b0c))]
    case .uuid:
      [0, 1, .max].map { .uuid(UUIDBytes(high: $0, low: ~$0)) }
        + [.uuid(UUIDBytes(high: 0x0102_0304_0506_0708, low: 0x090a_0b0c_0d0e_0f10))]
    case .decimal128:
      [0, 1, .max, 0x3040 << 48].map { .decimal128(Decimal128(high: $0, low: $0 &* 3)) }
    case .link: [0, 1, -5, .max, .min].map { .link($0) }
    case .mixed:
      ColumnType.allCases.filter { $0 != .mixed && $0 != .link }.flatMap { edges($0) }
        + [.typedLink(table: 1, key: 7), .typedLink(table: .max, key: .min), .int(-128), .int(128)]
    }
  }

  /// One of the edges, or null where that is allowed.
  static func element(_ column: ColumnSchema, _ random: inout TestRandom) -> Value {
    if column.isOptional, random.below(5) == 0 { return .null }
    let edges = edges(column.type)
    return edges[random.below(edges.count)]
  }

  /// A value of a column; collections are empty, small, or now and then a tree.
  static func value(_ column: ColumnSchema, _ random: inout TestRandom) -> Value {
    let count = [0, 1, 1, 3, 3, 30][random.below(6)]
    switch column.collection {
    case .none: return element(column, &random)
    case .list: return .list((0..<count).map { _ in element(column, &random) })
    case .set: return Value.set((0..<count).map { _ in element(column, &random) }).canonical
    case .dictionary:
      let keys = ["", "\0", "key", "ключ", String(repeating: "k", count: 600)]
      return Value.dictionary(
        (0..<count).map { index in
          DictionaryEntry(
            key: index < keys.count ? keys[index] : "key \(random.below(1000))",
            value: element(column, &random))
        }
      ).canonical
    }
  }

  static func row(_ schema: TableSchema, _ random: inout TestRandom) -> [Value] {
    schema.columns.map { value($0, &random) }
  }
}

/// A database of one table and what it should hold.
struct ModelDatabase {
  let backend: TestBackend
  private(set) var database: Database
  var schema: TableSchema
  var rows: [Int64: [Value]] = [:]

  init(_ schema: TableSchema) throws {
    backend = TestBackend()
    database = try Database.open(backend: backend)
    self.schema = schema
    let write = try database.beginWrite()
    if schema.columns.contains(where: { $0.target == ColumnFixtures.targets.name }) {
      try ColumnFixtures.makeTargets(write)
    }
    try write.createTable(schema)
    try write.commit()
  }

  /// Runs changes in one transaction.
  @discardableResult
  func write<Result>(_ body: (WriteTransaction) throws -> Result) throws -> Result {
    let write = try database.beginWrite()
    let result = try body(write)
    try write.commit()
    return result
  }

  mutating func put(_ key: Int64, _ values: [Value], _ write: WriteTransaction) throws {
    try write.upsert(into: schema.name, key: key, values)
    rows[key] = values
  }

  /// The content is the model's by value and by hash, in this handle and after a reopen, and every
  /// sector is accounted for.
  mutating func check(_ location: SourceLocation = #_sourceLocation) throws {
    for _ in 0..<2 {
      let snapshot = try database.snapshot()
      #expect(snapshot.tables.contains(schema), sourceLocation: location)
      var keys: [Int64] = []
      try snapshot.forEach(in: schema.name) { key, values in
        keys.append(key)
        for index in values.indices where values[index] != rows[key]?[index] {
          Issue.record(
            "key \(key) column \(schema.columns[index].name)", sourceLocation: location)
        }
      }
      #expect(keys == rows.keys.sorted(), sourceLocation: location)
      let others = snapshot.tables.filter { $0 != schema }
      if others.isEmpty || others == [ColumnFixtures.targets] {
        var hasher = ContentHasher()
        for other in others {
          hasher.beginTable(other)
          for case .link(let key) in ColumnFixtures.edges(.link) { hasher.combine(key: key, []) }
        }
        hasher.beginTable(schema)
        for (key, values) in rows { hasher.combine(key: key, values) }
        #expect(try snapshot.contentHash() == hasher.finalize(), sourceLocation: location)
      }
      snapshot.release()
      try database.verify()
      try database.close()
      database = try Database.open(backend: TestBackend(backend.bytes))
    }
    database = try Database.open(backend: backend)
  }
}
