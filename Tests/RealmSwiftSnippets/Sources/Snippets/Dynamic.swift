// Dynamic.swift: 6 snippets about dynamic, as RealmSwift's documentation
// uses the API.

import Foundation
import ObjectDatabase

enum DynamicSnippets {
  static let all: [(String, () throws -> Void)] = [
    ("objects by class name", snippet1),
    ("object by primary key", snippet2),
    ("create by class name", snippet3),
    ("members", snippet4),
    ("lists", snippet5),
    ("maps", snippet6),
  ]

  /// Objects by class name.
  static func snippet1() throws {
    let realm = try filledRealm()
    let dogs = realm.dynamicObjects("Dog")
    check(dogs.count == 4 && dogs.first?["name"] as? String == "Rex")
  }

  /// Object by primary key.
  static func snippet2() throws {
    let realm = try filledRealm()
    let id = realm.objects(Person.self).first!._id
    check(realm.dynamicObject(ofType: "Person", forPrimaryKey: id)?["name"] as? String == "Ada")
  }

  /// Create by class name.
  static func snippet3() throws {
    let realm = try filledRealm()
    try realm.write { realm.dynamicCreate("Dog", value: ["name": "D"]) }
    check(realm.objects(Dog.self).count == 5)
  }

  /// Members.
  static func snippet4() throws {
    let realm = try filledRealm()
    check(realm.dynamicObjects("Dog").first?.name as? String == "Rex")
  }

  /// Lists.
  static func snippet5() throws {
    let realm = try filledRealm()
    let person = realm.objects(Person.self).first!
    check(person.dynamicList("dogs").count == 2)
    check(person.dynamicList("dogs").first?["name"] as? String == "Rex")
  }

  /// Maps.
  static func snippet6() throws {
    let realm = try filledRealm()
    let person = realm.objects(Person.self).first!
    let pets: Map<String, DynamicObject?> = person.dynamicMap("pets")
    check(pets.count == 0)
  }
}
