// Projections.swift: 10 snippets about projections, as RealmSwift's documentation
// uses the API.

import Foundation
import ObjectDatabase

enum ProjectionsSnippets {
  static let all: [(String, () throws -> Void)] = [
    ("objects", snippet1),
    ("embedded property", snippet2),
    ("computed", snippet3),
    ("collection", snippet4),
    ("of an object", snippet5),
    ("changed", snippet6),
    ("filter and sort", snippet7),
    ("frozen", snippet8),
    ("observed", snippet9),
    ("results observed", snippet10),
  ]

  /// Objects.
  static func snippet1() throws {
    let realm = try filledRealm()
    let people = realm.objects(PersonProjection.self)
    check(people.count == 2 && people.first?.firstName == "Ada")
  }

  /// Embedded property.
  static func snippet2() throws {
    let realm = try filledRealm()
    check(realm.objects(PersonProjection.self).first?.homeCity == "London")
  }

  /// Computed.
  static func snippet3() throws {
    let realm = try filledRealm()
    check(realm.objects(PersonProjection.self).first?.nameCaps == "Ada")
  }

  /// Collection.
  static func snippet4() throws {
    let realm = try filledRealm()
    let person = realm.objects(PersonProjection.self).first!
    check(Array(person.dogNames) == ["Rex", "Fido"])
  }

  /// Of an object.
  static func snippet5() throws {
    let realm = try filledRealm()
    let projection = PersonProjection(projecting: realm.objects(Person.self).first!)
    check(projection.firstName == "Ada" && projection.realm != nil)
  }

  /// Changed.
  static func snippet6() throws {
    let realm = try filledRealm()
    let person = realm.objects(PersonProjection.self).first!
    try realm.write { person.firstName = "Eve" }
    check(realm.objects(Person.self).first?.name == "Eve")
  }

  /// Filter and sort.
  static func snippet7() throws {
    let realm = try filledRealm()
    let people = realm.objects(PersonProjection.self)
    check(people.filter("age > 0").count == 2)
    check(people.sorted(by: \.firstName).first?.firstName == "Ada")
    check(people.where { $0.name == "Ada" }.count == 1)
  }

  /// Frozen.
  static func snippet8() throws {
    let realm = try filledRealm()
    check(realm.objects(PersonProjection.self).first?.freeze().isFrozen == true)
  }

  /// Observed.
  static func snippet9() throws {
    let realm = try filledRealm()
    let token = realm.objects(PersonProjection.self).first!.observe(keyPaths: [
      \PersonProjection.firstName
    ]) { change in
      if case .change(_, let properties) = change {
        for property in properties { _ = property.name }
      }
    }
    token.invalidate()
  }

  /// Results observed.
  static func snippet10() throws {
    let realm = try filledRealm()
    let token = realm.objects(PersonProjection.self).observe { _ in }
    token.invalidate()
  }
}
