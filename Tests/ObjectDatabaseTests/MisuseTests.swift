// MisuseTests.swift: a wrong caller is a trap, in every build. Each runs in a process of its own.

import FoundationEssentials
import Testing

@testable import ObjectDatabase

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
