// MixedCollectionTests.swift: lists and dictionaries in mixed values. A small model of trees
// (MixedTree.swift) is the oracle for reading and changing them, and for the rows that they need in
// the file.

import Engine
import Foundation
import Synchronization
import Testing

@testable import ObjectDatabase

private class Box: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var value: AnyRealmValue
  @Persisted var list: List<AnyRealmValue>
  @Persisted var map: Map<String, AnyRealmValue>
}

private class Toy: Object {
  @Persisted var word = ""
}

private enum Smaller {
  class Box: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var map: Map<String, AnyRealmValue>
  }
}

@Suite("collections in mixed values")
struct MixedCollectionTests {
  private func realm(_ name: String = #function) throws -> Realm {
    try Realm(
      configuration: .init(inMemoryIdentifier: name, objectTypes: [Box.self, Toy.self]))
  }

  /// The number of rows that collections have in the file.
  private func rowCount(_ realm: Realm) throws -> Int {
    let version = try realm.core.currentVersion()
    let name = MixedCollections.tableName
    return version.hasTable(name) ? try version.keys(of: name).count : 0
  }

  @Test("are what a model of them is, and leave no rows behind", arguments: 0..<8)
  func model(number: Int) throws {
    var seed = MixedDraws(state: UInt64(number) &* 0x9e37_79b9_7f4a_7c15 &+ 1)
    let realm = try realm("mixed-model-\(number)")
    let box = Box()
    var tree = MixedTree.list([.entries([:])])
    box.value = tree.value
    try realm.write { realm.add(box) }
    for step in 0..<60 {
      let before = tree
      realm.beginWrite()
      if seed.below(12) == 0 || tree.count == 0 {
        tree = MixedTree(&seed, depth: 3)
        box.value = tree.value
      } else {
        tree.change(box.value, &seed)
      }
      #expect(MixedTree(box.value) == tree, "in step \(step), open")
      if seed.below(5) == 0 {
        realm.cancelWrite()
        tree = before
      } else {
        try realm.commitWrite()
      }
      #expect(MixedTree(box.value) == tree, "after step \(step)")
      #expect(try rowCount(realm) == tree.count, "after step \(step)")
    }
    try realm.write { realm.delete(box) }
    #expect(try rowCount(realm) == 0)
  }

  private func filled(_ realm: Realm) throws {
    try realm.write {
      realm.create(
        Box.self,
        value: [
          "id": 1, "value": ["x": [1, 2, ["y": "z"]] as [Any], "id": 3] as [String: Any],
          "list": [[1, 2], [3]],
        ])
      realm.create(
        Box.self,
        value: ["id": 2, "value": [5, "t", ["y": "w"], Toy(value: ["word": "Rex"])] as [Any]])
      realm.create(Box.self, value: ["id": 3, "value": 5, "map": ["k": ["q": 7]]])
    }
  }

  @Test("are queried by type, key, position and any element")
  func queries() throws {
    let realm = try realm()
    try filled(realm)
    let cases: [(text: String, ids: [Int])] = [
      ("value.@type == 'list'", [2]), ("value.@type == 'array'", [2]),
      ("value.@type == 'dictionary'", [1]), ("value.@type == 'collection'", [1, 2]),
      ("value.@type == 'int'", [3]), ("value == 5", [3]), ("value['x'][1] == 2", [1]),
      ("value.x[2].y == 'z'", [1]), ("value.x[LAST].y == 'z'", [1]), ("value[0] == 5", [2]),
      ("value[FIRST] == 5", [2]), ("value[*] == 't'", [2]), ("value[*][*] == 2", [1]),
      ("value[*].y == 'w'", [2]), ("value.@count == 2", [1]), ("value.@size == 4", [2]),
      ("value['x'].@count == 3", [1]), ("value[3].word == 'Rex'", [2]),
      ("list[0][1] == 2", [1]), ("list[*][*] == 3", [1]), ("map['k']['q'] == 7", [3]),
      ("map.k.q == 7", [3]), ("value['nope'] == nil", [1, 2, 3]), ("value[9] == nil", [1, 2, 3]),
      ("value[2].@type == 'dictionary'", [2]), ("NONE value[*] == 't'", [1, 3]),
      ("value['id'] == 3", [1]), ("value[$0] == 5", [2]),
    ]
    for (text, ids) in cases {
      let found = realm.objects(Box.self).filter(text, 0).map(\.id).sorted()
      #expect(found == ids, "\(text)")
    }
    let boxes = realm.objects(Box.self)
    #expect(boxes.where { $0.value["x"][1] == .int(2) }.map(\.id) == [1])
    #expect(boxes.where { $0.value[0] == .int(5) || $0.value.any == .string("t") }.count == 1)
  }

  @Test("are added, copied, frozen and observed as other collections are")
  func life() throws {
    let realm = try realm()
    try filled(realm)
    let box = try #require(realm.object(ofType: Box.self, forPrimaryKey: 2))
    #expect(realm.objects(Toy.self).count == 1, "an object in a list is added")
    let list = try #require(box.value.listValue)
    #expect(list[3].object(Toy.self)?.word == "Rex" && box["value"] is AnyRealmValue)
    var changes: [String] = []
    let token = list.observe { change in
      if case .update(_, let removed, let added, let changed) = change {
        changes.append("\(removed)\(added)\(changed)")
      }
    }
    let frozen = list.freeze()
    realm.refresh()
    try realm.write {
      list[2].dictionaryValue?["y"] = .bool(true)
      list.remove(at: 0)
      realm.delete(realm.objects(Toy.self))
    }
    token.invalidate()
    #expect(changes.count == 1)
    #expect(list[2] == .none, "a link to a deleted object becomes none")
    #expect(list[1].dictionaryValue?["y"] == .bool(true))
    #expect(frozen.count == 4 && frozen[3].object(Toy.self)?.word == "Rex")
    #expect(frozen[2].dictionaryValue?["y"] == .string("w"))

    let copy = Box(value: box)
    copy.value.listValue?.append(.int(1))
    #expect(copy.realm == nil && copy.value.listValue?.count == 4 && list.count == 3)
    try realm.write { box.map["self"] = box.value }
    #expect(box.map["self"]?.listValue?.count == 3 && box.map["self"] != box.value)
    try realm.write { box.value = .int(1) }
    #expect(list.isInvalidated, "a list goes with the value that held it")
    try realm.write { realm.deleteAll() }
    #expect(try rowCount(realm) == 0)
  }

  @Test("are refused in sets, and where they contain themselves")
  func refusals() throws {
    let realm = try realm()
    let list = List<AnyRealmValue>()
    list.append(.list(list))
    let box = Box()
    box.value = .list(list)
    #expect(throws: Realm.Error.self) { try realm.write { realm.add(box) } }
    #expect(realm.isEmpty)
    list.removeAll()
    let message = MisuseProbe.message {
      MutableSet<AnyRealmValue>().insert(.fromArray([]))
    }
    #expect(message?.contains("a set of AnyRealmValue holds no lists and dictionaries") == true)
  }

  @Test("go with a property that a migration removes")
  func migration() throws {
    let folder = try Folder()
    do {
      let realm = try folder.realm([Box.self, Toy.self])
      try filled(realm)
      #expect(try rowCount(realm) == 8)
    }
    let words = Mutex<[Int?]>([])
    let configuration = folder.configuration([Smaller.Box.self], version: 1) { migration, _ in
      migration.enumerateObjects(ofType: "Box") { old, _ in
        let id = (old?["value"] as? AnyRealmValue)?.dictionaryValue?["id"]?.intValue
        words.withLock { $0.append(id) }
      }
    }
    let realm = try Realm(configuration: configuration)
    #expect(words.withLock { $0 } == [3, nil, nil], "the block reads them")
    #expect(try rowCount(realm) == 1)
    #expect(realm.objects(Smaller.Box.self).last?.map["k"]?.dictionaryValue?["q"] == .int(7))
  }
}
