// ProcessClassesTests.swift: the classes that a realm without `objectTypes` has are those of the
// process.

import Foundation
import Testing

@testable import ObjectDatabase

private class ListedBase: Object {
  @Persisted var a = 1
}

private class ListedDerived: ListedBase {
  @Persisted var b = 2
}

private class ListedGeneric<Value>: Object {
  @Persisted var c = 3
}

private class ListedOfGeneric: ListedGeneric<Int> {
  @Persisted var d = 4
}

private class ListedEmbedded: EmbeddedObject {
  @Persisted var e = 5
}

private class NotListed: Object {
  @Persisted var f = 6
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// No realm can keep it.
private class NotPossible: Object {
  @Persisted(primaryKey: true) var g = 7.5
}

private enum One {
  class OfOneName: Object { @Persisted var h = 8 }
}

private enum Other {
  class OfOneName: Object { @Persisted var i = 9 }
}

private enum Before {
  class ListedChanged: Object {
    @Persisted var first = ""
    override class func _realmObjectName() -> String? { "ListedChanged" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

private class ListedChanged: Object {
  @Persisted var name = ""
}

private class ListedUnused: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var name = "default"
}

@Suite("the classes of the process")
struct ProcessClassesTests {
  @Test("a class that the realm has not used yet is there by its name")
  func unused() throws {
    let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "unused by name"))
    #expect(realm.dynamicObjects("ListedUnused").isEmpty)
    try realm.write {
      let made = realm.dynamicCreate("ListedUnused", value: ["id": 3])
      #expect(made["name"] as? String == "default")
    }
    #expect(realm.dynamicObject(ofType: "ListedUnused", forPrimaryKey: 3) != nil)
    #expect(realm.objects(ListedUnused.self).map(\.name) == ["default"])
  }

  @Test("are the schema of a realm without objectTypes")
  func schema() throws {
    let names = try Realm(configuration: .init(inMemoryIdentifier: "process")).schema.objectSchema
      .map(\.className)
    for name in ["ListedBase", "ListedDerived", "ListedOfGeneric", "ListedEmbedded", "Company"] {
      #expect(names.contains(name), "\(name)")
    }
    let others = ["NotListed", "NotPossible", "OfOneName", "Object", "DynamicObject"]
    #expect(names.allSatisfy { !others.contains($0) && !$0.hasPrefix("ListedGeneric") })
    #expect(names == names.sorted() && Set(names).count == names.count)
    let types = ProcessClasses.types.map { ObjectIdentifier($0) }
    #expect(Set(types).count == types.count)
    #expect(types.contains(ObjectIdentifier(NotPossible.self)), "it is found, and left out")
  }

  @Test("are migrated without objectTypes")
  func migration() throws {
    let folder = try Folder()
    do {
      let realm = try folder.realm([Before.ListedChanged.self])
      try realm.write { realm.create(Before.ListedChanged.self, value: ["first": "Ada"]) }
    }
    #expect(throws: Realm.Error.self, "the removed property needs a block") {
      _ = try Realm(configuration: folder.configuration(version: 1))
    }
    let realm = try Realm(
      configuration: folder.configuration(version: 1) { migration, _ in
        migration.enumerateObjects(ofType: "ListedChanged") { old, new in
          new?["name"] = old?["first"]
        }
      })
    #expect(realm.objects(ListedChanged.self).map(\.name) == ["Ada"])
  }
}
