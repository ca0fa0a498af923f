// MigrationDataTests.swift: what a migration block knows of both schemas, classes that lose all
// their objects, and migrations that a program runs before it opens a realm.

import Foundation
import Synchronization
import Testing

@testable import ObjectDatabase

private enum Before {
  class Pet: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var nickname: String
    override class func _realmObjectName() -> String? { "Pet" }
  }
  class Toy: Object {
    @Persisted var name: String
    override class func _realmObjectName() -> String? { "Toy" }
  }
}

private enum After {
  class Pet: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted(indexed: true) var age: Int?
    override class func _realmObjectName() -> String? { "Pet" }
  }
  class Toy: Object {
    @Persisted var name: String
    override class func _realmObjectName() -> String? { "Toy" }
  }
  class Owner: Object {
    @Persisted var name: String
    override class func _realmObjectName() -> String? { "Owner" }
  }
}

@Suite("migrations: data and schemas")
struct MigrationDataTests {
  private static let classes: [ObjectBase.Type] = [
    After.Pet.self, After.Toy.self, After.Owner.self,
  ]

  /// Three pets and two toys, version 0.
  private func prepared() throws -> Folder {
    let folder = try Folder()
    let realm = try folder.realm([Before.Pet.self, Before.Toy.self])
    try realm.write {
      for id in 1...3 { realm.create(Before.Pet.self, value: ["id": id, "nickname": "n\(id)"]) }
      for name in ["ball", "rope"] { realm.create(Before.Toy.self, value: ["name": name]) }
    }
    return folder
  }

  @Test("oldSchema is the file's, newSchema the program's")
  func schemas() throws {
    let folder = try prepared()
    let seen = Mutex<[Schema]>([])
    let configuration = folder.configuration(Self.classes, version: 1) { migration, version in
      #expect(version == 0)
      seen.withLock { $0 = [migration.oldSchema, migration.newSchema] }
    }
    _ = try Realm(configuration: configuration)
    let schemas = seen.withLock { $0 }
    try #require(schemas.count == 2)
    let old = try #require(schemas[0]["Pet"])
    #expect(old.properties.map(\.name) == ["id", "nickname"])
    #expect(old.primaryKeyProperty?.name == "id")
    #expect(schemas[0]["Toy"] != nil && schemas[0]["Owner"] == nil)
    let new = try #require(schemas[1]["Pet"])
    #expect(Set(new.properties.map(\.name)).isSuperset(of: ["id", "name", "age"]))
    let age = try #require(new["age"])
    #expect(age.type == .int && age.isOptional && age.isIndexed)
    #expect(schemas[1].objectSchema.map(\.className) == ["Owner", "Pet", "Toy"])
  }

  @Test("deleteData empties the class it names and no other, and says whether the file had it")
  func deleteData() throws {
    let folder = try prepared()
    let answers = Mutex<[Bool]>([])
    let configuration = folder.configuration(Self.classes, version: 1) { migration, _ in
      let had = ["Pet", "Owner", "Nobody"].map { migration.deleteData(forType: $0) }
      answers.withLock { $0 = had }
      migration.create("Pet", value: ["id": 1, "name": "again"])
    }
    let realm = try Realm(configuration: configuration)
    #expect(answers.withLock { $0 } == [true, false, false])
    // The primary key of a deleted object is free.
    #expect(realm.objects(After.Pet.self).map(\.name) == ["again"])
    #expect(realm.objects(After.Toy.self).map(\.name).sorted() == ["ball", "rope"])
  }

  @Test("deleteData of a class that the program no longer has empties it in the file")
  func deleteForgottenClass() throws {
    let folder = try prepared()
    let configuration = folder.configuration([After.Pet.self], version: 1) { migration, _ in
      migration.deleteData(forType: "Toy")
    }
    _ = try Realm(configuration: configuration)
    let later = try Realm(configuration: folder.configuration(Self.classes, version: 2))
    #expect(later.objects(After.Toy.self).isEmpty)
    #expect(later.objects(After.Pet.self).count == 3)
  }

  @Test("performMigration brings a file to the new version, once")
  func performMigration() throws {
    let folder = try prepared()
    let url = URL(filePath: folder.path + "/test.realm")
    #expect(try schemaVersionAtURL(url) == 0)
    let calls = Mutex(0)
    let configuration = folder.configuration(Self.classes, version: 7) { migration, version in
      #expect(version == 0)
      calls.withLock { $0 += 1 }
      migration.renameProperty(onType: "Pet", from: "nickname", to: "name")
    }
    for _ in 0..<2 { try Realm.performMigration(for: configuration) }
    #expect(calls.withLock { $0 } == 1)
    #expect(try schemaVersionAtURL(url) == 7)
    let realm = try Realm(configuration: folder.configuration(Self.classes, version: 7))
    #expect(realm.objects(After.Pet.self).sorted(by: \.id).map(\.name) == ["n1", "n2", "n3"])
  }

  @Test("performMigration reports what opening the realm would, and leaves the file as it was")
  func failedMigration() throws {
    let folder = try prepared()
    let url = URL(filePath: folder.path + "/test.realm")
    let configuration = folder.configuration(Self.classes, version: 1) { migration, _ in
      migration.deleteData(forType: "Pet")
      migration.renameProperty(onType: "Pet", from: "nobody", to: "name")
    }
    let error = #expect(throws: Realm.Error.self) {
      try Realm.performMigration(for: configuration)
    }
    #expect(error?.code == .schemaMismatch)
    #expect(try schemaVersionAtURL(url) == 0)
    let realm = try folder.realm([Before.Pet.self, Before.Toy.self])
    #expect(realm.objects(Before.Pet.self).count == 3)
  }
}
