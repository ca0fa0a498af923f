// Update.swift: 11 snippets about update, as RealmSwift's documentation
// uses the API.

import Foundation
import ObjectDatabase

enum UpdateSnippets {
  static let all: [(String, () throws -> Void)] = [
    ("change a property", snippet1),
    ("change an embedded object", snippet2),
    ("replace an embedded object", snippet3),
    ("embedded object stays on update", snippet4),
    ("by name", snippet5),
    ("by key path", snippet6),
    ("enum", snippet7),
    ("object in a mixed value", snippet8),
    ("mixed values of all kinds", snippet9),
    ("switch over a mixed value", snippet10),
    ("typed values of a mixed value", snippet11),
  ]

  /// Change a property.
  static func snippet1() throws {
    let realm = try filledRealm()
    let dog = realm.objects(Dog.self).first!
    try realm.write {
      dog.name = "Wolfie"
      dog.age += 1
    }
    check(dog.name == "Wolfie" && dog.age == 2)
  }

  /// Change an embedded object.
  static func snippet2() throws {
    let realm = try filledRealm()
    let person = realm.objects(Person.self).first!
    try realm.write { person.address?.city = "Paris" }
    check(person.address?.city == "Paris")
  }

  /// Replace an embedded object.
  static func snippet3() throws {
    let realm = try filledRealm()
    let person = realm.objects(Person.self).first!
    try realm.write { person.address = Address(value: ["city": "Rome"]) }
    check(person.address?.city == "Rome")
  }

  /// Embedded object stays on update.
  static func snippet4() throws {
    let realm = try filledRealm()
    let person = realm.objects(Person.self).first!
    let address = person.address!
    try realm.write {
      realm.create(
        Person.self, value: ["_id": person._id, "address": ["city": "Oslo"]] as [String: Any],
        update: .modified)
    }
    check(!address.isInvalidated && address.city == "Oslo")
  }

  /// By name.
  static func snippet5() throws {
    let realm = try filledRealm()
    let dog = realm.objects(Dog.self).first!
    try realm.write { dog.setValue("Max", forKey: "name") }
    check(dog["name"] as? String == "Max")
  }

  /// By key path.
  static func snippet6() throws {
    let realm = try filledRealm()
    let person = realm.objects(Person.self).first!
    check(person.value(forKeyPath: "address.city") as? String == "London")
  }

  /// Enum.
  static func snippet7() throws {
    let realm = try filledRealm()
    let task = realm.objects(DogTask.self).first!
    try realm.write { task.status = .inProgress }
    check(task.status == .inProgress)
  }

  /// Object in a mixed value.
  static func snippet8() throws {
    let realm = try filledRealm()
    let dog = realm.objects(Dog.self).first!
    try realm.write { dog.companion = .object(Dog(name: "Friend", age: 1)) }
    check(dog.companion.object(Dog.self)?.name == "Friend")
  }

  /// Mixed values of all kinds.
  static func snippet9() throws {
    let dog = Dog()
    let values: [AnyRealmValue] = [
      .none, .int(1), .bool(true), .float(1), .double(1), .string("a"), .data(Data()),
      .date(Date()), .objectId(ObjectId.generate()), .decimal128(1.5), .uuid(UUID()),
    ]
    for value in values { dog.companion = value }
  }

  /// Switch over a mixed value.
  static func snippet10() throws {
    let dog = Dog()
    dog.companion = .string("Fluffy the Cat")
    switch dog.companion {
    case .string(let value): check(value == "Fluffy the Cat")
    case .object: check(false)
    case .none: check(false)
    default: break
    }
  }

  /// Typed values of a mixed value.
  static func snippet11() throws {
    let value = AnyRealmValue.int(5)
    check(
      value.intValue == 5 && value.stringValue == nil && value.boolValue == nil
        && value.doubleValue == nil)
  }
}
