// Actors.swift: 5 snippets about actors, as RealmSwift's documentation
// uses the API.

import Foundation
import ObjectDatabase

enum ActorsSnippets {
  static let all: [(String, () throws -> Void)] = [
    ("realm of the main actor", snippet1),
    ("realm of an actor", snippet2),
    ("asyncWrite", snippet3),
    ("observe on an actor", snippet4),
    ("observe key paths on an actor", snippet5),
  ]

  /// Realm of the main actor.
  static func snippet1() throws {
    _ = { @MainActor in
      let realm = try await Realm()
      _ = realm.isEmpty
    }
  }

  /// Realm of an actor.
  static func snippet2() throws {
    actor Store {
      var realm: Realm!
      init() async throws { realm = try await Realm(actor: self) }
      func create(name: String) async throws {
        try await realm.asyncWrite { realm.create(Dog.self, value: ["name": name]) }
      }
      func count() -> Int { realm.objects(Dog.self).count }
      func close() { realm = nil }
    }
    _ = Store.self
  }

  /// AsyncWrite.
  static func snippet3() throws {
    _ = { @MainActor in
      let realm = try await Realm(
        configuration: .init(inMemoryIdentifier: "x"), actor: MainActor.shared)
      try await realm.asyncWrite { realm.add(Dog()) }
      await realm.asyncRefresh()
    }
  }

  /// Observe on an actor.
  static func snippet4() throws {
    _ = { @MainActor in
      let realm = try await Realm()
      let token = await realm.objects(Dog.self).observe(on: MainActor.shared) { actor, change in
        _ = (actor, change)
      }
      token.invalidate()
    }
  }

  /// Observe key paths on an actor.
  static func snippet5() throws {
    _ = { @MainActor in
      let realm = try await Realm()
      let token = await realm.objects(Dog.self).observe(
        keyPaths: [\Dog.name], on: MainActor.shared
      ) { _, _ in }
      token.invalidate()
    }
  }
}
