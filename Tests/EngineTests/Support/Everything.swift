// Everything.swift: a table with a column of every type and of every collection, and rows of every
// size, for tests that move whole databases about.

@testable import Engine

enum Everything {
  /// Types that need nothing else to be of use.
  private static let plain = ColumnType.allCases.filter { $0 != .link }

  static let schema: TableSchema = {
    var columns: [ColumnSchema] = []
    for type in plain {
      columns.append(
        ColumnSchema(name: "\(type)", type: type, isIndexed: [.int, .string, .uuid].contains(type)))
      if type != .mixed {
        columns.append(ColumnSchema(name: "\(type)?", type: type, isOptional: true))
      }
    }
    columns.append(ColumnSchema(name: "link", type: .link, target: "Dog"))
    for kind in [CollectionKind.list, .set, .dictionary] {
      for type in [ColumnType.int, .string, .mixed] {
        columns.append(ColumnSchema(name: "\(kind) of \(type)", type: type, collection: kind))
      }
    }
    columns.append(
      ColumnSchema(name: "links", type: .link, collection: .list, target: "Dog"))
    return TableSchema(name: "Everything", columns: columns)
  }()

  /// A value of a type; the same for the same number.
  static func value(_ type: ColumnType, _ number: Int) -> Value {
    switch type {
    case .int: .int(Int64(number) &* 0x9e37_79b9)
    case .string: .string(text(number))
    case .bool: .bool(number % 3 == 0)
    case .float: .float(Float(number) / 7)
    case .double: .double(Double(number) * 1e100)
    case .binary: .binary(Array(text(number).utf8.reversed()))
    case .date: .date(seconds: Int64(number) * 1000, nanoseconds: Int64(number % 1000))
    case .objectId: .objectId(ObjectId(high: UInt64(number), low: UInt32(number % 77)))
    case .uuid: .uuid(UUIDBytes(high: UInt64(number), low: ~0))
    case .decimal128: .decimal128(Decimal128(high: 7, low: UInt64(number)))
    // Rows that are there to the end.
    case .link: number % 2 == 0 ? .null : .link(Int64(number % 100 * 3))
    case .mixed: number % 11 == 0 ? .null : value(plain[number % 10], number)
    }
  }

  /// Short as a rule; now and then longer than what a leaf holds.
  private static func text(_ number: Int) -> String {
    String(repeating: "text \(number) ", count: number % 41 == 0 ? 400 : 1)
  }

  /// The row of a key; of every 16th the collections have trees of their own.
  static func row(_ key: Int) -> [Value] {
    schema.columns.indices.map { column in
      let seed = key * 131 + column
      let type = schema.columns[column].type
      let count = key % 16 == 5 ? 400 : seed % 4
      switch schema.columns[column].collection {
      case .none:
        return schema.columns[column].isOptional && seed % 5 == 0 ? .null : value(type, seed)
      case .list where type == .link:
        // The same row several times: one entry of the index.
        return .list((0..<count).map { .link(Int64(($0 + key) % 7 * 3)) })
      case .list: return .list((0..<count).map { value(type, seed + $0) })
      case .set:
        return .set((0..<count).map { value(type, seed + $0) })
      case .dictionary:
        return .dictionary(
          (0..<count).map { DictionaryEntry(key: "key \($0)", value: value(type, seed + $0)) })
      }
    }
  }

  /// Makes both tables, fills them, and deletes most of it, in several versions.
  ///
  /// The links of the rows need 300 dogs.
  static func fill(_ database: Database, rows: Int = 128, dogs: Int = 1280) throws {
    let first = try database.beginWrite()
    try first.createTable(Fixtures.dogs)
    try first.createTable(schema)
    for key in 0..<dogs { try first.insert(into: "Dog", key: Int64(key), Fixtures.dog(key)) }
    for key in 0..<rows { try first.insert(into: "Everything", key: Int64(key), row(key)) }
    try first.commit()
    let second = try database.beginWrite()
    for key in 0..<dogs where key % 3 != 0 { try second.delete(from: "Dog", key: Int64(key)) }
    for key in 0..<rows where key % 4 != 1 || key % 32 == 21 {
      try second.delete(from: "Everything", key: Int64(key))
    }
    try second.commit()
  }

  /// Changes what `fill` has made, with values and collections that need nodes of their own; the
  /// same at each call.
  static func change(_ write: WriteTransaction) throws {
    for key in 1000..<1064 { try write.insert(into: "Everything", key: Int64(key), row(key)) }
    for key in [1, 37, 1005] { try write.delete(from: "Everything", key: Int64(key)) }
    let list = CollectionPath(table: "Everything", key: 5, column: "list of string")
    for number in 0..<50 { try write.append(value(.string, number * 41), to: list) }
    try write.removeAll(
      from: CollectionPath(table: "Everything", key: 1021, column: "set of int"))
    try write.update(in: "Everything", key: 9, row(1037))
  }
}

/// What must not change when a database is compacted or copied.
struct Content: Equatable, Sendable {
  let version: Version
  let hash: UInt64
  let tables: [TableSchema]
  let rows: UInt64

  /// Verifies the database on the way.
  init(_ database: Database) throws {
    rows = try database.verify().rows
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    version = snapshot.version
    hash = try snapshot.contentHash()
    tables = snapshot.tables
  }

  /// The content of a file, opened for that.
  init(path: String, _ options: Database.Options = .init()) throws {
    let database = try Database.open(path: path, options: options)
    defer { try? database.close() }
    self = try Content(database)
  }
}
