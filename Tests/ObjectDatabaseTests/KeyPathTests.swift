// KeyPathTests.swift: Swift key paths through links and into collections mean what their texts
// mean, wherever one is taken; a key path to anything else stops the process, and is never cut
// short.

import Foundation
import ObjectDatabase
import Testing

private class City: EmbeddedObject {
  @Persisted var name = ""
}

private class Keeper: Object {
  @Persisted var name = ""
  @Persisted var age: Int?
  @Persisted var city: City?
  @Persisted var boss: Keeper?
  /// Reads two properties of one object, as a path through `boss` would.
  var bossAndName: String? { boss == nil ? name : name + "!" }
}

private class Pet: Object {
  @Persisted var number = 0
  @Persisted var keeper: Keeper?
  @Persisted var friends: List<Pet>
  @Persisted var named: Map<String, Pet?>
}

@Suite("key paths")
struct KeyPathTests {
  private func realm(_ name: String = #function) throws -> Realm {
    let realm = try Realm(
      configuration: .init(inMemoryIdentifier: name, objectTypes: [Pet.self, Keeper.self]))
    let keepers: [(name: String, age: Int?, city: String)] = [
      ("c", 3, "Oslo"), ("a", nil, "Rome"), ("b", 7, "Bonn"),
    ]
    try realm.write {
      for (number, keeper) in keepers.enumerated() {
        let pet = realm.create(Pet.self, value: ["number": number])
        pet.keeper = Keeper(
          value: ["name": keeper.name, "age": keeper.age as Any, "city": ["name": keeper.city]]
            as [String: Any])
      }
      realm.objects(Pet.self).first?.keeper?.boss = realm.objects(Keeper.self).last
    }
    return realm
  }

  @Test("sorts, sections and aggregates follow links, as the texts do")
  func throughLinks() throws {
    let realm = try realm()
    let pets = realm.objects(Pet.self)
    #expect(Array(pets.sorted(by: \.keeper?.name).map(\.number)) == [1, 2, 0])
    #expect(Array(pets.sorted(by: \.keeper!.name).map(\.number)) == [1, 2, 0])
    #expect(Array(pets.sorted(by: \.keeper?.city?.name).map(\.number)) == [2, 0, 1])
    #expect(pets.sorted(by: \.keeper?.boss?.name).last?.number == 0)
    let descriptor = SortDescriptor(keyPath: \Pet.keeper?.name, ascending: false)
    #expect(Array(pets.sorted(by: [descriptor]).map(\.number)) == [0, 2, 1])
    #expect(pets.sectioned(by: \.keeper?.name).allKeys == ["a", "b", "c"])
    #expect(pets.max(of: \.keeper?.age) == 7 && pets.min(of: \.keeper?.age) == 3)
    #expect(pets.sum(of: \.keeper?.age) == 10)
    #expect(pets.distinct(by: [\Pet.keeper?.city?.name]).count == 3)
    #expect(pets.distinct(by: [\Pet.keeper?.boss?.name]).count == 2)
  }

  @Test("observers of key paths are called for what lies behind links and in collections")
  func observed() throws {
    let realm = try realm()
    let pets = realm.objects(Pet.self)
    var calls = [0, 0, 0]
    let tokens = [
      pets.observe(keyPaths: [\Pet.keeper?.name]) { _ in calls[0] += 1 },
      pets.observe(keyPaths: [\Pet.friends[0].number]) { _ in calls[1] += 1 },
      pets.observe(keyPaths: [\Pet.named["a"]??.number]) { _ in calls[2] += 1 },
    ]
    realm.refresh()
    calls = [0, 0, 0]
    let other = try realm.write {
      let other = realm.create(Pet.self, value: ["number": 9])
      pets.first?.friends.append(other)
      pets.last?.named["x"] = other
      return other
    }
    realm.refresh()
    calls = [0, 0, 0]
    try realm.write { realm.objects(Keeper.self).first?.name = "z" }
    #expect(calls == [1, 0, 0])
    try realm.write { realm.objects(Keeper.self).first?.age = 1 }
    #expect(calls == [1, 0, 0])
    try realm.write { other.number = 10 }
    #expect(calls == [1, 1, 1])
    for token in tokens { token.invalidate() }
  }

  @Test("what is no path of properties stops the process")
  func noPath() throws {
    let uses: [@Sendable (Results<Pet>) -> Void] = [
      { _ = $0.sorted(by: \.keeper?.name.count) },
      { _ = $0.sorted(by: \.friends.count) },
      { _ = $0.sorted(by: \.keeper?.bossAndName) },
      { _ = $0.sorted(byKeyPath: "keeper.nme") },
      { _ = $0.distinct(by: ["nothing"]) },
    ]
    for (number, use) in uses.enumerated() {
      let message = MisuseProbe.message {
        guard
          let realm = try? Realm(
            configuration: .init(inMemoryIdentifier: "noPath", objectTypes: [Pet.self]))
        else { return }
        use(realm.objects(Pet.self))
      }
      #expect(message != nil, "use \(number)")
    }
  }
}
