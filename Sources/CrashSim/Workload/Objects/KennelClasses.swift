// KennelClasses.swift: Faultline's classes, in two versions of a program. Version 2 renames
// `Person.name` to fullName, has `Dog.breed`, and no longer has `Dog.weight`.

import ObjectDatabase

/// One version of Faultline's classes.
package protocol Kennel: SendableMetatype {
  associatedtype Person: KennelPerson
  associatedtype Dog: KennelDog
  static func person(_ id: Int) -> Person
  static func setOwner(of dog: Dog, to person: Person?)
  static func owner(of dog: Dog) -> Int?
  static func fans(of dog: Dog) -> [Int]
  static func dogs(of person: Person) -> List<Dog>
}

extension Kennel {
  package static var types: [ObjectBase.Type] {
    [Person.self, Dog.self, Address.self, Room.self, Crate.self]
  }
}

/// What both versions of `Person` have.
package protocol KennelPerson: Object {
  var _id: Int { get }
  var label: String { get set }
  var age: Int { get set }
  var home: Address? { get set }
  var nicknames: MutableSet<String> { get }
  var scores: Map<String, Int> { get }
}

/// What both versions of `Dog` have.
package protocol KennelDog: Object {
  var _id: Int { get }
  var name: String { get set }
  var age: Int { get set }
  /// The property that only version 1 has, or nil.
  var weightIfAny: Int? { get set }
  /// The property that only version 2 has, or nil.
  var breedIfAny: String? { get }
}

/// A person's address, embedded in the person.
package final class Address: EmbeddedObject {
  @Persisted package var city: String
  @Persisted package var rooms: List<Room>
}

/// A room, embedded in an address.
package final class Room: EmbeddedObject {
  @Persisted package var name: String
  @Persisted package var size: Int
  /// A crate that stands in it.
  @Persisted package var chest: Crate?
}

/// What holds a value of any type, the same in both versions.
package final class Crate: Object {
  @Persisted(primaryKey: true) package var _id: Int
  @Persisted package var content: AnyRealmValue
  /// The rooms in which it stands, which are embedded.
  @Persisted(originProperty: "chest") package var places: LinkingObjects<Room>
}

// MARK: version 1

package final class Person1: Object, KennelPerson {
  @Persisted(primaryKey: true) package var _id: Int
  @Persisted var name: String
  @Persisted package var age: Int
  @Persisted package var home: Address?
  @Persisted var dogs: List<Dog1>
  @Persisted package var nicknames: MutableSet<String>
  @Persisted package var scores: Map<String, Int>

  package override class func _realmObjectName() -> String? { ObjectClasses.person }

  package var label: String {
    get { name }
    set { name = newValue }
  }
}

package final class Dog1: Object, KennelDog {
  @Persisted(primaryKey: true) package var _id: Int
  @Persisted package var name: String
  @Persisted(indexed: true) package var age: Int
  @Persisted var owner: Person1?
  @Persisted var weight: Int?
  @Persisted(originProperty: "dogs") var fans: LinkingObjects<Person1>

  package override class func _realmObjectName() -> String? { ObjectClasses.dog }

  package var weightIfAny: Int? {
    get { weight }
    set { weight = newValue }
  }
  package var breedIfAny: String? { nil }
}

package enum Kennel1: Kennel {
  package static func person(_ id: Int) -> Person1 {
    let person = Person1()
    person._id = id
    return person
  }

  package static func setOwner(of dog: Dog1, to person: Person1?) { dog.owner = person }
  package static func owner(of dog: Dog1) -> Int? { dog.owner?._id }
  package static func fans(of dog: Dog1) -> [Int] { dog.fans.map(\._id).sorted() }
  package static func dogs(of person: Person1) -> List<Dog1> { person.dogs }
}

// MARK: version 2

package final class Person2: Object, KennelPerson {
  @Persisted(primaryKey: true) package var _id: Int
  @Persisted var fullName: String
  @Persisted package var age: Int
  @Persisted package var home: Address?
  @Persisted var dogs: List<Dog2>
  @Persisted package var nicknames: MutableSet<String>
  @Persisted package var scores: Map<String, Int>

  package override class func _realmObjectName() -> String? { ObjectClasses.person }

  package var label: String {
    get { fullName }
    set { fullName = newValue }
  }
}

package final class Dog2: Object, KennelDog {
  @Persisted(primaryKey: true) package var _id: Int
  @Persisted package var name: String
  @Persisted(indexed: true) package var age: Int
  @Persisted var owner: Person2?
  @Persisted var breed: String
  @Persisted(originProperty: "dogs") var fans: LinkingObjects<Person2>

  package override class func _realmObjectName() -> String? { ObjectClasses.dog }

  package var weightIfAny: Int? {
    get { nil }
    set { _ = newValue }
  }
  package var breedIfAny: String? { breed }
}

package enum Kennel2: Kennel {
  package static func person(_ id: Int) -> Person2 {
    let person = Person2()
    person._id = id
    return person
  }

  package static func setOwner(of dog: Dog2, to person: Person2?) { dog.owner = person }
  package static func owner(of dog: Dog2) -> Int? { dog.owner?._id }
  package static func fans(of dog: Dog2) -> [Int] { dog.fans.map(\._id).sorted() }
  package static func dogs(of person: Person2) -> List<Dog2> { person.dogs }
}

// MARK: the migration

extension DeclaredMigration {
  /// The block of the realm's configuration.
  package var block: MigrationBlock? {
    switch self {
    case .none: nil
    case .empty: { _, _ in }
    case .full: { migration, _ in Self.migrate(migration) }
    }
  }

  /// The breed for a dog of unknown weight, and for one of known weight.
  static func breed(ofWeight weight: Int?) -> String {
    weight.map { "of \($0) pounds" } ?? "unknown"
  }

  /// The key of the new dog for a person.
  static func newDog(of person: Int) -> Int { person &+ newDogs }
  private static let newDogs = 1_000_000

  private static func migrate(_ migration: Migration) {
    migration.renameProperty(onType: ObjectClasses.person, from: "name", to: "fullName")
    migration.enumerateObjects(ofType: ObjectClasses.dog) { old, new in
      new?["breed"] = breed(ofWeight: old?["weight"] as? Int)
    }
    migration.enumerateObjects(ofType: ObjectClasses.person) { old, _ in
      guard let id = old?["_id"] as? Int else { return }
      migration.create(ObjectClasses.dog, value: ["_id": newDog(of: id), "name": "new"])
    }
  }
}
