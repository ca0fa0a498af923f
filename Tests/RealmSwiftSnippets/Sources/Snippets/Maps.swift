// Maps.swift: 14 snippets about maps, as RealmSwift's documentation
// uses the API.

import Foundation
import ObjectDatabase

enum MapsSnippets {
  static let all: [(String, () throws -> Void)] = [
    ("subscript", snippet1),
    ("remove", snippet2),
    ("update value", snippet3),
    ("literal", snippet4),
    ("loop over entries", snippet5),
    ("loop over keys and values", snippet6),
    ("merge a dictionary", snippet7),
    ("merge a map", snippet8),
    ("contains", snippet9),
    ("managed map", snippet10),
    ("filter the values", snippet11),
    ("sums", snippet12),
    ("observe", snippet13),
    ("remove all", snippet14),
  ]

  /// Subscript.
  static func snippet1() throws {
    let dog = Dog()
    dog.favoriteParksByCity["New York"] = "Domino Park"
    check(dog.favoriteParksByCity["New York"] == "Domino Park")
  }

  /// Remove.
  static func snippet2() throws {
    let dog = Dog()
    dog.favoriteParksByCity["New York"] = "Domino Park"
    dog.favoriteParksByCity["New York"] = nil
    dog.favoriteParksByCity.removeObject(for: "Boston")
    check(dog.favoriteParksByCity.count == 0)
  }

  /// Update value.
  static func snippet3() throws {
    let dog = Dog()
    dog.favoriteParksByCity.updateValue("a", forKey: "b")
    check(dog.favoriteParksByCity.keys == ["b"] && dog.favoriteParksByCity.values == ["a"])
  }

  /// Literal.
  static func snippet4() throws {
    let map: Map<String, Int> = ["a": 1, "b": 2]
    check(map.count == 2)
  }

  /// Loop over entries.
  static func snippet5() throws {
    let dog = Dog()
    dog.favoriteParksByCity["a"] = "b"
    for element in dog.favoriteParksByCity { _ = (element.key, element.value) }
  }

  /// Loop over keys and values.
  static func snippet6() throws {
    let dog = Dog()
    dog.favoriteParksByCity["a"] = "b"
    for (key, value) in dog.favoriteParksByCity.asKeyValueSequence() {
      check(key == "a" && value == "b")
    }
  }

  /// Merge a dictionary.
  static func snippet7() throws {
    let dog = Dog()
    dog.favoriteParksByCity.merge(["a": "b"]) { _, new in new }
    check(dog.favoriteParksByCity["a"] == "b")
  }

  /// Merge a map.
  static func snippet8() throws {
    let dog = Dog()
    let other = Dog()
    other.favoriteParksByCity["a"] = "b"
    dog.favoriteParksByCity.merge(other.favoriteParksByCity) { _, new in new }
    check(dog.favoriteParksByCity == other.favoriteParksByCity)
  }

  /// Contains.
  static func snippet9() throws {
    let dog = Dog()
    dog.favoriteParksByCity["a"] = "b"
    check(dog.favoriteParksByCity.contains { key, value in key == "a" && value == "b" })
  }

  /// Managed map.
  static func snippet10() throws {
    let realm = try filledRealm()
    let person = realm.objects(Person.self).first!
    try realm.write {
      person.notes["x"] = "y"
      person.pets["Rex"] = Dog(name: "Rex", age: 1)
    }
    check(person.notes["x"] == "y" && person.pets["Rex"]??.name == "Rex")
  }

  /// Filter the values.
  static func snippet11() throws {
    let realm = try filledRealm()
    let person = realm.objects(Person.self).first!
    try realm.write { person.pets["Rex"] = Dog(name: "Rex", age: 1) }
    check(person.pets.filter("age == 1").count == 1)
  }

  /// Sums.
  static func snippet12() throws {
    let map: Map<String, Int> = ["a": 1, "b": 2]
    check(map.sum() == 3 && map.min() == 1 && map.max() == 2)
  }

  /// Observe.
  static func snippet13() throws {
    let realm = try filledRealm()
    let person = realm.objects(Person.self).first!
    let token = person.notes.observe { (change: RealmMapChange<Map<String, String>>) in
      switch change {
      case .initial(let map): _ = map.count
      case .update(_, let deletions, let insertions, let modifications):
        _ = (deletions, insertions, modifications)
      case .error(let error): _ = error
      }
    }
    token.invalidate()
  }

  /// Remove all.
  static func snippet14() throws {
    let map: Map<String, Int> = ["a": 1]
    map.removeAll()
    check(map.count == 0)
  }
}
