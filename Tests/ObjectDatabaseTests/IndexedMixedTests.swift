// IndexedMixedTests.swift: `indexed:` on a property of any value is accepted, as in RealmSwift.

import FoundationEssentials
import ObjectDatabase
import Testing

private enum PlainMixed {
  class Item: Object {
    @Persisted var value: AnyRealmValue
    override class func _realmObjectName() -> String? { "Item" }
  }
}

private enum IndexedMixed {
  class Item: Object {
    @Persisted(indexed: true) var value: AnyRealmValue
    override class func _realmObjectName() -> String? { "Item" }
  }
}

@Suite("indexed mixed values")
struct IndexedMixedTests {
  @Test("an index may be asked for, come and go without a migration, and changes no answer")
  func accepted() throws {
    let folder = try Folder()
    do {
      let realm = try folder.realm([IndexedMixed.Item.self])
      try realm.write {
        for value in [.int(5), .double(5), .string("5"), .none] as [AnyRealmValue] {
          let item = IndexedMixed.Item()
          item.value = value
          realm.add(item)
        }
      }
      #expect(realm.objects(IndexedMixed.Item.self).filter("value == 5").count == 2)
      #expect(realm.objects(IndexedMixed.Item.self).where { $0.value == .string("5") }.count == 1)
      #expect(realm.objects(IndexedMixed.Item.self).filter("value == nil").count == 1)
      let property = realm.schema.objectSchema.first?.properties.first
      #expect(property?.isIndexed == false)
    }
    let plain = try folder.realm([PlainMixed.Item.self])
    #expect(plain.objects(PlainMixed.Item.self).filter("value == 5").count == 2)
  }
}
