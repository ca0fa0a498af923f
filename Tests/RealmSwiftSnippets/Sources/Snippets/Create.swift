// Create.swift: 22 snippets about create, as RealmSwift's documentation
// uses the API.

import Foundation
import ObjectDatabase

enum CreateSnippets {
  static let all: [(String, () throws -> Void)] = [
    ("add an object", snippet1),
    ("add several", snippet2),
    ("create with values", snippet3),
    ("create with defaults", snippet4),
    ("upsert", snippet5),
    ("partial update", snippet6),
    ("update all", snippet7),
    ("write returns a value", snippet8),
    ("begin and commit", snippet9),
    ("cancel", snippet10),
    ("is in a transaction", snippet11),
    ("error cancels", snippet12),
    ("relations are added, too", snippet13),
    ("embedded object", snippet14),
    ("copy into another realm", snippet15),
    ("detached copy of a managed object", snippet16),
    ("asynchronous write with callbacks", snippet17),
    ("begin asynchronously", snippet18),
    ("create from JSON", snippet19),
    ("many of JSON", snippet20),
    ("custom persistable is stored", snippet21),
    ("failable persistable is stored", snippet22),
  ]

  /// Add an object.
  static func snippet1() throws {
    let realm = try freshRealm()
    let dog = Dog()
    dog.name = "Rex"
    try realm.write {
      realm.add(dog)
    }
    check(dog.realm != nil)
  }

  /// Add several.
  static func snippet2() throws {
    let realm = try freshRealm()
    try realm.write {
      realm.add([Dog(), Dog()])
    }
    check(realm.objects(Dog.self).count == 2)
  }

  /// Create with values.
  static func snippet3() throws {
    let realm = try freshRealm()
    try realm.write {
      let dog = realm.create(Dog.self, value: ["name": "Max", "age": 5])
      check(dog.name == "Max")
    }
  }

  /// Create with defaults.
  static func snippet4() throws {
    let realm = try freshRealm()
    let dog = try realm.write { realm.create(Dog.self) }
    check(dog.age == 0)
  }

  /// Upsert.
  static func snippet5() throws {
    let realm = try freshRealm()
    let person1 = Person(
      value: ["_id": ObjectId("507f1f77bcf86cd799439011"), "name": "Jones"] as [String: Any])
    try realm.write { realm.add(person1, update: .modified) }
    let person2 = Person(value: ["_id": person1._id, "name": "Bowie"] as [String: Any])
    try realm.write { realm.add(person2, update: .modified) }
    check(realm.objects(Person.self).count == 1 && person1.name == "Bowie")
  }

  /// Partial update.
  static func snippet6() throws {
    let realm = try freshRealm()
    let person = Person(name: "Ada", age: 36)
    try realm.write {
      realm.add(person)
      realm.create(
        Person.self, value: ["_id": person._id, "name": "Dachs"] as [String: Any], update: .modified
      )
    }
    check(person.name == "Dachs" && person.age == 36)
  }

  /// Update all.
  static func snippet7() throws {
    let realm = try freshRealm()
    let person = Person(name: "Ada")
    try realm.write {
      realm.add(person)
      realm.add(Person(value: ["_id": person._id]), update: .all)
    }
    check(person.name == "")
  }

  /// Write returns a value.
  static func snippet8() throws {
    let realm = try freshRealm()
    let dog = try realm.write { () -> Dog in
      let dog = Dog()
      realm.add(dog)
      return dog
    }
    check(dog.realm != nil)
  }

  /// Begin and commit.
  static func snippet9() throws {
    let realm = try freshRealm()
    realm.beginWrite()
    realm.add(Dog())
    try realm.commitWrite()
    check(realm.objects(Dog.self).count == 1)
  }

  /// Cancel.
  static func snippet10() throws {
    let realm = try freshRealm()
    realm.beginWrite()
    realm.add(Dog())
    realm.cancelWrite()
    check(realm.objects(Dog.self).isEmpty)
  }

  /// Is in a transaction.
  static func snippet11() throws {
    let realm = try freshRealm()
    try realm.write { check(realm.isInWriteTransaction) }
    check(!realm.isInWriteTransaction)
  }

  /// Error cancels.
  static func snippet12() throws {
    struct Stop: Error {}
    let realm = try freshRealm()
    do {
      try realm.write {
        realm.add(Dog())
        throw Stop()
      }
    } catch is Stop {}
    check(realm.objects(Dog.self).isEmpty)
  }

  /// Relations are added, too.
  static func snippet13() throws {
    let realm = try freshRealm()
    let person = Person(name: "Ada")
    person.dogs.append(Dog(name: "Rex", age: 1))
    try realm.write { realm.add(person) }
    check(realm.objects(Dog.self).count == 1)
  }

  /// Embedded object.
  static func snippet14() throws {
    let realm = try freshRealm()
    let person = Person(name: "Ada")
    person.address = Address(value: ["city": "London"])
    try realm.write { realm.add(person) }
    check(person.address?.city == "London")
  }

  /// Copy into another realm.
  static func snippet15() throws {
    let realm = try freshRealm()
    let other = try freshRealm()
    let dog = Dog(name: "Rex", age: 3)
    try realm.write { realm.add(dog) }
    try other.write { other.create(Dog.self, value: dog) }
    check(other.objects(Dog.self).first?.name == "Rex")
  }

  /// Detached copy of a managed object.
  static func snippet16() throws {
    let realm = try freshRealm()
    let person = Person(name: "Ada")
    person.favorites.insert("tea")
    try realm.write { realm.add(person) }
    let copy = Person(value: person)
    check(copy.realm == nil && copy.favorites.contains("tea"))
  }

  /// Asynchronous write with callbacks.
  static func snippet17() throws {
    let realm = try freshRealm()
    realm.writeAsync {
      realm.add(Dog())
    } onComplete: { error in
      _ = error
    }
  }

  /// Begin asynchronously.
  static func snippet18() throws {
    let realm = try freshRealm()
    let id: AsyncTransactionId = realm.beginAsyncWrite {
      realm.add(Dog())
      realm.commitAsyncWrite { error in _ = error }
    }
    realm.cancelAsyncWrite(id)
    _ = realm.isPerformingAsynchronousWriteOperations
  }

  /// Create from JSON.
  static func snippet19() throws {
    let realm = try freshRealm()
    let json = try JSONSerialization.jsonObject(
      with: Data("{\"name\":\"a\",\"color\":null,\"x\":1}".utf8))
    try realm.write { realm.create(Dog.self, value: json) }
    check(realm.objects(Dog.self).first?.color == nil)
  }

  /// Many of JSON.
  static func snippet20() throws {
    let realm = try freshRealm()
    let json =
      try JSONSerialization.jsonObject(with: Data("[{\"name\":\"a\"},{\"name\":\"b\"}]".utf8))
      as! [[String: Any]]
    try realm.write { for value in json { realm.create(Dog.self, value: value) } }
    check(realm.objects(Dog.self).count == 2)
  }

  /// Custom persistable is stored.
  static func snippet21() throws {
    let realm = try freshRealm()
    let trip = Trip()
    trip.start = Coordinate(latitude: 1, longitude: 2)
    trip.named["a"] = Coordinate(latitude: 5, longitude: 6)
    try realm.write { realm.add(trip) }
    check(trip.start.latitude == 1 && trip.named["a"]?.longitude == 6)
  }

  /// Failable persistable is stored.
  static func snippet22() throws {
    let realm = try freshRealm()
    let trip = try realm.write { realm.create(Trip.self, value: ["link": "https://example.com"]) }
    check(trip.link?.host == "example.com")
  }
}
