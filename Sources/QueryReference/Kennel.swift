// Kennel.swift: the tables that queries are tried on, with columns of every type, and random rows
// for them from small pools of values, so that conditions often hold.

import Engine
import Query

/// People, dogs and places.
package enum Kennel {
  package static let person = TableSchema(
    name: "Person",
    columns: [
      ColumnSchema(name: "name", type: .string, isOptional: true, isFullText: true),
      ColumnSchema(name: "age", type: .int, isIndexed: true),
      ColumnSchema(name: "number", type: .int, isOptional: true),
      ColumnSchema(name: "score", type: .double, isOptional: true),
      ColumnSchema(name: "ratio", type: .float),
      ColumnSchema(name: "isActive", type: .bool, isOptional: true, isIndexed: true),
      ColumnSchema(name: "born", type: .date, isOptional: true, isIndexed: true),
      ColumnSchema(name: "blob", type: .binary, isOptional: true),
      ColumnSchema(name: "oid", type: .objectId, isUnique: true),
      ColumnSchema(name: "uid", type: .uuid, isOptional: true, isIndexed: true),
      ColumnSchema(name: "price", type: .decimal128, isOptional: true),
      ColumnSchema(name: "thing", type: .mixed),
      ColumnSchema(name: "boss", type: .link, target: "Person"),
      ColumnSchema(name: "pet", type: .link, target: "Dog"),
      ColumnSchema(name: "friends", type: .link, collection: .list, target: "Person"),
      ColumnSchema(name: "dogs", type: .link, collection: .set, target: "Dog"),
      ColumnSchema(name: "tags", type: .string, isOptional: true, collection: .list),
      ColumnSchema(name: "numbers", type: .int, isOptional: true, collection: .list),
      ColumnSchema(name: "scores", type: .double, collection: .set),
      ColumnSchema(name: "things", type: .mixed, collection: .list),
      ColumnSchema(name: "map", type: .mixed, collection: .dictionary),
      ColumnSchema(name: "walks", type: .link, collection: .dictionary, target: "Dog"),
      ColumnSchema(name: "home", type: .link, target: "Place"),
    ])

  static let dog = TableSchema(
    name: "Dog",
    columns: [
      ColumnSchema(name: "name", type: .string, isOptional: true, isIndexed: true),
      ColumnSchema(name: "age", type: .int, isOptional: true, isIndexed: true),
      ColumnSchema(name: "weight", type: .double),
      ColumnSchema(name: "owner", type: .link, target: "Person"),
      ColumnSchema(name: "prices", type: .decimal128, collection: .list),
    ])

  static let place = TableSchema(
    name: "Place",
    columns: [
      ColumnSchema(name: "type", type: .string),
      ColumnSchema(name: "coordinates", type: .double, collection: .list),
    ])

  static let tables = [
    QueryTable(
      person, primaryKey: "oid", aliases: ["isOn": "isActive"],
      backlinks: [
        BacklinkProperty(name: "staff", originTable: "Person", originColumn: "boss"),
        BacklinkProperty(name: "ownedDogs", originTable: "Dog", originColumn: "owner"),
      ]),
    QueryTable(
      dog,
      backlinks: [BacklinkProperty(name: "fans", originTable: "Person", originColumn: "dogs")]),
    QueryTable(place),
  ]

  package static let schema = QuerySchema(tables)

  // MARK: pools

  static let ints: [Int64] = [-2, -1, 0, 1, 2, 3, 5, 7, 16_777_217, .max, .min]
  static let doubles: [Double] = [
    -1.5, -0.0, 0, 0.1, 1, 1.5, 2, 3, 16_777_217, 0x1p63, 1e300, .infinity, -.infinity, .nan,
  ]
  static let texts = [
    "", "a", "A", "ab", "Ab", "aB", "abc", "b", "é", "É", "e\u{301}", "straße", "STRASSE", "x*y",
    "a?b", "😀", "Ab c-d", "e A\u{30a}b", "long text that has a node of its own? no, but it is long",
  ]
  static let dates: [(Int64, Int64)] = [
    (0, 0), (0, 5), (-1, 999_999_999), (1_600_000_000, 0), (978_307_200, 100_000_000),
    // 0.1 seconds after 2001, to the last bit, and a billion billion seconds times ten.
    (978_307_200, 0x4045_9999_9999_999a), (.max, 0x3c1d_58e4_6091_3d00),
  ]
  static let decimals = ["0", "-1.5", "0.1", "1.10", "2", "1E+40", "Infinity", "NaN"]

  static func objectId(_ number: Int) -> ObjectId {
    let end = [UInt8(number >> 8), UInt8(number & 255)]
    return ObjectId(bytes: Array(repeating: 0, count: 10) + end).known
  }

  package static func uuid(_ number: Int) -> UUIDBytes {
    UUIDBytes(bytes: Array(repeating: 0, count: 15) + [UInt8(number & 255)]).known
  }

  static func scalar(_ type: ColumnType, _ random: inout ReferenceRandom) -> Value {
    switch type {
    case .int: return .int(ints[random.below(ints.count)])
    case .string: return .string(texts[random.below(texts.count)])
    case .bool: return .bool(random.below(2) == 0)
    case .float: return .float(Float(doubles[random.below(doubles.count)]))
    case .double: return .double(doubles[random.below(doubles.count)])
    case .binary: return .binary(Array("abc".utf8.prefix(random.below(4))))
    case .date:
      let date = dates[random.below(dates.count)]
      return .date(seconds: date.0, nanoseconds: date.1)
    case .objectId: return .objectId(objectId(random.below(16)))
    case .uuid: return .uuid(uuid(random.below(4)))
    case .decimal128: return .decimal128(Decimal128(decimals[random.below(decimals.count)]).known)
    case .link, .mixed: return .null
    }
  }

  // MARK: rows

  /// Random rows: links lead to existing rows.
  package static func rows(_ random: inout ReferenceRandom, people: Int, dogs: Int)
    -> ReferenceTables
  {
    var data = ReferenceTables(tables: tables)
    let personKeys: [Int64] = (0..<people).map { Int64($0) * 3 - 4 }
    let dogKeys: [Int64] = (0..<dogs).map { Int64($0) }
    let keys: [String: [Int64]] = ["Person": personKeys, "Dog": dogKeys, "Place": [0, 1, 2]]
    // In the order in which `database` makes the tables.
    data.ids = [1: "Place", 2: "Person", 3: "Dog"]
    for table in [person, dog, place] {
      data.rows[table.name] = [:]
      for (number, key) in keys[table.name].known.enumerated() {
        data.rows[table.name]?[key] = table.columns.map { column in
          if table.name == "Place" { return placeValue(column, &random) }
          if column.isUnique { return .objectId(objectId(number)) }
          return value(column, keys, &random)
        }
      }
    }
    return data
  }

  private static func placeValue(_ column: ColumnSchema, _ random: inout ReferenceRandom) -> Value {
    if column.name == "type" { return .string(random.below(6) == 0 ? "Line" : "Point") }
    return .list([.double(Double(random.below(5))), .double(Double(random.below(5)))])
  }

  static func value(
    _ column: ColumnSchema, _ keys: [String: [Int64]], _ random: inout ReferenceRandom
  ) -> Value {
    func element() -> Value {
      switch column.type {
      case .link:
        let targets = keys[column.target.known].known
        return targets.isEmpty ? .null : .link(targets[random.below(targets.count)])
      case .mixed:
        let types: [ColumnType] = [.int, .string, .bool, .float, .double, .date, .decimal128]
        switch random.below(10) {
        case 0: return .null
        case 1:
          let (table, name): (UInt32, String) = random.below(2) == 0 ? (3, "Dog") : (2, "Person")
          let targets = keys[name].known
          return targets.isEmpty
            ? .null : .typedLink(table: table, key: targets[random.below(targets.count)])
        default: return scalar(types[random.below(types.count)], &random)
        }
      default:
        return column.isOptional && random.below(6) == 0 ? .null : scalar(column.type, &random)
      }
    }
    let count = random.below(4)
    switch column.collection {
    case .none:
      return column.type == .link && random.below(4) == 0 ? .null : element()
    case .list: return .list((0..<count).map { _ in element() }.filter { isAllowed($0, column) })
    case .set:
      return Value.set((0..<count).map { _ in element() }.filter { isAllowed($0, column) })
        .canonical
    case .dictionary:
      return Value.dictionary(
        ["a", "b", "k"].prefix(count).map { DictionaryEntry(key: $0, value: element()) }
      ).canonical
    }
  }

  private static func isAllowed(_ value: Value, _ column: ColumnSchema) -> Bool {
    value != .null || column.isOptional
  }

  // MARK: databases

  /// A database in memory with these rows.
  package static func database(_ data: ReferenceTables, _ name: String) throws -> Database {
    let database = try Database.open(inMemory: name)
    let write = try database.beginWrite()
    try write.createTable(place)
    try write.createTable(TableSchema(name: "Person", columns: []))
    try write.createTable(TableSchema(name: "Dog", columns: []))
    for table in [person, dog] {
      for column in table.columns { try write.addColumn(column, to: table.name) }
    }
    try fill(write, data)
    try write.commit()
    return database
  }

  /// Inserts rows; links are set after every row exists.
  static func fill(_ write: WriteTransaction, _ data: ReferenceTables) throws {
    for table in [place, dog, person] {
      for key in data.keys(table.name) {
        let values = data.rows[table.name].known[key].known
        let plain = zip(table.columns, values).map { column, value -> Value in
          guard column.type == .link || column.type == .mixed else { return value }
          switch column.collection {
          case .none: return .null
          case .list: return .list([])
          case .set: return .set([])
          case .dictionary: return .dictionary([])
          }
        }
        try write.upsert(into: table.name, key: key, plain)
      }
    }
    for table in [dog, person] {
      for key in data.keys(table.name) {
        try write.update(in: table.name, key: key, data.rows[table.name].known[key].known)
      }
    }
  }
}
