// JSONValueTests.swift: objects made of what JSONSerialization gives: null is nil wherever it
// stands, numbers are Foundation's, a key that is left out is the default one, and a number that a
// property cannot hold fails the transaction.

import Foundation
import Testing

@testable import ObjectDatabase

private class Part: EmbeddedObject {
  @Persisted var name: String?
  @Persisted var size: Int8 = 1
}

private class Item: Object {
  @Persisted(primaryKey: true) var id = 7
  @Persisted var title: String? = "untitled"
  @Persisted var size: Int8 = 1
  @Persisted var mood: Mood? = .calm
  @Persisted var flag: Bool
  @Persisted var weight: Double
  @Persisted var short: Float
  @Persisted var any: AnyRealmValue = .int(1)
  @Persisted var next: Item?
  @Persisted var part: Part?
  @Persisted var texts: List<String?>
  @Persisted var sizes: List<Int8>
  @Persisted var moods: List<Mood>
  @Persisted var parts: List<Part>
  @Persisted var numbers: MutableSet<Int?>
  @Persisted var byName: Map<String, Int16?>
  @Persisted var links: Map<String, Item?>
  @Persisted var things: List<AnyRealmValue>
}

@Suite("values of JSON")
struct JSONValueTests {
  private func json(_ text: String) throws -> Any {
    try JSONSerialization.jsonObject(with: Data(text.utf8))
  }

  private func realm(_ name: String = #function) throws -> Realm {
    try Realm(configuration: .init(inMemoryIdentifier: name, objectTypes: [Item.self]))
  }

  @Test("null is nil in properties, elements, mixed values, links and embedded objects")
  func null() throws {
    let realm = try realm()
    let value = try json(
      """
      {"id": 1, "title": null, "mood": null, "any": null, "next": null, "part": {"name": null},
       "texts": ["a", null], "parts": [{"name": null}], "numbers": [1, null],
       "byName": {"a": null, "b": 2}, "links": {"a": null, "b": {"id": 2, "title": null}},
       "things": [null, 1, true, 0.5, "x"]}
      """)
    let item = try realm.write { realm.create(Item.self, value: value) }
    #expect(item.title == nil && item.mood == nil && item.any == .none && item.next == nil)
    #expect(item.part != nil && item.part?.name == nil && item.parts.first?.name == nil)
    #expect(Array(item.texts) == ["a", nil])
    #expect(Array(item.numbers) == [nil, 1])
    #expect(item.byName["a"] == .some(nil) && item.byName["b"] == 2)
    #expect(item.links["a"] == .some(nil))
    #expect(item.links["b"]??.id == 2 && item.links["b"]??.title == nil)
    #expect(Array(item.things) == [.none, .int(1), .bool(true), .double(0.5), .string("x")])
  }

  @Test("null empties a collection, by create, by name and in an unmanaged object")
  func nullCollections() throws {
    let realm = try realm()
    let full = try json(#"{"id": 1, "texts": ["a"], "numbers": [1], "byName": {"a": 1}}"#)
    let empty = try json(#"{"id": 1, "texts": null, "numbers": null, "byName": null}"#)
    let item = try realm.write {
      realm.create(Item.self, value: full)
      return realm.create(Item.self, value: empty, update: .modified)
    }
    #expect(item.texts.isEmpty && item.numbers.isEmpty && item.byName.isEmpty)
    try realm.write {
      item.texts.append("b")
      item["texts"] = NSNull()
      item["title"] = NSNull()
    }
    #expect(item.texts.isEmpty && item.title == nil)
    let unmanaged = Item(value: empty)
    #expect(unmanaged.texts.isEmpty && unmanaged.numbers.isEmpty && unmanaged.byName.isEmpty)
    let nils = Item(value: try json(#"{"title": null, "mood": null, "texts": [null]}"#))
    #expect(nils.title == nil && nils.mood == nil && Array(nils.texts) == [nil])
  }

  @Test("null where no nil can be fails the transaction, and names the property")
  func nullRefused() throws {
    let realm = try realm()
    for text in [
      #"{"size": null}"#, #"{"id": null}"#, #"{"sizes": [null]}"#, #"{"parts": [null]}"#,
    ] {
      let error = #expect(throws: Realm.Error.self) {
        try realm.write { realm.create(Item.self, value: try json(text)) }
      }
      #expect(error?.code == .invalidValue && error?.message.contains("Item.") == true, "\(text)")
    }
    #expect(realm.objects(Item.self).isEmpty)
  }

  @Test("numbers are Foundation's: 1 is not a truth value, and true is one")
  func numbers() throws {
    let realm = try realm()
    let value = try json(
      #"{"id": 1, "size": 1, "flag": true, "weight": 1, "short": 0.5, "any": 1, "numbers": [0, 1]}"#
    )
    let item = try realm.write { realm.create(Item.self, value: value) }
    #expect(item.size == 1 && item.flag && item.weight == 1 && item.short == 0.5)
    #expect(item.any == .int(1) && Array(item.numbers) == [0, 1])
    try realm.write { item["any"] = NSNumber(value: false) }
    #expect(item.any == .bool(false))
  }

  @Test("a mixed value may be an object, and is refused when it is of no type that it holds")
  func mixed() throws {
    let realm = try realm()
    let other = Item(value: ["id": 2])
    let item = try realm.write {
      realm.create(Item.self, value: ["id": 1, "any": other, "things": [other, 3] as [Any]])
    }
    #expect(item.any.object(Item.self)?.id == 2 && item.things[0].object(Item.self)?.id == 2)
    let misfits: [(String, Any)] = [("any", ["a": [1: 1]]), ("things", [[[1: 1]]])]
    for (key, value) in misfits {
      let error = #expect(throws: Realm.Error.self) {
        try realm.write { realm.create(Item.self, value: ["id": 3, key: value] as [String: Any]) }
      }
      #expect(error?.message.contains("Item.\(key)") == true)
    }
  }

  @Test("without its key a value means the object with the default key, nested too")
  func defaultKey() throws {
    let realm = try realm()
    for policy in [Realm.UpdatePolicy.modified, .all] {
      try realm.write { realm.create(Item.self, value: ["title": "a"], update: policy) }
      try realm.write { realm.create(Item.self, value: ["title": "b"], update: policy) }
      try realm.write {
        realm.create(
          Item.self, value: ["id": 1, "next": ["title": "c"]] as [String: Any], update: policy)
        realm.create(
          Item.self, value: ["id": 1, "links": ["x": ["size": 3]]] as [String: Any], update: policy)
      }
      #expect(realm.objects(Item.self).count == 2)
      let seven = try #require(realm.object(ofType: Item.self, forPrimaryKey: 7))
      #expect(seven.title == "c" && seven.size == 3)
      try realm.write { realm.deleteAll() }
    }
    try realm.write { realm.create(Item.self, value: ["title": "a"]) }
    #expect(throws: Realm.Error.self) {
      try realm.write { realm.create(Item.self, value: ["title": "b"]) }
    }
    #expect(realm.objects(Item.self).map(\.title) == ["a"])
  }

  @Test("the policy holds for objects inside of the value")
  func nestedPolicy() throws {
    let realm = try realm()
    try realm.write { realm.add(Item(value: ["id": 2, "title": "old"])) }
    for (key, value) in [
      ("next", Item(value: ["id": 2, "title": "a"])), ("links", ["x": Item(value: ["id": 2])]),
      ("any", Item(value: ["id": 2, "title": "c"])), ("things", [Item(value: ["id": 2])]),
    ] as [(String, Any)] {
      try realm.write {
        realm.create(Item.self, value: ["id": 1, key: value] as [String: Any], update: .modified)
      }
    }
    #expect(realm.objects(Item.self).count == 2)
  }

  @Test(
    "a number out of a property's range fails the transaction",
    arguments: [
      #"{"size": 300}"#, #"{"sizes": [1, -129]}"#, #"{"byName": {"a": 40000}}"#,
      #"{"part": {"size": 128}}"#, #"{"parts": [{"size": 128}]}"#,
      #"{"next": {"id": 1, "size": 128}}"#,
      #"{"short": 1e39}"#, #"{"id": 18446744073709551615}"#, #"{"mood": "angry"}"#,
      #"{"moods": ["calm", "angry"]}"#,
    ])
  func outOfRange(_ text: String) throws {
    let realm = try realm("range \(text)")
    let value = try json(text)
    let error = #expect(throws: Realm.Error.self) {
      try realm.write { realm.create(Item.self, value: value) }
    }
    #expect(error?.code == .invalidValue && error?.message.contains("cannot hold") == true)
    #expect(realm.objects(Item.self).isEmpty)
    let item = try realm.write { realm.create(Item.self) }
    let given = try #require(value as? [String: Any])
    for (key, value) in given where key != "id" && key != "next" {
      #expect(throws: Realm.Error.self) { try realm.write { item[key] = value } }
      #expect(throws: Realm.Error.self) {
        try realm.write { realm.objects(Item.self).setValue(value, forKey: key) }
      }
      let dynamic = realm.dynamicObjects("Item")
      #expect(throws: Realm.Error.self) { try realm.write { dynamic[0][key] = value } }
      #expect(throws: Realm.Error.self) {
        try realm.write { realm.create(Item.self, value: given, update: .all) }
      }
    }
    #expect(item.size == 1 && item.sizes.isEmpty && item.mood == .calm && item.part == nil)
  }

  @Test("what the range ends with is in it")
  func ends() throws {
    let realm = try realm()
    let value = try json(
      #"{"size": -128, "sizes": [127], "byName": {"a": 32767}, "mood": "wild", "short": 3e38}"#)
    let item = try realm.write { realm.create(Item.self, value: value) }
    #expect(item.size == -128 && item.sizes[0] == 127 && item.byName["a"] == 32767)
    #expect(item.mood == .wild && item.short == 3e38)
  }
}
