// MigrationTests.swift: schema versions: what goes by itself, what needs a block, what is refused,
// and that a migration is all or nothing. Classes of one name stand for one class over time.

import Engine
import FoundationEssentials
import Glibc
import Synchronization
import Testing

@testable import ObjectDatabase

private enum Before {
  class Pet: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var first: String
    @Persisted var last: String
    @Persisted var weight: Int?
    override class func _realmObjectName() -> String? { "Pet" }
  }
}

private enum Added {
  class Pet: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var first: String
    @Persisted var last: String?
    @Persisted var weight: Int?
    @Persisted var toys: List<Toy>
    @Persisted var legs = 4
    override class func _realmObjectName() -> String? { "Pet" }
  }
  class Toy: Object {
    @Persisted var name: String
    override class func _realmObjectName() -> String? { "Toy" }
  }
}

private enum Changed {
  class Pet: Object {
    @Persisted(primaryKey: true) var key: String
    @Persisted var id: Int
    @Persisted var fullName: String
    @Persisted var surname: String
    @Persisted var weight: Double
    override class func _realmObjectName() -> String? { "Pet" }
  }
}

private enum Indexed {
  class Pet: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var first: String
    @Persisted var last: String
    @Persisted var weight: Int?
    override class func _realmObjectName() -> String? { "Pet" }
  }
}

@Suite("migrations")
struct MigrationTests {
  private func prepared() throws -> Folder {
    let folder = try Folder()
    let realm = try folder.realm([Before.Pet.self])
    try realm.write {
      for id in 1...3 {
        realm.create(
          Before.Pet.self,
          value: ["id": id, "first": "f\(id)", "last": "l\(id)", "weight": id * 10] as [String: Any]
        )
      }
    }
    return folder
  }

  private func content(_ folder: Folder) throws -> UInt64 {
    let database = try Database.open(path: folder.path + "/test.realm")
    return try database.snapshot().contentHash()
  }

  @Test("indexes and new classes go at any open; nothing changes when nothing differs")
  func automatic() throws {
    let folder = try prepared()
    let before = try content(folder)
    _ = try folder.realm([Before.Pet.self])
    #expect(try content(folder) == before)
    do {
      let realm = try folder.realm([Indexed.Pet.self, Dog.self])
      #expect(realm.schema["Pet"]?["first"]?.isIndexed == true)
      #expect(realm.objects(Indexed.Pet.self).map(\.first) == ["f1", "f2", "f3"])
    }
    let database = try Database.open(path: folder.path + "/test.realm")
    let tables = try database.snapshot().tables
    #expect(tables.contains { $0.name == "Person" }, "what a class leads to comes along")
    let pet = try #require(tables.first { $0.name == "Pet" })
    #expect(pet.columns.filter(\.isIndexed).map(\.name).sorted() == ["first", "id"])
  }

  @Test("added properties need a higher version, and no block")
  func additive() throws {
    let folder = try prepared()
    let before = try content(folder)
    let error = #expect(throws: Realm.Error.self) { _ = try folder.realm([Added.Pet.self]) }
    #expect(error?.code == .schemaMismatch)
    for line in [
      "- Property 'Pet.last' has been made optional.", "- Property 'Pet.toys' has been added.",
      "- Property 'Pet.legs' has been added.",
    ] {
      #expect(error?.message.contains(line) == true, "\(line)")
    }
    #expect(try content(folder) == before, "a refused open changes nothing")
    let realm = try Realm(configuration: folder.configuration([Added.Pet.self], version: 1))
    let pets = realm.objects(Added.Pet.self)
    #expect(pets.map(\.last) == ["l1", "l2", "l3"] && pets.map(\.weight) == [10, 20, 30])
    #expect(pets.allSatisfy { $0.toys.isEmpty && $0.legs == 0 })
    #expect(realm.object(ofType: Added.Pet.self, forPrimaryKey: 2)?.first == "f2")
    try realm.write {
      pets[0].last = nil
      pets[0].toys.append(Added.Toy())
    }
    #expect(try schemaVersionAtURL(URL(filePath: folder.path + "/test.realm")) == 1)
  }

  private static let block: MigrationBlock = { migration, version in
    migration.renameProperty(onType: "Pet", from: "last", to: "surname")
    migration.enumerateObjects(ofType: "Pet") { old, new in
      let name = "\(old?["first"] as? String ?? "") \(old?["last"] as? String ?? "")"
      new?["fullName"] = name
      new?["weight"] = Double(old?["weight"] as? Int ?? 0) / 2
      new?["key"] = "v\(version)-\(old?["id"] as? Int ?? 0)"
    }
  }

  @Test("a block gets old and new objects, renames, and changes the primary key")
  func block() throws {
    let folder = try prepared()
    let error = #expect(throws: Realm.Error.self) {
      _ = try Realm(configuration: folder.configuration([Changed.Pet.self], version: 1))
    }
    for line in [
      "- Property 'Pet.key' has been added.", "- Property 'Pet.first' has been removed.",
      "- Property 'Pet.weight' has been changed from 'int?' to 'double'.",
      "- Primary Key for class 'Pet' has changed from 'id' to 'key'.",
    ] where line.contains("added") == false {
      #expect(error?.message.contains(line) == true, "\(line)")
    }
    let realm = try Realm(
      configuration: folder.configuration([Changed.Pet.self], version: 1, Self.block))
    let pet = try #require(realm.object(ofType: Changed.Pet.self, forPrimaryKey: "v0-2"))
    #expect(pet.fullName == "f2 l2" && pet.surname == "l2" && pet.weight == 10 && pet.id == 2)
    #expect(realm.objects(Changed.Pet.self).count == 3)
    let database = try Database.open(path: folder.path + "/test.realm")
    let columns = try database.snapshot().tables.first { $0.name == "Pet" }?.columns.map(\.name)
    #expect(columns?.sorted() == ["fullName", "id", "key", "surname", "weight"])
    _ = try database.verify()
  }

  @Test("a block creates and deletes; what fails in it leaves the old file")
  func failing() throws {
    let folder = try prepared()
    let before = try content(folder)
    let error = #expect(throws: Realm.Error.self) {
      _ = try Realm(
        configuration: folder.configuration([Changed.Pet.self], version: 1) { migration, _ in
          migration.enumerateObjects(ofType: "Pet") { _, new in new?["key"] = "the same" }
        })
    }
    #expect(error?.code == .invalidValue && error?.message.contains("key") == true)
    #expect(try content(folder) == before && schemaVersion(folder) == 0)
    let realm = try Realm(
      configuration: folder.configuration([Changed.Pet.self], version: 2) { migration, _ in
        Self.block(migration, 0)
        migration.enumerateObjects(ofType: "Pet") { old, new in
          if old?["id"] as? Int == 1, let new { migration.delete(new) }
        }
        migration.create("Pet", value: ["key": "made", "weight": 1.5] as [String: Any])
      })
    #expect(realm.objects(Changed.Pet.self).map(\.key).sorted() == ["made", "v0-2", "v0-3"])
    try realm.write { realm.create(Changed.Pet.self, value: ["key": "later"]) }
    #expect(realm.objects(Changed.Pet.self).count == 4)
  }

  @Test("a process that dies in the middle of a migration leaves the old file")
  func killed() async throws {
    let folder = try prepared()
    let before = try content(folder)
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
      let configuration = Realm.Configuration(
        fileURL: URL(filePath: path + "/test.realm"), schemaVersion: 1,
        migrationBlock: { migration, version in
          Self.block(migration, version)
          kill(getpid(), SIGKILL)
        }, objectTypes: [Changed.Pet.self])
      _ = try Realm(configuration: configuration)
    }
    #expect(try content(folder) == before && schemaVersion(folder) == 0)
    let realm = try folder.realm([Before.Pet.self])
    #expect(realm.objects(Before.Pet.self).map(\.first) == ["f1", "f2", "f3"])
    try realm.write { realm.deleteAll() }
  }

  private func schemaVersion(_ folder: Folder) throws -> UInt64 {
    try schemaVersionAtURL(URL(filePath: folder.path + "/test.realm"))
  }

  @Test("a lower version is refused; deleteRealmIfMigrationNeeded starts over")
  func downgradeAndDelete() throws {
    let folder = try prepared()
    _ = try Realm(configuration: folder.configuration([Before.Pet.self], version: 5))
    let error = #expect(throws: Realm.Error.self) { _ = try folder.realm([Before.Pet.self]) }
    #expect(error?.code == .schemaVersion && error?.message.contains("5") == true)
    var configuration = folder.configuration([Changed.Pet.self], version: 5)
    configuration.deleteRealmIfMigrationNeeded = true
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(Changed.Pet.self).isEmpty)
    try realm.write { realm.create(Changed.Pet.self, value: ["key": "new"]) }
    #expect(try schemaVersion(folder) == 5)
  }

  @Test("a class that joins when it is used meets the same rules")
  func joining() throws {
    let folder = try prepared()
    let realm = try Realm(configuration: folder.configuration(version: 0))
    #expect(realm.objects(Dog.self).isEmpty, "no table yet")
    try realm.write { realm.add(Dog()) }
    #expect(realm.objects(Dog.self).count == 1)
    let infos = [try Discovery.info(for: Changed.Pet.self)]
    let differences = try SchemaUpdate.differences(of: infos, realm.core)
    #expect(differences.contains { $0.need == .migrationBlock })
    #expect(throws: Realm.Error.self) {
      _ = try Realm(configuration: folder.configuration(version: 1, Self.block))
    }
  }

  @Test("unsupported classes are named with their property")
  func unsupported() throws {
    func message(_ type: ObjectBase.Type) throws -> String {
      let error = #expect(throws: Realm.Error.self) { _ = try Discovery.info(for: type) }
      #expect(error?.code == .unsupportedClass)
      return try #require(error).message
    }
    #expect(try message(Wrong.LinkNotOptional.self).hasPrefix("LinkNotOptional.dog is a link"))
    #expect(try message(Wrong.TwoKeys.self).hasPrefix("TwoKeys.second is a second primary key"))
    #expect(try message(Wrong.DoubleKey.self).contains("DoubleKey.key is a primary key of type"))
    #expect(try message(Wrong.IndexedList.self).contains("IndexedList.numbers is indexed"))
    #expect(try message(Wrong.EmbeddedKey.self).contains("EmbeddedKey.key"))
    #expect(try message(Wrong.Mapping.self).contains("Mapping.nobody"))
    #expect(try message(Wrong.SameName.self).contains("SameName.b has the name x"))
    let error = #expect(throws: Realm.Error.self) {
      _ = try ClassSet(reachableFrom: [Discovery.info(for: Wrong.NoOrigin.self)])
    }
    #expect(error?.message.contains("NoOrigin.origins") == true)
  }

  private enum Wrong {
    class LinkNotOptional: Object { @Persisted var dog: Dog }
    class TwoKeys: Object {
      @Persisted(primaryKey: true) var first: Int
      @Persisted(primaryKey: true) var second: Int
    }
    class DoubleKey: Object { @Persisted(primaryKey: true) var key: Double }
    class IndexedList: Object { @Persisted(indexed: true) var numbers: List<Int> }
    class EmbeddedKey: EmbeddedObject { @Persisted(primaryKey: true) var key: Int }
    class Mapping: Object {
      @Persisted var a: Int
      override class func propertiesMapping() -> [String: String] { ["nobody": "x"] }
    }
    class SameName: Object {
      @Persisted var a: Int
      @Persisted var b: Int
      override class func propertiesMapping() -> [String: String] { ["a": "x", "b": "x"] }
    }
    class NoOrigin: Object {
      @Persisted(originProperty: "nothing") var origins: LinkingObjects<Dog>
    }
  }

  @Test("mapped names are the file's; queries and callers use the class's")
  func mapped() throws {
    let folder = try Folder()
    let realm = try folder.realm([Renamed.self])
    try realm.write { realm.create(Renamed.self, value: ["inside": 3]) }
    #expect(realm.objects(Renamed.self).filter("inside == 3").count == 1)
    #expect(realm.objects(Renamed.self).first?.inside == 3)
    let tables = try Database.open(path: folder.path + "/test.realm").snapshot().tables
    #expect(tables.first { $0.name == "renamed_table" }?.columns.map(\.name) == ["in_file"])
  }

  private class Renamed: Object {
    @Persisted var inside: Int
    override class func propertiesMapping() -> [String: String] { ["inside": "in_file"] }
    override class func _realmObjectName() -> String? { "renamed_table" }
  }
}
