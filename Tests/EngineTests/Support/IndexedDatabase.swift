// IndexedDatabase.swift: a database with an index on every kind of column that can have one and
// links of every kind, and a model beside it that is asked by looking at each row.

import Testing

@testable import Engine

struct IndexedDatabase {
  static let people = TableSchema(
    name: "Person",
    columns: [
      ColumnSchema(name: "id", type: .int, isOptional: true, isUnique: true),
      ColumnSchema(name: "name", type: .string, isOptional: true, isIndexed: true),
      ColumnSchema(name: "age", type: .int, isOptional: true, isIndexed: true),
      ColumnSchema(name: "born", type: .date, isOptional: true, isIndexed: true),
      ColumnSchema(name: "isActive", type: .bool, isOptional: true, isIndexed: true),
      ColumnSchema(name: "oid", type: .objectId, isIndexed: true),
      ColumnSchema(name: "uid", type: .uuid, isOptional: true, isIndexed: true),
      ColumnSchema(name: "blob", type: .binary, isIndexed: true),
      ColumnSchema(name: "note", type: .string, isFullText: true),
    ])
  static let dogs = TableSchema(
    name: "Dog",
    columns: [
      ColumnSchema(name: "owner", type: .link, target: "Person"),
      ColumnSchema(name: "friends", type: .link, collection: .list, target: "Dog"),
      ColumnSchema(name: "walkers", type: .link, collection: .set, target: "Person"),
      ColumnSchema(name: "roles", type: .link, collection: .dictionary, target: "Person"),
    ])
  static let schemas = [people, dogs]

  let backend: TestBackend
  let database: Database
  /// Rows by table and key.
  var model: [String: [Int64: [Value]]] = ["Person": [:], "Dog": [:]]

  init(
    _ backend: TestBackend = TestBackend(), options: Database.Options = Database.Options()
  ) throws {
    self.backend = backend
    database = try Database.open(backend: backend, options: options)
    if database.version == .first {
      let write = try database.beginWrite()
      for schema in Self.schemas { try write.createTable(schema) }
      try write.commit()
    }
  }

  // MARK: values

  static func optional(_ value: Value, _ random: inout TestRandom) -> Value {
    random.below(6) == 0 ? .null : value
  }

  static func oid(_ number: Int) -> Value {
    .objectId(ObjectId(bytes: (0..<12).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })!)
  }

  static func uid(_ number: Int) -> Value {
    .uuid(UUIDBytes(bytes: (0..<16).map { UInt8(truncatingIfNeeded: number >> (4 * $0)) })!)
  }

  private static let colliding = CollidingStrings.make(8)

  static func person(_ key: Int64, _ random: inout TestRandom) -> [Value] {
    let names = colliding + ["", "Ada", "Ada\u{0}", String(repeating: "long ", count: 300)]
    let ages: [Int64] = [.min, .max, 0, -1, 1, 2, 3]
    var number = 0
    func oid(_ drawn: Int) -> Value {
      number = drawn
      return Self.oid(drawn)
    }
    let values = [
      random.below(50) == 0 ? .null : .int(key),
      optional(.string(names[random.below(names.count)]), &random),
      optional(.int(ages[random.below(ages.count)]), &random),
      optional(
        .date(
          seconds: [.min, -1, 0, 7][random.below(4)], nanoseconds: Int64(random.below(3)) * 500),
        &random),
      optional(.bool(random.below(2) == 0), &random),
      oid(random.below(40)),
      optional(uid(random.below(40)), &random),
      .binary([UInt8](repeating: 7, count: random.below(20))),
    ]
    return values + [.string(note(key, number))]
  }

  /// A text whose words change with the number, with long ones that share an image.
  static func note(_ key: Int64, _ number: Int) -> String {
    let long = "internationalization" + String(repeating: "s", count: number % 3)
    return "Note \(key) \(long): w\(number), Wörter w\(number / 4)"
  }

  static let noteSearches = [
    "note", "notes", "internationalization", "internationalizations", "w1* -w10", "worter w3",
    "int* -internationalizationss", "1*",
  ]

  /// Links to rows that are there.
  func dog(_ random: inout TestRandom) -> [Value] {
    let people = model["Person"]!.keys.sorted()
    let dogs = model["Dog"]!.keys.sorted()
    func person() -> Value { .link(people[random.below(people.count)]) }
    let owner = people.isEmpty ? .null : Self.optional(person(), &random)
    let friends = dogs.isEmpty ? 0 : random.below(random.below(20) == 0 ? 300 : 5)
    let walkers = people.isEmpty ? 0 : random.below(4)
    return [
      owner, .list((0..<friends).map { _ in .link(dogs[random.below(min(4, dogs.count))]) }),
      .set((0..<walkers).map { _ in person() }),
      .dictionary(
        (0..<walkers).map { DictionaryEntry(key: "role \($0)", value: person()) }),
    ].map(\.canonical)
  }

  /// The number of elements of a collection.
  static func count(_ value: Value) -> Int {
    switch value {
    case .list(let values), .set(let values): values.count
    case .dictionary(let entries): entries.count
    default: 0
    }
  }

  // MARK: what the model says

  static func targets(_ value: Value) -> [Int64] {
    switch value {
    case .link(let key): [key]
    case .list(let values), .set(let values): values.flatMap { targets($0) }
    case .dictionary(let entries): entries.flatMap { targets($0.value) }
    default: []
    }
  }

  func keys(_ table: String, _ column: Int, _ value: Value) -> [Int64] {
    model[table]!.filter { $0.value[column] == value }.keys.sorted()
  }

  func backlinks(_ table: String, _ column: Int, to key: Int64) -> [Int64: Int] {
    model[table]!.mapValues { row in Self.targets(row[column]).filter { $0 == key }.count }
      .filter { $0.value > 0 }
  }

  /// Deletes a row and every link to it.
  mutating func delete(_ table: String, _ key: Int64) {
    model[table]![key] = nil
    for schema in Self.schemas {
      for (index, column) in schema.columns.enumerated() where column.target == table {
        for row in model[schema.name]!.keys {
          model[schema.name]![row]![index] = Self.without(model[schema.name]![row]![index], key)
        }
      }
    }
  }

  private static func without(_ value: Value, _ key: Int64) -> Value {
    switch value {
    case .link(key): .null
    case .list(let values): .list(values.filter { $0 != .link(key) })
    case .set(let values): .set(values.filter { $0 != .link(key) })
    case .dictionary(let entries):
      .dictionary(
        entries.map {
          DictionaryEntry(key: $0.key, value: $0.value == .link(key) ? .null : $0.value)
        })
    default: value
    }
  }

  // MARK: checks

  /// Rows, indexes and backlinks say what the model says, and verify agrees.
  func check(_ location: SourceLocation = #_sourceLocation) throws {
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    for schema in Self.schemas {
      var rows: [Int64: [Value]] = [:]
      try snapshot.forEach(in: schema.name) { key, values in rows[key] = values }
      #expect(rows == model[schema.name], sourceLocation: location)
    }
    try compare(snapshot, location)
    try database.verify()
  }

  /// Every lookup there is, against the model.
  func compare(
    _ reader: some ReadableVersion, _ location: SourceLocation = #_sourceLocation
  ) throws {
    for (index, column) in Self.people.columns.enumerated()
    where column.isIndexed || column.isUnique {
      let values = Set(model["Person"]!.values.map { $0[index] })
      for value in Array(values) + [.null] {
        let expected = keys("Person", index, value)
        let found = try reader.keys(in: "Person", column: column.name, equalTo: value)
        #expect(found == expected, "\(column.name) \(value)", sourceLocation: location)
        let first = try reader.firstKey(in: "Person", column: column.name, equalTo: value)
        #expect(first == expected.first, sourceLocation: location)
      }
    }
    for search in Self.noteSearches.map({ WordSearch($0) }) {
      let expected = model["Person"]!.filter { row in
        if case .string(let text) = row.value[8] { search.matches(text) } else { false }
      }
      let found = try reader.keys(in: "Person", column: "note", matching: search)
      #expect(found == expected.keys.sorted(), "\(search)", sourceLocation: location)
    }
    for column in ["age", "born", "isActive"] { try compareRanges(reader, column, location) }
    for origin in Self.dogs.columns.indices {
      let column = Self.dogs.columns[origin]
      for key in model[column.target!]!.keys {
        let expected = backlinks("Dog", origin, to: key)
        let found = try reader.backlinks(
          to: key, in: column.target!, from: "Dog", column: column.name)
        let isSame =
          found.map(\.key) == expected.keys.sorted()
          && found.allSatisfy { expected[$0.key] == $0.count }
        #expect(isSame, "\(column.name) to \(key)", sourceLocation: location)
        let count = try reader.backlinkCount(
          to: key, in: column.target!, from: "Dog", column: column.name)
        #expect(count == expected.values.reduce(0, +), sourceLocation: location)
      }
    }
  }

  private func compareRanges(
    _ reader: some ReadableVersion, _ column: String, _ location: SourceLocation
  ) throws {
    let index = Self.people.columns.firstIndex { $0.name == column }!
    let rows = model["Person"]!.filter { $0.value[index] != .null }
    let values = Set(rows.values.map { $0[index] }).sorted(by: Value.precedes)
    for lower in values {
      for upper in values {
        let expected = rows.filter {
          !Value.precedes($0.value[index], lower) && !Value.precedes(upper, $0.value[index])
        }.sorted { left, right in
          Value.precedes(left.value[index], right.value[index])
            || (left.value[index] == right.value[index] && left.key < right.key)
        }.map(\.key)
        let found = try reader.keys(in: "Person", column: column, between: lower, and: upper)
        #expect(found == expected, "\(column) \(lower) \(upper)", sourceLocation: location)
        let count = try reader.count(in: "Person", column: column, between: lower, and: upper)
        #expect(count == expected.count, sourceLocation: location)
      }
    }
  }
}

extension IndexedDatabase {
  /// One change drawn at random, made in the transaction and in the model.
  mutating func change(_ write: WriteTransaction, _ random: inout TestRandom) throws {
    let table = random.below(3) == 0 ? "Dog" : "Person"
    let key = Int64(random.below(table == "Dog" ? 30 : 70))
    let isThere = model[table]![key] != nil
    switch random.below(table == "Dog" ? 12 : 6) {
    case 0:
      if isThere {
        try write.delete(from: table, key: key)
        delete(table, key)
      } else {
        #expect(errorCode { try write.delete(from: table, key: key) } == .keyNotFound)
      }
    case 1...5: try put(write, table, key, isThere: isThere, &random)
    default: if isThere { try editCollection(write, key, &random) }
    }
  }

  private mutating func put(
    _ write: WriteTransaction, _ table: String, _ key: Int64, isThere: Bool,
    _ random: inout TestRandom
  ) throws {
    let values = table == "Dog" ? dog(&random) : Self.person(key, &random)
    let other = table == "Dog" ? nil : keys(table, 0, values[0]).first { $0 != key }
    if other != nil {
      let code = errorCode { try write.upsert(into: table, key: key, values) }
      #expect(code == .duplicateValue)
      return
    }
    if random.below(2) == 0 {
      try write.upsert(into: table, key: key, values)
    } else if isThere {
      #expect(errorCode { try write.insert(into: table, key: key, values) } == .keyExists)
      try write.update(in: table, key: key, values)
    } else {
      #expect(errorCode { try write.update(in: table, key: key, values) } == .keyNotFound)
      try write.insert(into: table, key: key, values)
    }
    model[table]![key] = values
  }

  private mutating func editCollection(
    _ write: WriteTransaction, _ key: Int64, _ random: inout TestRandom
  ) throws {
    let column = 1 + random.below(3)
    let schema = Self.dogs.columns[column]
    let path = CollectionPath(table: "Dog", key: key, column: schema.name)
    let targets = model[schema.target!]!.keys.sorted()
    if random.below(15) == 0 || targets.isEmpty {
      try write.removeAll(from: path)
      model["Dog"]![key]![column] =
        column == 1 ? .list([]) : column == 2 ? .set([]) : .dictionary([])
      return
    }
    let link = Value.link(targets[random.below(min(5, targets.count))])
    switch model["Dog"]![key]![column] {
    case .list(let values):
      model["Dog"]![key]![column] = .list(try editList(write, path, values, link, &random))
    case .set(let values):
      if random.below(2) == 0 {
        try write.insert(link, into: path)
        model["Dog"]![key]![column] = Value.set(values + [link]).canonical
      } else {
        try write.remove(link, from: path)
        model["Dog"]![key]![column] = .set(values.filter { $0 != link })
      }
    case .dictionary(let entries):
      let name = "role \(random.below(4))"
      if random.below(3) > 0 {
        let value = random.below(5) == 0 ? .null : link
        try write.set(value, forKey: name, in: path)
        let entry = DictionaryEntry(key: name, value: value)
        model["Dog"]![key]![column] = Value.dictionary(entries + [entry]).canonical
      } else {
        try write.removeValue(forKey: name, from: path)
        model["Dog"]![key]![column] = .dictionary(entries.filter { $0.key != name })
      }
    default: break
    }
  }

  private func editList(
    _ write: WriteTransaction, _ path: CollectionPath, _ old: [Value], _ link: Value,
    _ random: inout TestRandom
  ) throws -> [Value] {
    var values = old
    let index = random.below(values.count + 1)
    switch random.below(index < values.count ? 4 : 2) {
    case 0:
      try write.append(link, to: path)
      values.append(link)
    case 1:
      try write.insert(link, at: index, in: path)
      values.insert(link, at: index)
    case 2:
      try write.replace(at: index, with: link, in: path)
      values[index] = link
    default:
      try write.remove(at: index, from: path)
      values.remove(at: index)
    }
    return values
  }
}
