// QueryTextTests.swift: texts and typed queries that RealmSwift's callers write, with the objects
// that RealmSwift finds for them: empty texts, unmanaged objects, keys and values of maps.

import Foundation
import Testing

@testable import ObjectDatabase

private class Item: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var name: String?
  @Persisted var data: Data?
  @Persisted var price: Decimal128?
  @Persisted var next: Item?
  @Persisted var thing: AnyRealmValue
  @Persisted var items: List<Item>
  @Persisted var tags: List<String>
  @Persisted var map: Map<String, Int>
  @Persisted var anys: Map<String, AnyRealmValue>
}

@Suite("texts of queries for objects")
struct QueryTextTests {
  private static func prepared() throws -> (Folder, Realm) {
    let folder = try Folder()
    let realm = try folder.realm([Item.self])
    try realm.write {
      for id in 0..<4 {
        let item = Item()
        item.id = id
        item.name = [nil, "", "milk", "Bread"][id]
        item.data = [nil, Data(), Data("milk".utf8), Data("Bread".utf8)][id]
        item.price = Decimal128("\(id).50")
        item.tags.append(objectsIn: Array(repeating: "ab", count: id))
        item.map["k\(id)"] = id
        item.anys["key"] = .int(id)
        realm.add(item)
        item.thing = .object(item)
        item.next = id == 0 ? nil : realm.object(ofType: Item.self, forPrimaryKey: id - 1)
        item.items.append(item)
      }
    }
    return (folder, realm)
  }

  @Test("find what RealmSwift finds")
  func texts() throws {
    let (_, realm) = try Self.prepared()
    let items = realm.objects(Item.self)
    for (text, arguments, ids) in [
      // An empty text is a part of nothing.
      ("name CONTAINS ''", [], []), ("name CONTAINS[c] %@", [""], []),
      ("name BEGINSWITH %@", [""], []),
      ("name ENDSWITH ''", [], []), ("NOT name CONTAINS ''", [], [0, 1, 2, 3]),
      ("name == ''", [], [1]), ("name LIKE ''", [], [1]), ("data CONTAINS ''", [], []),
      ("ANY tags CONTAINS ''", [], []), ("name CONTAINS %@", [nil], []),
      ("SUBQUERY(items, $x, $x.name CONTAINS '').@count > 0", [], []),
      // Keys and values of maps.
      ("ANY map.@allKeys == 'k2'", [], [2]), ("ANY map.@allValues > %d", [1], [2, 3]),
      ("anys.key > 1", [], [2, 3]), ("%K == 3", ["anys.key"], [3]),
      // Lengths, sizes, bytes, numbers in quotes, paths as arguments.
      ("tags.length == 2", [], [1, 2, 3]), ("next.@count == 0", [], [0]),
      ("tags[*] == 'ab'", [], [1, 2, 3]),
      ("data == bin('milk')", [], [2]), ("data LIKE[c] 'BR*'", [], [3]),
      ("price == '2.5'", [], [2]),
      ("price == %@", ["2.50"], [2]), ("id == '3'", [], [3]), ("$K0 == 2", ["next.id"], [3]),
      ("name >[c] 'C'", [], [2]), ("ANY id == 1", [], [1]),
    ] as [(String, [Any?], [Int])] {
      let found = try items.filtered(by: text, arguments: arguments)
      #expect(found.map(\.id) == ids, "\(text)")
      #expect(found.count == ids.count, "\(text)")
    }
    #expect(items.where { $0.name.contains("") }.isEmpty)
    #expect(items.where { $0.name.starts(with: "", options: .caseInsensitive) }.isEmpty)
    #expect(items.where { !$0.name.ends(with: "") }.count == 4)
  }

  @Test("an object that is in no realm is found by nothing, and one of another realm is an error")
  func unmanaged() throws {
    let (_, realm) = try Self.prepared()
    let items = realm.objects(Item.self)
    let loose = Item()
    loose.id = 1
    #expect(items.where { $0.next == loose }.isEmpty)
    #expect(items.filter("next == %@", loose).isEmpty)
    #expect(items.filter("next != %@", loose).count == 4)
    #expect(items.filter("next IN %@", [loose, items[0]]).map(\.id) == [1])
    #expect(items.filter("ANY items == %@", loose).isEmpty)
    #expect(items.filter("thing == %@", AnyRealmValue.object(loose)).isEmpty)
    #expect(items.filter("SELF == %@", loose).isEmpty)
    let (_, other) = try Self.prepared()
    let stranger = other.objects(Item.self)[0]
    let error = #expect(throws: Realm.Error.self) {
      _ = try items.filtered(by: "next == %@", arguments: [stranger])
    }
    #expect(error?.message.contains("another realm") == true)
    // A link to text is a mistake, whatever the object.
    #expect(throws: Realm.Error.self) {
      _ = try items.filtered(by: "name == %@", arguments: [loose])
    }
  }
}
