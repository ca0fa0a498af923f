// Threads.swift: 10 snippets about threads, as RealmSwift's documentation
// uses the API.

import Foundation
import ObjectDatabase

enum ThreadsSnippets {
  static let all: [(String, () throws -> Void)] = [
    ("freeze an object", snippet1),
    ("freeze results, lists and realms", snippet2),
    ("freeze by the realm", snippet3),
    ("thaw", snippet4),
    ("thaw the realm", snippet5),
    ("thread-safe reference", snippet6),
    ("thread-safe reference in a write", snippet7),
    ("thread-safe wrapper", snippet8),
    ("thread-safe collection", snippet9),
    ("invalidate", snippet10),
  ]

  /// Freeze an object.
  static func snippet1() throws {
    let realm = try filledRealm()
    let frozen = realm.objects(Dog.self).first!.freeze()
    check(frozen.isFrozen)
  }

  /// Freeze results, lists and realms.
  static func snippet2() throws {
    let realm = try filledRealm()
    let dogs = realm.objects(Dog.self).freeze()
    let list = realm.objects(Person.self).first!.dogs.freeze()
    check(dogs.isFrozen && list.isFrozen && realm.freeze().isFrozen)
  }

  /// Freeze by the realm.
  static func snippet3() throws {
    let realm = try filledRealm()
    check(realm.freeze(realm.objects(Dog.self).first!).isFrozen)
  }

  /// Thaw.
  static func snippet4() throws {
    let realm = try filledRealm()
    let frozen = realm.objects(Dog.self).first!.freeze()
    let thawed = frozen.thaw()
    check(thawed?.isFrozen == false)
  }

  /// Thaw the realm.
  static func snippet5() throws {
    let realm = try filledRealm()
    check(!realm.freeze().thaw().isFrozen)
  }

  /// Thread-safe reference.
  static func snippet6() throws {
    let config = Realm.Configuration(inMemoryIdentifier: UUID().uuidString)
    let realm = try Realm(configuration: config)
    let dog = Dog(name: "Jane", age: 1)
    try realm.write { realm.add(dog) }
    let reference = ThreadSafeReference(to: dog)
    try DispatchQueue(label: "background").sync {
      try autoreleasepool {
        let realm = try Realm(configuration: config)
        guard let dog = realm.resolve(reference) else { return }
        try realm.write { dog.name = "Jane Doe" }
      }
    }
  }

  /// Thread-safe reference in a write.
  static func snippet7() throws {
    let realm = try filledRealm()
    let reference = try realm.write { () -> ThreadSafeReference<Dog> in
      let dog = realm.create(Dog.self, value: ["name": "New"])
      return ThreadSafeReference(to: dog)
    }
    check(realm.resolve(reference)?.name == "New")
  }

  /// Thread-safe wrapper.
  static func snippet8() throws {
    let realm = try filledRealm()
    @ThreadSafe var dog = realm.objects(Dog.self).first
    check(dog?.name == "Rex")
  }

  /// Thread-safe collection.
  static func snippet9() throws {
    let realm = try filledRealm()
    let reference = ThreadSafeReference(to: realm.objects(Person.self).first!.dogs)
    check(realm.resolve(reference)?.count == 2)
  }

  /// Invalidate.
  static func snippet10() throws {
    let realm = try filledRealm()
    let dog = realm.objects(Dog.self).first!
    realm.invalidate()
    check(dog.isInvalidated)
  }
}
