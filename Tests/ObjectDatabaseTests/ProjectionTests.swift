// ProjectionTests.swift: projections of objects: alone, in results, changed, frozen, observed.

import Foundation
import ObjectDatabase
import Testing

private class Town: EmbeddedObject {
  @Persisted var name = ""
}

private class Human: Object {
  @Persisted var name = ""
  @Persisted var age = 0
  @Persisted var town: Town?
  @Persisted var friends: List<Human>
}

private final class Card: Projection<Human> {
  @Projected(\Human.name) var title
  @Projected(\Human.town?.name) var home
  @Projected(\Human.name.count) var length
  @Projected(\Human.friends.projectTo.name) var friendNames: ProjectedCollection<String>
}

@Suite("projections")
struct ProjectionTests {
  private func realm(_ name: String = #function) throws -> Realm {
    let realm = try Realm(
      configuration: .init(inMemoryIdentifier: name, objectTypes: [Human.self]))
    try realm.write {
      let eve = realm.create(
        Human.self, value: ["name": "Eve", "age": 2, "town": ["name": "Oslo"]])
      realm.create(Human.self, value: ["name": "Adam", "age": 1, "friends": [eve]])
    }
    return realm
  }

  @Test("results of projections are found, sorted and filtered")
  func results() throws {
    let realm = try realm()
    let cards = realm.objects(Card.self)
    #expect(cards.map(\.title) == ["Eve", "Adam"] && cards.map(\.length) == [3, 4])
    #expect(cards.map(\.home) == ["Oslo", nil])
    #expect(Array(try #require(cards.last).friendNames) == ["Eve"])
    #expect(cards.sorted(by: \.title).first?.title == "Adam")
    #expect(cards.sorted(by: \.home).last?.title == "Eve")
    #expect(cards.filter("age == 1").first?.title == "Adam")
    #expect(cards.where { $0.town.name == "Oslo" }.count == 1)
    #expect(cards.sectioned(by: \.title).allKeys == ["Adam", "Eve"])
    #expect(cards.first == cards.first && cards.first != cards.last)
    #expect(cards.first?.description.contains("title = Eve") == true)
  }

  @Test("a projection changes its object, and is frozen and thawed like it")
  func changes() throws {
    let realm = try realm()
    let card = try #require(realm.objects(Card.self).first)
    let frozen = card.freeze()
    try realm.write { card.title = "Lilith" }
    #expect(card.rootObject.name == "Lilith" && frozen.title == "Eve" && frozen.isFrozen)
    #expect(frozen.thaw()?.title == "Lilith" && card.realm == realm)
    let reference = ThreadSafeReference(to: card)
    #expect(realm.resolve(reference)?.title == "Lilith")
    try realm.write { realm.delete(card.rootObject) }
    #expect(card.isInvalidated && frozen.thaw() == nil)
    #expect(Card(projecting: Human(value: ["name": "x"])).title == "x", "unmanaged")
  }

  @Test("observers hear of projected properties by their own names, and of no others")
  func observed() throws {
    let realm = try realm()
    let card = try #require(realm.objects(Card.self).first)
    var heard: [String] = []
    let token = card.observe { change in
      switch change {
      case .change(let card, let properties):
        for property in properties.sorted(by: { $0.name < $1.name }) {
          heard.append("\(card.length) \(property.name) \(property.newValue ?? "nil")")
        }
      case .deleted: heard.append("deleted")
      case .error(let error): heard.append("\(error)")
      }
    }
    var homes = 0
    let other = card.observe(keyPaths: [\Card.home]) { _ in homes += 1 }
    try realm.write { card.rootObject.age = 9 }
    #expect(heard.isEmpty)
    try realm.write { card.title = "Lil" }
    #expect(heard == ["3 length 3", "3 title Lil"] && homes == 0)
    heard = []
    try realm.write { card.rootObject.town?.name = "Bonn" }
    #expect(heard == ["3 home Bonn"] && homes == 1)
    heard = []
    try realm.write { realm.delete(card.rootObject) }
    #expect(heard == ["deleted"])
    token.invalidate()
    other.invalidate()
  }

  @Test("a projected collection is observed")
  func collection() throws {
    let realm = try realm()
    let card = try #require(realm.objects(Card.self).last)
    var updates: [[Int]] = []
    let token = card.friendNames.observe { change in
      if case .update(let names, _, let insertions, let modifications) = change {
        updates.append([names.count] + insertions + modifications)
      }
    }
    realm.refresh()
    try realm.write { card.rootObject.friends[0].age = 5 }
    #expect(updates == [])
    try realm.write { card.rootObject.friends[0].name = "x" }
    try realm.write { card.rootObject.friends.append(Human()) }
    #expect(updates == [[1, 0], [2, 1]])
    token.invalidate()
  }
}
