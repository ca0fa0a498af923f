// Delete.swift: 8 snippets about delete, as RealmSwift's documentation
// uses the API.

import Foundation
import ObjectDatabase

enum DeleteSnippets {
  static let all: [(String, () throws -> Void)] = [
    ("one object", snippet1),
    ("all of results", snippet2),
    ("a list", snippet3),
    ("an array", snippet4),
    ("the objects of a map", snippet5),
    ("everything", snippet6),
    ("an embedded object", snippet7),
    ("chained", snippet8),
  ]

  /// One object.
  static func snippet1() throws {
    let realm = try filledRealm()
    let dog = realm.objects(Dog.self).first!
    try realm.write { realm.delete(dog) }
    check(dog.isInvalidated)
  }

  /// All of results.
  static func snippet2() throws {
    let realm = try filledRealm()
    try realm.write { realm.delete(realm.objects(Dog.self).filter("age > 3")) }
    check(realm.objects(Dog.self).count == 2)
  }

  /// A list.
  static func snippet3() throws {
    let realm = try filledRealm()
    let person = realm.objects(Person.self).first!
    try realm.write { realm.delete(person.dogs) }
    check(person.dogs.isEmpty)
  }

  /// An array.
  static func snippet4() throws {
    let realm = try filledRealm()
    try realm.write { realm.delete(Array(realm.objects(Dog.self))) }
    check(realm.objects(Dog.self).isEmpty)
  }

  /// The objects of a map.
  static func snippet5() throws {
    let realm = try filledRealm()
    let person = realm.objects(Person.self).first!
    try realm.write {
      person.pets["a"] = Dog()
      realm.delete(person.pets)
    }
  }

  /// Everything.
  static func snippet6() throws {
    let realm = try filledRealm()
    try realm.write { realm.deleteAll() }
    check(realm.isEmpty)
  }

  /// An embedded object.
  static func snippet7() throws {
    let realm = try filledRealm()
    let person = realm.objects(Person.self).first!
    try realm.write { realm.delete(person.address!) }
    check(person.address == nil)
  }

  /// Chained.
  static func snippet8() throws {
    let realm = try filledRealm()
    let person = realm.objects(Person.self).first!
    try realm.write {
      realm.delete(person.dogs)
      realm.delete(person)
    }
    check(realm.objects(Dog.self).count == 2)
  }
}
