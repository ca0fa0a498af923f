// DiffHistory.swift: a history of commits drawn from a seed: rows and collections of every kind,
// bulk loads and deletions that split and merge leaves, and changes of the schema.

import Testing

@testable import Engine

/// A database to which random commits are made.
struct DiffHistory {
  let database: Database
  var random: TestRandom
  private var made = 0
  private let columns: [ColumnSchema]

  init(_ seed: UInt64, options: Database.Options = .init()) throws {
    database = try Database.open(backend: TestBackend(), options: options)
    random = TestRandom(seed)
    columns = ColumnFixtures.allColumns
    let write = try database.beginWrite()
    try ColumnFixtures.makeTargets(write)
    try write.createTable(ColumnFixtures.all)
    try write.createTable(Fixtures.dogs)
    for key in 0..<30 { try put("All", Int64(key), write) }
    for key in 0..<1500 { try write.insert(into: "Dog", key: Int64(2 * key), Fixtures.dog(key)) }
    try write.commit()
  }

  private mutating func put(_ table: String, _ key: Int64, _ write: WriteTransaction) throws {
    let schema = try write.table(table).schema
    try write.upsert(into: table, key: key, ColumnFixtures.row(schema, &random))
  }

  /// One to four changes in one commit.
  mutating func commit() throws {
    let write = try database.beginWrite()
    for _ in 0...random.below(4) { try change(write) }
    try write.commit()
  }

  private mutating func change(_ write: WriteTransaction) throws {
    let key = Int64(random.below(60))
    switch random.below(14) {
    case 0, 1: try put("All", key, write)
    case 2:
      if try write.row(in: "All", key: key) != nil { try write.delete(from: "All", key: key) }
    case 3, 4, 5: try editCollection(key, write)
    case 6, 7:
      let start = random.below(3000)
      for dog in start..<start + random.below(8) {
        try write.upsert(into: "Dog", key: Int64(dog), Fixtures.dog(random.below(9)))
      }
    case 8:
      // The same values again: nodes are written, nothing changes.
      if let row = try write.row(in: "Dog", key: 2 * key) {
        try write.update(in: "Dog", key: 2 * key, row)
      }
    case 9: try bulk(write)
    case 10, 11:
      let dog = Int64(random.below(3000))
      if try write.row(in: "Dog", key: dog) != nil { try write.delete(from: "Dog", key: dog) }
    default: try changeSchema(write)
    }
  }

  private mutating func bulk(_ write: WriteTransaction) throws {
    let start = random.below(3000)
    let isDeletion = random.below(2) == 0
    for dog in start..<start + random.below(900) {
      let isThere = try write.row(in: "Dog", key: Int64(dog)) != nil
      if isDeletion, isThere { try write.delete(from: "Dog", key: Int64(dog)) }
      if !isDeletion, !isThere {
        try write.insert(into: "Dog", key: Int64(dog), Fixtures.dog(dog))
      }
    }
  }

  private mutating func editCollection(_ key: Int64, _ write: WriteTransaction) throws {
    let schema = try write.table("All").schema
    let candidates = schema.columns.filter { $0.collection != .none }
    guard !candidates.isEmpty, try write.row(in: "All", key: key) != nil else { return }
    let column = candidates[random.below(candidates.count)]
    let path = CollectionPath(table: "All", key: key, column: column.name)
    for _ in 0...[0, 2, 80][random.below(3)] {
      let count = try write.count(of: path)
      let value = ColumnFixtures.element(column, &random)
      switch column.collection {
      case .list where count > 0 && random.below(3) == 0:
        try write.remove(at: random.below(count), from: path)
      case .list where count > 0 && random.below(2) == 0:
        try write.replace(at: random.below(count), with: value, in: path)
      case .list: try write.append(value, to: path)
      case .set:
        if random.below(3) == 0 {
          _ = try write.remove(value, from: path)
        } else {
          _ = try write.insert(value, into: path)
        }
      default: try write.set(value, forKey: "key \(random.below(90))", in: path)
      }
    }
  }

  private mutating func changeSchema(_ write: WriteTransaction) throws {
    made += 1
    let columns = try write.table("All").schema.columns
    switch random.below(6) {
    case 0 where columns.count < 100:
      var column = self.columns[random.below(self.columns.count)]
      column.name = "added \(made)"
      try write.addColumn(column, to: "All")
    case 1 where columns.count > 20:
      try write.removeColumn(columns[random.below(columns.count)].name, from: "All")
    case 2:
      try write.renameColumn(
        columns[random.below(columns.count)].name, in: "All", to: "renamed \(made)")
    case 3:
      let name = "Cat \(random.below(3))"
      guard (try? write.table(name)) == nil else { return try write.removeTable(name) }
      try write.createTable(TableSchema(name: name, columns: Fixtures.dogs.columns))
      for key in 0..<random.below(9) {
        try write.insert(into: name, key: Int64(key), Fixtures.dog(key))
      }
    case 4:
      let name = "Cat \(random.below(3))"
      guard (try? write.table(name)) != nil else { return }
      try write.renameTable(name, to: "Cat \(made + 3)")
    default: try put("All", Int64(random.below(60)), write)
    }
  }
}
