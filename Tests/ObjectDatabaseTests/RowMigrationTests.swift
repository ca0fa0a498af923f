// RowMigrationTests.swift: what a migration makes of the rows that are there: embedded objects have
// one owner, and what a new property holds in them can be read.

import Engine
import FoundationEssentials
import Testing

@testable import ObjectDatabase

private enum Color: Int, PersistableEnum {
  case red = 1
  case green = 2
}

private enum Word: String, PersistableEnum {
  case first
  case second
}

private struct Paint: CustomPersistable {
  var color: Color
  init(persistedValue: Color) { color = persistedValue }
  var persistableValue: Color { color }
}

private enum Old {
  class Child: Object {
    @Persisted var name = ""
    override class func _realmObjectName() -> String? { "Child" }
  }
  class Parent: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var child: Child?
    @Persisted var more: List<Child>
    override class func _realmObjectName() -> String? { "Parent" }
  }
}

private enum New {
  class Child: EmbeddedObject {
    @Persisted var name = ""
    override class func _realmObjectName() -> String? { "Child" }
  }
  class Parent: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var child: Child?
    @Persisted var more: List<Child>
    override class func _realmObjectName() -> String? { "Parent" }
  }
}

/// The embedded class again, without the property or with another one of its name.
private enum Gone {
  class Parent: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var child: Int?
    @Persisted var kids: List<New.Child>
    override class func _realmObjectName() -> String? { "Parent" }
  }
}

private enum Uncolored {
  class Thing: Object {
    @Persisted var name = ""
    @Persisted var code = 7
    @Persisted var maybe: Int?
    @Persisted var text = 1
    @Persisted var maybes: List<Int?>
    override class func _realmObjectName() -> String? { "Thing" }
  }
}

private enum Colored {
  class Thing: Object {
    @Persisted var name = ""
    @Persisted var code = 7
    @Persisted var color = Color.green
    @Persisted var other: Color
    @Persisted var word = Word.second
    @Persisted var paint = Paint(persistedValue: .green)
    @Persisted var none: Color?
    @Persisted var colors: List<Color>
    @Persisted var maybe: Color
    @Persisted var text: Word
    @Persisted var maybes: List<Color>
    override class func _realmObjectName() -> String? { "Thing" }
  }
}

private enum Level: Int, PersistableEnum {
  case low
  case high
}

private enum Added {
  class Thing: Object {
    @Persisted var name = ""
    @Persisted var code = 7
    @Persisted var maybe: Int?
    @Persisted var text = 1
    @Persisted var maybes: List<Int?>
    @Persisted var color = Color.green
    @Persisted var level = Level.high
    @Persisted var count = 4
    override class func _realmObjectName() -> String? { "Thing" }
  }
}

private enum Narrowed {
  class Thing: Object {
    @Persisted var name = ""
    @Persisted var code: Color
    @Persisted var maybe: Int?
    @Persisted var text: Int8
    @Persisted var maybes: List<Int?>
    override class func _realmObjectName() -> String? { "Thing" }
  }
}

@Suite("migrations: rows")
struct RowMigrationTests {
  private func prepared(shared: Bool = false, orphan: Bool = false) throws -> Folder {
    let folder = try Folder()
    let realm = try folder.realm([Old.Parent.self])
    try realm.write {
      let child = Old.Child(value: ["name": "one"])
      for id in 1...2 {
        let parent = Old.Parent(value: ["id": id])
        parent.child = id == 1 || shared ? child : Old.Child(value: ["name": "two"])
        realm.add(parent)
      }
      if orphan { realm.add(Old.Child(value: ["name": "nobody's"])) }
    }
    return folder
  }

  private func open(
    _ folder: Folder, _ type: ObjectBase.Type = New.Parent.self, version: UInt64 = 1,
    _ block: @escaping MigrationBlock = { _, _ in }
  ) throws -> Realm {
    try Realm(configuration: folder.configuration([type], version: version, block))
  }

  private func content(_ folder: Folder) throws -> UInt64 {
    try Database.open(path: folder.path + "/test.realm").snapshot().contentHash()
  }

  @Test("an object with one owner becomes embedded, and goes with it")
  func oneOwner() throws {
    let realm = try open(try prepared())
    #expect(realm.objects(New.Parent.self).map { $0.child?.name } == ["one", "two"])
    try realm.write { realm.delete(realm.objects(New.Parent.self)[0]) }
    #expect(realm.dynamicObjects("Child").map { $0["name"] as? String } == ["two"])
  }

  @Test("objects with two owners or none do not become embedded, and the file stays what it was")
  func refused() throws {
    for (shared, orphan, texts) in [
      (true, false, ["of 1 objects of Child", "1 have several (keys 0)", "0 have none;"]),
      (false, true, ["of 3 objects of Child", "0 have several and", "1 have none (keys 2)"]),
    ] {
      let folder = try prepared(shared: shared, orphan: orphan)
      let before = try content(folder)
      let error = #expect(throws: Realm.Error.self) { _ = try open(folder) }
      #expect(error?.code == .schemaMismatch)
      for text in texts { #expect(error?.message.contains(text) == true, "\(text)") }
      #expect(try content(folder) == before)
    }
  }

  @Test("twice in one list is two owners")
  func twiceInAList() throws {
    let folder = try prepared()
    do {
      let realm = try folder.realm([Old.Parent.self])
      try realm.write {
        let parent = realm.objects(Old.Parent.self)[0]
        if let child = parent.child { parent.more.append(child) }
      }
    }
    let error = #expect(throws: Realm.Error.self) { _ = try open(folder) }
    #expect(error?.message.contains("1 have several (keys 0)") == true)
  }

  @Test("a block that gives the second owner a copy, and deletes what nobody owns, is let through")
  func copies() throws {
    let folder = try prepared(shared: true, orphan: true)
    let realm = try open(folder) { migration, _ in
      var isTaken = false
      migration.enumerateObjects(ofType: "Parent") { old, new in
        guard let name = (old?["child"] as? DynamicObject)?["name"] as? String else { return }
        if isTaken { new?["child"] = ["name": name + " (copy)"] }
        isTaken = true
      }
      migration.enumerateObjects(ofType: "Child") { old, new in
        if let new, old?["name"] as? String == "nobody's" { migration.delete(new) }
      }
    }
    let parents = realm.objects(New.Parent.self)
    #expect(parents.map { $0.child?.name } == ["one", "one (copy)"])
    try realm.write { realm.delete(parents[0]) }
    #expect(parents.map { $0.child?.name } == ["one (copy)"])
    #expect(realm.dynamicObjects("Child").count == 1)
  }

  @Test("a block that deletes an owner leaves what another one owns")
  func deletedOwner() throws {
    let realm = try open(try prepared(shared: true)) { migration, _ in
      migration.enumerateObjects(ofType: "Parent") { old, new in
        if let new, old?["id"] as? Int == 1 { migration.delete(new) }
      }
    }
    #expect(realm.objects(New.Parent.self).map { $0.child?.name } == ["one"])
  }

  @Test("a block that makes an embedded object without an owner is refused")
  func madeWithoutOwner() throws {
    let folder = try prepared()
    let error = #expect(throws: Realm.Error.self) {
      _ = try open(folder) { migration, _ in migration.create("Child", value: ["name": "x"]) }
    }
    #expect(error?.message.contains("1 have none (keys 2)") == true)
  }

  @Test("embedded objects go with their property")
  func removedProperty() throws {
    let folder = try prepared()
    do {
      let realm = try open(folder)
      try realm.write { realm.objects(New.Parent.self)[0].more.append(New.Child()) }
    }
    let realm = try open(folder, Gone.Parent.self, version: 2) { migration, _ in
      migration.enumerateObjects(ofType: "Parent") { old, new in
        let name = (old?["child"] as? DynamicObject)?["name"] as? String ?? ""
        new?["kids"] = [["name": name]]
      }
    }
    #expect(realm.objects(Gone.Parent.self).map { $0.kids.map(\.name) } == [["one"], ["two"]])
    #expect(realm.dynamicObjects("Child").count == 2)
  }

  // MARK: values

  private func things() throws -> Folder {
    let folder = try Folder()
    let realm = try folder.realm([Uncolored.Thing.self])
    try realm.write {
      realm.create(
        Uncolored.Thing.self, value: ["name": "a", "maybes": [1, nil]] as [String: Any])
      realm.create(Uncolored.Thing.self, value: ["name": "b", "maybe": 2] as [String: Any])
    }
    return folder
  }

  @Test("rows hold the class's default where an enumeration has no zero")
  func defaults() throws {
    let folder = try things()
    let realm = try open(folder, Colored.Thing.self)
    let things = realm.objects(Colored.Thing.self)
    #expect(things.map(\.color) == [.green, .green] && things.map(\.other) == [.red, .red])
    #expect(things.map(\.word) == [.second, .second])
    #expect(things.map(\.paint.color) == [.green, .green])
    #expect(things.map(\.none) == [nil, nil] && things.allSatisfy(\.colors.isEmpty))
    // Made required, and made of another type.
    #expect(things.map(\.maybe) == [.red, .green] && things.map(\.text) == [.first, .first])
    #expect(things.map { Array($0.maybes) } == [[.red, .red], []])
  }

  @Test("added without a block, rows hold it too; a zero that can be read stays zero")
  func withoutBlock() throws {
    let folder = try things()
    let realm = try Realm(configuration: folder.configuration([Added.Thing.self], version: 1))
    let things = realm.objects(Added.Thing.self)
    #expect(things.map(\.color) == [.green, .green] && things.map(\.name) == ["a", "b"])
    #expect(things.map(\.level) == [.low, .low] && things.map(\.count) == [0, 0])
  }

  @Test("numbers that are no case of a property's new type are refused; a block mends them")
  func narrowed() throws {
    let folder = try things()
    let before = try content(folder)
    let error = #expect(throws: Realm.Error.self) { _ = try open(folder, Narrowed.Thing.self) }
    #expect(error?.code == .schemaMismatch)
    #expect(error?.message.hasPrefix("Thing.code of 2 objects (keys 0, 1) holds") == true)
    #expect(error?.message.contains("first 7") == true)
    #expect(try content(folder) == before)
    let wrong = #expect(throws: Realm.Error.self) {
      _ = try open(folder, Narrowed.Thing.self) { migration, _ in
        migration.enumerateObjects(ofType: "Thing") { $1?["code"] = 9 }
      }
    }
    #expect(wrong?.code == .invalidValue && wrong?.message.contains("cannot hold 9") == true)
    let realm = try open(folder, Narrowed.Thing.self) { migration, _ in
      migration.enumerateObjects(ofType: "Thing") { $1?["code"] = Color.green }
    }
    #expect(realm.objects(Narrowed.Thing.self).map(\.code) == [.green, .green])
  }
}
