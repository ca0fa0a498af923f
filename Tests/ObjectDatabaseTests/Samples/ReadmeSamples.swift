// ReadmeSamples.swift: the code of README.md for both databases.

import Engine
import Foundation
import ObjectDatabase
import Testing

@Suite("samples of the README")
struct ReadmeSamples {
  @Test("a row is inserted and read")
  func engine() throws {
    let folder = try Folder()
    let path = folder.path + "/dogs.realm"
    // sample: engine
    let database = try Database.open(path: path)
    let write = try database.beginWrite()
    try write.createTable(
      TableSchema(name: "Dog", columns: [ColumnSchema(name: "name", type: .string)]))
    try write.insert(into: "Dog", key: 1, [.string("Rex")])
    try write.commit()  // durable when it returns

    let snapshot = try database.snapshot()
    print(try snapshot.row(in: "Dog", key: 1) ?? [])
    snapshot.release()
    // end
    #expect(try database.snapshot().row(in: "Dog", key: 1) == [.string("Rex")])
  }

  @Test("an object is created and found")
  func objects() throws {
    let folder = try Folder()
    let path = folder.path + "/dogs.realm"
    // sample: objects
    final class Dog: Object {
      @Persisted(primaryKey: true) var id: Int
      @Persisted var name = ""
      @Persisted(indexed: true) var age = 0
    }

    let realm = try Realm(
      configuration: Realm.Configuration(fileURL: URL(filePath: path), objectTypes: [Dog.self]))
    try realm.write {
      realm.create(Dog.self, value: ["id": 1, "name": "Rex", "age": 7])
    }
    let old = realm.objects(Dog.self).where { $0.age > 5 }
    print(old.map(\.name))
    // end
    #expect(Array(old.map(\.name)) == ["Rex"])
  }
}
