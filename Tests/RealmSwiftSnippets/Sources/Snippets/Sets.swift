// Sets.swift: 10 snippets about sets, as RealmSwift's documentation
// uses the API.

import Foundation
import ObjectDatabase

enum SetsSnippets {
  static let all: [(String, () throws -> Void)] = [
    ("insert and remove", snippet1),
    ("union", snippet2),
    ("intersection", snippet3),
    ("subtract", snippet4),
    ("subset", snippet5),
    ("remove all", snippet6),
    ("managed set", snippet7),
    ("set of objects", snippet8),
    ("sums", snippet9),
    ("loop", snippet10),
  ]

  /// Insert and remove.
  static func snippet1() throws {
    let dog = Dog()
    dog.citiesVisited.insert("New York")
    dog.citiesVisited.insert(objectsIn: ["Boston", "Denver"])
    dog.citiesVisited.remove("Boston")
    check(dog.citiesVisited.count == 2 && dog.citiesVisited.contains("Denver"))
  }

  /// Union.
  static func snippet2() throws {
    let a = Dog()
    let b = Dog()
    a.citiesVisited.insert("x")
    b.citiesVisited.insert("y")
    a.citiesVisited.formUnion(b.citiesVisited)
    check(a.citiesVisited.count == 2)
  }

  /// Intersection.
  static func snippet3() throws {
    let a = Dog()
    let b = Dog()
    a.citiesVisited.insert(objectsIn: ["x", "y"])
    b.citiesVisited.insert("y")
    check(a.citiesVisited.intersects(b.citiesVisited))
    a.citiesVisited.formIntersection(b.citiesVisited)
    check(a.citiesVisited.count == 1)
  }

  /// Subtract.
  static func snippet4() throws {
    let a = Dog()
    let b = Dog()
    a.citiesVisited.insert(objectsIn: ["x", "y"])
    b.citiesVisited.insert("y")
    a.citiesVisited.subtract(b.citiesVisited)
    check(a.citiesVisited.contains("x") && !a.citiesVisited.contains("y"))
  }

  /// Subset.
  static func snippet5() throws {
    let a = Dog()
    let b = Dog()
    a.citiesVisited.insert("x")
    b.citiesVisited.insert(objectsIn: ["x", "y"])
    check(a.citiesVisited.isSubset(of: b.citiesVisited))
  }

  /// Remove all.
  static func snippet6() throws {
    let dog = Dog()
    dog.citiesVisited.insert("x")
    dog.citiesVisited.removeAll()
    check(dog.citiesVisited.isEmpty)
  }

  /// Managed set.
  static func snippet7() throws {
    let realm = try filledRealm()
    let person = realm.objects(Person.self).first!
    try realm.write { person.favorites.insert("milk") }
    check(person.favorites.count == 2)
  }

  /// Set of objects.
  static func snippet8() throws {
    let realm = try filledRealm()
    let club = try realm.write { realm.create(Club.self) }
    try realm.write { club.members.insert(realm.objects(Person.self).first!) }
    check(club.members.count == 1)
  }

  /// Sums.
  static func snippet9() throws {
    let kinds = Kinds()
    kinds.intSet.insert(objectsIn: [1, 2, 2])
    check(kinds.intSet.sum() == 3 && kinds.intSet.max() == 2)
  }

  /// Loop.
  static func snippet10() throws {
    let kinds = Kinds()
    kinds.intSet.insert(objectsIn: [1, 2])
    for number in kinds.intSet { _ = number }
  }
}
