// MixedValues.swift: 20 snippets about collections in AnyRealmValue, as RealmSwift's documentation
// uses the API.

import Foundation
import ObjectDatabase

class MixedThing: Object, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) var id: ObjectId
  @Persisted var name = ""
  @Persisted var data: AnyRealmValue
  @Persisted var all: List<AnyRealmValue>
  @Persisted var byKey: Map<String, AnyRealmValue>
}

enum MixedValuesSnippets {
  static let all: [(String, () throws -> Void)] = [
    ("list from an array", snippet1),
    ("dictionary from a dictionary", snippet2),
    ("nested", snippet3),
    ("change in place", snippet4),
    ("append in place", snippet5),
    ("switch over the cases", snippet6),
    ("list of collections", snippet7),
    ("map of collections", snippet8),
    ("create with values", snippet9),
    ("observe a nested list", snippet10),
    ("observe a nested dictionary", snippet11),
    ("freeze and thaw", snippet12),
    ("replace by a number", snippet13),
    ("objects within", snippet14),
    ("query by type", snippet15),
    ("query by key and position", snippet16),
    ("typed query", snippet17),
    ("detached copy", snippet18),
    ("schema of the process", snippet19),
    ("write async", snippet20),
  ]

  static func thing(_ data: AnyRealmValue) throws -> (Realm, MixedThing) {
    let realm = try freshRealm()
    let thing = MixedThing()
    thing.data = data
    try realm.write { realm.add(thing) }
    return (realm, thing)
  }

  /// A list.
  static func snippet1() throws {
    let (_, thing) = try thing(.fromArray([.string("a"), .int(1), .none]))
    check(thing.data.listValue?.count == 3 && thing.data.listValue?[1].intValue == 1)
  }

  /// A dictionary.
  static func snippet2() throws {
    let (_, thing) = try thing(.fromDictionary(["a": .string("b"), "c": .double(2.5)]))
    check(thing.data.dictionaryValue?["c"] == .double(2.5))
    check(thing.data.dictionaryValue?.keys.sorted() == ["a", "c"])
  }

  /// Collections within collections.
  static func snippet3() throws {
    let inner = AnyRealmValue.fromDictionary(["key": .bool(true)])
    let (_, thing) = try thing(.fromArray([.fromArray([inner]), .int(2)]))
    check(thing.data.listValue?[0].listValue?[0].dictionaryValue?["key"]?.boolValue == true)
  }

  /// A change of an element.
  static func snippet4() throws {
    let (realm, thing) = try thing(.fromDictionary(["a": .int(1)]))
    try realm.write {
      thing.data.dictionaryValue?["a"] = .int(2)
      thing.data.dictionaryValue?["b"] = .fromArray([])
    }
    check(thing.data.dictionaryValue?["a"] == .int(2))
    check(thing.data.dictionaryValue?["b"]?.listValue?.isEmpty == true)
  }

  /// A longer list.
  static func snippet5() throws {
    let (realm, thing) = try thing(.fromArray([.int(1)]))
    try realm.write {
      thing.data.listValue?.append(.string("x"))
      thing.data.listValue?.insert(.none, at: 0)
      thing.data.listValue?.append(objectsIn: [.int(7), .int(8)])
      thing.data.listValue?.move(from: 0, to: 1)
    }
    check(thing.data.listValue?.count == 5 && thing.data.listValue?[0] == .int(1))
  }

  /// Which kind it is.
  static func snippet6() throws {
    let (_, thing) = try thing(.fromArray([]))
    switch thing.data {
    case .list(let list): check(list.isEmpty && list.realm != nil)
    case .dictionary: check(false)
    default: check(false)
    }
  }

  /// In a list.
  static func snippet7() throws {
    let (realm, thing) = try thing(.none)
    try realm.write {
      thing.all.append(.fromArray([.int(1)]))
      thing.all[0].listValue?.append(.int(2))
    }
    check(thing.all.first?.listValue?.map { $0.intValue } == [1, 2])
  }

  /// In a map.
  static func snippet8() throws {
    let (realm, thing) = try thing(.none)
    let date = Date(timeIntervalSince1970: 0)
    try realm.write { thing.byKey["k"] = .fromDictionary(["z": .date(date)]) }
    check(thing.byKey["k"]?.dictionaryValue?["z"]?.dateValue == date)
  }

  /// From what a server answers.
  static func snippet9() throws {
    let realm = try freshRealm()
    let json = Data(#"{"name": "n", "data": {"list": [1, "two", null, {"deep": true}]}}"#.utf8)
    let value = try JSONSerialization.jsonObject(with: json)
    let thing = try realm.write { realm.create(MixedThing.self, value: value) }
    let list = thing.data.dictionaryValue?["list"]?.listValue
    check(list?.count == 4 && list?[1].stringValue == "two")
    check(list?[3].dictionaryValue?["deep"] != nil)
  }

  /// Changes of a list.
  static func snippet10() throws {
    let (realm, thing) = try thing(.fromArray([.int(1)]))
    var insertions: [Int] = []
    let token = thing.data.listValue?.observe { (change: RealmCollectionChange) in
      if case .update(_, _, let added, _) = change { insertions = added }
    }
    realm.refresh()
    try realm.write { thing.data.listValue?.append(.int(2)) }
    realm.refresh()
    check(insertions == [1])
    token?.invalidate()
  }

  /// Changes of a dictionary.
  static func snippet11() throws {
    let (realm, thing) = try thing(.fromDictionary(["a": .int(1)]))
    var modified: [String] = []
    let token = thing.data.dictionaryValue?.observe { change in
      if case .update(_, _, _, let changed) = change { modified = changed }
    }
    realm.refresh()
    try realm.write { thing.data.dictionaryValue?["a"] = .int(2) }
    realm.refresh()
    check(modified == ["a"])
    token?.invalidate()
  }

  /// A frozen copy.
  static func snippet12() throws {
    let (realm, thing) = try thing(.fromArray([.fromArray([.int(1)])]))
    let frozen = thing.freeze()
    try realm.write { thing.data.listValue?[0].listValue?.removeAll() }
    check(frozen.data.listValue?[0].listValue?.count == 1)
    check(frozen.thaw()?.data.listValue?[0].listValue?.count == 0)
  }

  /// Another type.
  static func snippet13() throws {
    let (realm, thing) = try thing(.fromArray([.int(1)]))
    let list = thing.data.listValue
    try realm.write { thing.data = .int(1) }
    check(list?.isInvalidated == true && thing.data.intValue == 1)
  }

  /// Links.
  static func snippet14() throws {
    let (realm, thing) = try thing(.fromArray([.object(Dog(name: "Rex", age: 1))]))
    check(thing.data.listValue?[0].object(Dog.self)?.name == "Rex")
    check(realm.objects(Dog.self).count == 1)
    try realm.write { realm.delete(realm.objects(Dog.self)) }
    check(thing.data.listValue?[0] == AnyRealmValue.none)
  }

  /// By type.
  static func snippet15() throws {
    let (realm, _) = try thing(.fromArray([.int(1)]))
    check(realm.objects(MixedThing.self).filter("data.@type == 'list'").count == 1)
    check(realm.objects(MixedThing.self).filter("data.@type == 'dictionary'").isEmpty)
    check(realm.objects(MixedThing.self).filter("data.@size == 1").count == 1)
  }

  /// By key and position.
  static func snippet16() throws {
    let (realm, _) = try thing(.fromDictionary(["a": .fromArray([.int(1), .string("b")])]))
    let things = realm.objects(MixedThing.self)
    check(things.filter("data['a'][1] == 'b'").count == 1)
    check(things.filter("data['a'][%d] == %@", 0, 1).count == 1)
    check(things.filter("ANY data['a'][*] == 'b'").count == 1)
    check(things.filter("data[*][*] == 'c'").isEmpty)
  }

  /// Checked by the compiler.
  static func snippet17() throws {
    let (realm, _) = try thing(.fromDictionary(["a": .fromArray([.int(1)])]))
    check(realm.objects(MixedThing.self).where { $0.data["a"][0] == .int(1) }.count == 1)
    check(realm.objects(MixedThing.self).where { $0.data["a"][0] > .int(1) }.isEmpty)
  }

  /// A copy.
  static func snippet18() throws {
    let (_, thing) = try thing(.fromArray([.int(1)]))
    let copy = MixedThing(value: thing)
    copy.data.listValue?.append(.int(2))
    check(copy.data.listValue?.count == 2 && thing.data.listValue?.count == 1)
  }

  /// Without a list of classes.
  static func snippet19() throws {
    let names = try freshRealm().schema.objectSchema.map { $0.className }
    check(names.contains("MixedThing") && names.contains("Dog") && !names.contains("Object"))
  }

  /// Later.
  static func snippet20() throws {
    let (realm, thing) = try thing(.fromArray([]))
    realm.beginWrite()
    thing.data.listValue?.append(.int(1))
    realm.cancelWrite()
    check(thing.data.listValue?.isEmpty == true)
  }
}
