// MisuseTests.swift [U]: a wrong caller is a trap, in every build. Each runs in a process of its
// own.

import FoundationEssentials
import Testing

@testable import ObjectDatabase

/// A value that does something when it is asked for.
private struct Sneak: CustomPersistable {
  nonisolated(unsafe) static var use: () -> Void = {}

  init(persistedValue: Int) {}

  var persistableValue: Int {
    unsafe Self.use()
    return 1
  }
}

/// An object with such a value.
private class Sneaking: Object {
  @Persisted var number: Int
  @Persisted var sneak: Sneak
}

@Suite("wrong callers")
struct MisuseTests {
  /// Runs a body with a realm in memory that holds one dog.
  static func withDog(_ body: (Realm, Dog) throws -> Void) throws {
    let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "misuse"))
    let dog = Dog(name: "Fido")
    try realm.write { realm.add(dog) }
    try body(realm, dog)
  }

  @Test("what follows would pass if nothing were wrong")
  func control() async {
    await #expect(processExitsWith: .success) {
      try Self.withDog { realm, dog in try realm.write { dog.age = 1 } }
    }
  }

  @Test("a value that uses the realm while its object is added", arguments: [0, 1, 2, 3])
  func sneaking(use: Int) async {
    await #expect(processExitsWith: use == 0 ? .success : .failure) { [use] in
      let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "misuse"))
      try realm.write {
        // The first one is added by itself, the second one begins a batch.
        for number in 0..<3 {
          unsafe Sneak.use = number < 2 ? {} : Self.sneak(use, realm)
          realm.add(Sneaking())
        }
      }
    }
    await #expect(processExitsWith: use == 0 ? .success : .failure) { [use] in
      let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "misuse"))
      try realm.write {
        realm.create(Sneaking.self, count: 3) { _, number in
          unsafe Sneak.use = number < 2 ? {} : Self.sneak(use, realm)
        }
      }
    }
  }

  private static func sneak(_ use: Int, _ realm: Realm) -> () -> Void {
    switch use {
    case 1: { _ = realm.objects(Dog.self).count }
    case 2: { realm.add(Sneaking()) }
    case 3: { realm.invalidate() }
    default: {}
    }
  }

  @Test("a change outside of a write transaction")
  func outside() async {
    await #expect(processExitsWith: .failure) { try Self.withDog { _, dog in dog.age = 1 } }
    await #expect(processExitsWith: .failure) { try Self.withDog { realm, _ in realm.add(Dog()) } }
  }

  @Test("a change of something frozen")
  func frozen() async {
    await #expect(processExitsWith: .failure) {
      try Self.withDog { realm, dog in
        let frozen = dog.freeze()
        try realm.write { frozen.age = 1 }
      }
    }
  }

  @Test("a deleted object")
  func deleted() async {
    await #expect(processExitsWith: .failure) {
      try Self.withDog { realm, dog in
        try realm.write { realm.delete(dog) }
        _ = dog.age
      }
    }
  }

  @Test("another thread's object")
  func foreign() async {
    await #expect(processExitsWith: .failure) {
      try Self.withDog { _, dog in
        let foreign = Smuggled(dog)
        _ = try onThread { foreign.value.age }
      }
    }
  }

  @Test("a property that is not there, another primary key, an index out of bounds")
  func names() async {
    await #expect(processExitsWith: .failure) { try Self.withDog { _, dog in _ = dog["legs"] } }
    await #expect(processExitsWith: .failure) {
      try Self.withDog { realm, _ in
        let company = Company()
        try realm.write {
          realm.add(company)
          company.name = "other"
        }
      }
    }
    await #expect(processExitsWith: .failure) {
      try Self.withDog { realm, _ in _ = realm.objects(Dog.self)[1] }
    }
  }

  @Test("an embedded object with two owners")
  func embedded() async {
    await #expect(processExitsWith: .failure) {
      try Self.withDog { realm, _ in
        let company = Company()
        company.seat = Address()
        try realm.write {
          realm.add(company)
          if let seat = company.seat { company.branches.append(seat) }
        }
      }
    }
  }
}
