// Models.swift: the classes of the tests, and realms of their own for each test.

import FoundationEssentials
import ObjectDatabase
import Requirements
import Testing

class Person: Object {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name: String
  @Persisted(indexed: true) var age = 0
  @Persisted var dogs: List<Dog>
}

class Dog: Object {
  @Persisted var name = "Rex"
  @Persisted var age = 0
  @Persisted var owner: Person?
  @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>

  convenience init(name: String, age: Int = 0) {
    self.init()
    self.name = name
    self.age = age
  }
}

enum Mood: String, PersistableEnum {
  case calm
  case wild
}

struct Kelvin: CustomPersistable {
  var degrees: Double

  init(persistedValue: Double) { degrees = persistedValue }
  var persistableValue: Double { degrees }
}

class Everything: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var bool: Bool
  @Persisted var int8: Int8
  @Persisted var int16: Int16
  @Persisted var int32: Int32
  @Persisted var int64: Int64
  @Persisted var float: Float
  @Persisted var double: Double
  @Persisted var string: String
  @Persisted var data: Data
  @Persisted var date: Date
  @Persisted var objectId: ObjectId
  @Persisted var uuid: UUID
  @Persisted var decimal: Decimal128
  @Persisted var any: AnyRealmValue
  @Persisted var mood: Mood
  @Persisted var heat: Kelvin
  @Persisted var optionalInt: Int?
  @Persisted var optionalString: String?
  @Persisted var optionalDate: Date?
  @Persisted var optionalMood: Mood?
  @Persisted var link: Everything?
  @Persisted var ints: List<Int>
  @Persisted var optionalStrings: List<String?>
  @Persisted var numbers: MutableSet<Int>
  @Persisted var words: Map<String, String>
  @Persisted var things: List<AnyRealmValue>
  @Persisted var links: Map<String, Everything?>
  /// Not persisted.
  var ignored = "not kept"
}

class Address: EmbeddedObject {
  @Persisted var street = ""
  @Persisted var notes: List<Note>
}

class Note: EmbeddedObject {
  @Persisted var text = ""
}

class Company: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var seat: Address?
  @Persisted var branches: List<Address>
  @Persisted var byCity: Map<String, Address?>
}

/// A folder of one test's own, removed with it.
final class Folder {
  let path: String

  init() throws {
    path = try TestFolder.make()
  }

  deinit {
    do { try FileManager.default.removeItem(atPath: path) } catch {
      Issue.record("\(path) cannot be removed: \(error)")
    }
  }

  func configuration(
    _ types: [ObjectBase.Type]? = nil, version: UInt64 = 0, _ block: MigrationBlock? = nil
  ) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(filePath: path + "/test.realm"), schemaVersion: version, migrationBlock: block,
      objectTypes: types)
  }

  func realm(_ types: [ObjectBase.Type]? = nil) throws -> Realm {
    try Realm(configuration: configuration(types))
  }
}

struct Failure: Error {
  let message: String
  init(_ message: String) { self.message = message }
}
