// DetachedCopyTests.swift: objects made of other objects, of answers of servers, and of values of
// other types: what fits is taken, names that the class does not have are ignored.

import Foundation
import ObjectDatabase
import Testing

private class Leaf: EmbeddedObject {
  @Persisted var size = 0
}

private class Plant: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var name: String?
  @Persisted var mood = Mood.calm
  @Persisted var heat: Kelvin
  @Persisted var price: Decimal128
  @Persisted var count: Int
  @Persisted var isGreen: Bool
  @Persisted var any: AnyRealmValue
  @Persisted var leaf: Leaf?
  @Persisted var leaves: List<Leaf>
  @Persisted var next: Plant?
  @Persisted var words: MutableSet<String>
  @Persisted var numbers: Map<String, Int>
  @Persisted(originProperty: "next") var before: LinkingObjects<Plant>
}

private class Seed: Object {
  @Persisted var name: String?
  @Persisted var count: Int
}

@Suite("objects of values")
struct DetachedCopyTests {
  private func realm(_ name: String = #function) throws -> Realm {
    try Realm(
      configuration: .init(
        inMemoryIdentifier: name, objectTypes: [Plant.self, Seed.self, Bush.self]))
  }

  private func plant() -> Plant {
    let plant = Plant()
    plant.name = "fern"
    plant.mood = .wild
    plant.heat = Kelvin(persistedValue: 3)
    plant.any = .int(4)
    plant.leaf = Leaf(value: ["size": 5])
    plant.leaves.append(objectsIn: [Leaf(value: ["size": 6]), Leaf()])
    plant.next = Plant(value: ["id": 1])
    plant.words.insert("w")
    plant.numbers["n"] = 7
    return plant
  }

  private func check(_ copy: Plant, _ original: Plant) {
    #expect(copy.realm == nil && copy !== original)
    #expect(copy.name == "fern" && copy.mood == .wild && copy.heat.degrees == 3)
    #expect(copy.any == .int(4) && copy.leaf?.size == 5 && copy.leaves.map(\.size) == [6, 0])
    #expect(copy.next == original.next)
    #expect(Array(copy.words) == ["w"] && copy.numbers["n"] == 7)
    copy.words.insert("x")
    copy.numbers["n"] = 8
    #expect(original.words.count == 1 && original.numbers["n"] == 7)
  }

  @Test("a copy of an unmanaged or managed object has its values and leads to the same objects")
  func copy() throws {
    let original = plant()
    check(Plant(value: original), original)
    let realm = try realm()
    try realm.write { realm.add(original) }
    let copy = Plant(value: original)
    check(copy, original)
    #expect(copy.leaf?.realm == nil && copy.leaves.allSatisfy { $0.realm == nil })
    copy.name = "moss"
    try realm.write { realm.add(copy, update: .modified) }
    #expect(original.name == "moss" && realm.objects(Plant.self).count == 2)
  }

  @Test("an object of another class gives the properties of the same names")
  func otherClass() throws {
    let seed = Seed(value: ["name": "s", "count": 2] as [String: Any])
    let plant = Plant(value: seed)
    #expect(plant.name == "s" && plant.count == 2)
  }

  @Test("names that the class does not have are ignored, at any depth")
  func unknownKeys() throws {
    let realm = try realm()
    let values: [String: Any] = [
      "id": 1, "name": "a", "server": true, "leaf": ["size": 2, "old": 1], "before": [1],
      "next": ["id": 2, "extra": NSNull()],
    ]
    let plant = try realm.write { realm.create(Plant.self, value: values) }
    #expect(plant.name == "a" && plant.leaf?.size == 2 && plant.next?.id == 2)
    let unmanaged = Plant(value: values)
    #expect(unmanaged.name == "a" && unmanaged.next?.id == 2)
  }

  @Test("numbers and texts are taken where a property can hold their value, and only there")
  func conversions() throws {
    let realm = try realm()
    let prices: [Any] = [5, 5.0, "5", Float(5), NSNumber(value: 5), Int8(5)]
    for price in prices {
      let plant = try realm.write {
        realm.create(Plant.self, value: ["price": price], update: .all)
      }
      #expect(plant.price == 5, "\(price)")
    }
    let plant = try realm.write {
      realm.create(
        Plant.self, value: ["price": 5.5, "count": 3.0, "isGreen": 1] as [String: Any],
        update: .all)
    }
    #expect(plant.price.stringValue == "5.5" && plant.count == 3 && plant.isGreen)
    let wrong: [[String: Any]] = [
      ["count": 3.5], ["count": true], ["isGreen": 2], ["price": "x"], ["price": true],
      ["count": 1e300],
    ]
    for value in wrong {
      #expect(throws: Realm.Error.self, "\(value)") {
        try realm.write { realm.create(Plant.self, value: value, update: .all) }
      }
    }
  }

  @Test("an unmanaged object is read and changed by name")
  func byName() throws {
    let plant = Plant()
    plant["name"] = "a"
    plant.setValue(3, forKey: "count")
    plant["leaf"] = ["size": 4]
    plant["mood"] = "wild"
    #expect(plant.name == "a" && plant.count == 3 && plant.leaf?.size == 4 && plant.mood == .wild)
    (plant["words"] as? MutableSet<String>)?.insert("w")
    #expect(plant.words.contains("w"), "the collection by name is the object's")
    #expect(plant.value(forKeyPath: "leaf.size") as? Int == 4)
    #expect((plant.value(forKey: "self") as? Plant) === plant)
  }

  @Test("a managed object gives its collections by name as what they are")
  func collectionsByName() throws {
    let realm = try realm()
    let plant = plant()
    try realm.write { realm.add(plant) }
    #expect((plant["leaves"] as? List<Leaf>)?.count == 2)
    #expect((plant["words"] as? MutableSet<String>)?.count == 1)
    #expect((plant["numbers"] as? Map<String, Int>)?["n"] == 7)
    #expect((plant.next?["before"] as? LinkingObjects<Plant>)?.count == 1)
    #expect(plant.value(forKeyPath: "leaves.size") as? [Int] == [6, 0])
    #expect(realm.objects(Plant.self).value(forKeyPath: "leaf.size").first as? Int == 5)
  }

  @Test("an embedded object that is there gets the values of an update, and stays the same")
  func embeddedOnUpdate() throws {
    let realm = try realm()
    let plant = plant()
    try realm.write { realm.add(plant) }
    let leaf = try #require(plant.leaf)
    try realm.write {
      realm.create(
        Plant.self, value: ["id": 0, "leaf": ["size": 8]] as [String: Any], update: .modified)
    }
    #expect(!leaf.isInvalidated && leaf.size == 8)
    let update = Plant(value: ["leaf": ["size": 9]])
    let new = try #require(update.leaf)
    try realm.write { realm.add(update, update: .modified) }
    #expect(!leaf.isInvalidated && leaf.size == 9 && new == leaf)
    try realm.write {
      realm.create(
        Plant.self, value: ["id": 0, "leaf": NSNull()] as [String: Any], update: .modified)
    }
    #expect(leaf.isInvalidated && plant.leaf == nil)
  }

  @Test("objects that lead to each other are freed once they are managed")
  func cycles() throws {
    let realm = try realm()
    weak var seen: Plant?
    weak var other: Bush?
    do {
      let (first, second) = (Plant(value: ["id": 1]), Plant(value: ["id": 2]))
      first.next = second
      second.next = first
      let bush = Bush()
      bush.bushes.append(bush)
      bush.any = .object(bush)
      seen = first
      other = bush
      try realm.write {
        realm.add([first])
        realm.add(bush)
      }
      #expect(first.next == second && bush.bushes.first == bush)
    }
    #expect(seen == nil && other == nil)
  }
}

private class Bush: Object {
  @Persisted var bushes: List<Bush>
  @Persisted var any: AnyRealmValue
}
