// ObjectStore.swift [U]: the object database at work on the rows. Safety: rows are borrowed from a
// RowSet, which is never freed.

import CBench
import Engine
import Foundation
import ObjectDatabase

/// A row as an object.
class PlainRow: Object {
  @Persisted var id: Int
  @Persisted var age: Int
  @Persisted var score: Double
  @Persisted var name: String

  func take(_ row: RowValues) {
    id = row.id
    age = row.age
    score = row.score
    name = row.name
  }
}

/// The same with a primary key.
class KeyedRow: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var age: Int
  @Persisted var score: Double
  @Persisted var name: String

  func take(_ row: RowValues) {
    id = row.id
    age = row.age
    score = row.score
    name = row.name
  }
}

/// What pets link to.
class Owner: Object {
  @Persisted var age: Int
  @Persisted var name: String
  @Persisted(originProperty: "owner") var pets: LinkingObjects<Pet>
}

/// An object with a link.
class Pet: Object {
  @Persisted var id: Int
  @Persisted var owner: Owner?
}

/// An object with a list of links.
class Keeper: Object {
  @Persisted var age: Int
  @Persisted var pets: List<Pet>
}

/// The values of one row as a program has them.
struct RowValues: Sendable {
  let id: Int
  let age: Int
  let score: Double
  let name: String

  /// Those of the table of 1 M rows.
  static let million = all(of: .million)
  /// Those of the table that commits change.
  static let tenThousand = all(of: .tenThousand)

  private static func all(of set: RowSet) -> [RowValues] {
    (0..<set.count).map { index in
      unsafe RowValues(
        id: Int(set.rows[index].id), age: Int(set.rows[index].age), score: set.rows[index].score,
        name: set.name(index))
    }
  }
}

/// A realm in a file of its own.
struct ObjectStore {
  let realm: Realm
  let path: String

  init(_ path: String) throws {
    realm = try Realm(configuration: Self.configuration(path))
    self.path = path
  }

  static func configuration(_ path: String) -> Realm.Configuration {
    var configuration = Realm.Configuration()
    configuration.fileURL = URL(filePath: path)
    configuration.objectTypes = [PlainRow.self, KeyedRow.self, Owner.self, Pet.self, Keeper.self]
    return configuration
  }

  // MARK: adding

  static func plain(_ row: RowValues) -> PlainRow {
    let object = PlainRow()
    object.take(row)
    return object
  }

  static func keyed(_ row: RowValues) -> KeyedRow {
    let object = KeyedRow()
    object.take(row)
    return object
  }

  /// Adds objects one by one, in one transaction.
  func add<Class: Object>(_ rows: [RowValues], _ make: (RowValues) -> Class) throws {
    try realm.write { for row in rows { realm.add(make(row)) } }
  }

  /// Makes objects by a block that gets each row's, in one transaction.
  func build(_ rows: [RowValues]) throws {
    try realm.write {
      realm.create(PlainRow.self, from: rows) { $0.take($1) }
    }
  }

  /// The same with a primary key.
  func buildKeyed(_ rows: [RowValues]) throws {
    try realm.write {
      realm.create(KeyedRow.self, from: rows) { $0.take($1) }
    }
  }

  /// Creates objects of dictionaries, in one transaction.
  func create(_ rows: [RowValues]) throws {
    try realm.write {
      for row in rows {
        let values: [String: Any] = [
          "id": row.id, "age": row.age, "score": row.score, "name": row.name,
        ]
        realm.create(PlainRow.self, value: values)
      }
    }
  }

  /// Adds owners and keepers, and a pet for each row; pet i belongs to owner i % owners, and is in
  /// the list of keeper i % owners.
  func addPets(_ rows: [RowValues], owners: Int) throws {
    try realm.write {
      let made = rows.prefix(owners).map { row in
        let owner = Owner()
        owner.age = row.age
        owner.name = row.name
        realm.add(owner)
        return owner
      }
      var kept: [[Pet]] = Array(repeating: [], count: owners)
      for row in rows {
        let pet = Pet()
        pet.id = row.id
        pet.owner = made[row.id % owners]
        realm.add(pet)
        kept[row.id % owners].append(pet)
      }
      for (row, pets) in zip(rows, kept) {
        let keeper = Keeper()
        keeper.age = row.age
        keeper.pets.append(objectsIn: pets)
        realm.add(keeper)
      }
    }
  }

  /// The number of objects and the sum of their ages.
  func totals(isKeyed: Bool) -> [Int] {
    if isKeyed {
      let rows = realm.objects(KeyedRow.self)
      return [rows.count, rows.sum(ofProperty: "age")]
    }
    let rows = realm.objects(PlainRow.self)
    return [rows.count, rows.sum(ofProperty: "age")]
  }
}

/// The storage layer at the same work: a table with the columns of the class.
struct StorageRows {
  let database: Database

  private static let table = "PlainRow"

  init(_ path: String) throws {
    database = try Database.open(path: path)
  }

  /// Inserts rows in one transaction, durable at its end.
  func insert(_ rows: [RowValues], isKeyed: Bool) throws {
    let write = try database.beginWrite()
    try write.createTable(
      TableSchema(
        name: Self.table,
        columns: [
          ColumnSchema(name: "id", type: .int, isIndexed: isKeyed, isUnique: isKeyed),
          ColumnSchema(name: "age", type: .int), ColumnSchema(name: "score", type: .double),
          ColumnSchema(name: "name", type: .string),
        ]))
    try write.insert(into: Self.table, count: rows.count) { row, index throws(EngineError) in
      try row.append(Int64(rows[index].id))
      try row.append(Int64(rows[index].age))
      try row.append(rows[index].score)
      try row.append(rows[index].name)
      return Int64(index)
    }
    try write.commit()
  }

  /// The number of rows and the sum of their ages.
  func totals() throws -> [Int] {
    let reader = try database.snapshot().reader(for: Self.table)
    return [reader.rowCount, Int(try reader.sum(reader.column("age", of: Int64.self)))]
  }
}
