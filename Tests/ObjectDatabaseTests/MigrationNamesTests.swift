// MigrationNamesTests.swift [U]: by which names a migration block reads and writes, and which
// objects it visits after it has deleted some.

import Foundation
import ObjectDatabase
import Testing

private enum Old {
  class Thing: Object {
    @Persisted var name: String
    @Persisted var size: Int
    override class func _realmObjectName() -> String? { "Thing" }
    override class func propertiesMapping() -> [String: String] { ["name": "c_name"] }
  }
}

private enum New {
  class Thing: Object {
    @Persisted var name: String
    @Persisted var more: Int
    @Persisted var width: Int
    override class func _realmObjectName() -> String? { "Thing" }
    override class func propertiesMapping() -> [String: String] {
      ["name": "c_name", "more": "c_more", "width": "c_width"]
    }
  }
}

@Suite("names in migrations")
struct MigrationNamesTests {
  private func migrated(_ block: @escaping MigrationBlock) throws -> [String] {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(UUID().uuidString).realm")
    defer { _ = try? Realm.deleteFiles(for: .init(fileURL: url)) }
    do {
      let realm = try Realm(configuration: .init(fileURL: url, objectTypes: [Old.Thing.self]))
      try realm.write {
        for number in 1...3 {
          realm.create(Old.Thing.self, value: ["name": "n\(number)", "size": number])
        }
      }
    }
    let realm = try Realm(
      configuration: .init(
        fileURL: url, schemaVersion: 1, migrationBlock: block, objectTypes: [New.Thing.self]))
    return realm.objects(New.Thing.self).map { "\($0.name) \($0.more) \($0.width)" }
  }

  @Test("new objects have the class's names, old ones the file's; both as members, too")
  func mappedNames() throws {
    let things = try migrated { migration, _ in
      migration.enumerateObjects(ofType: "Thing") { old, new in
        new!["name"] = (old!["c_name"] as? String ?? "") + (new!["name"] as? String ?? "")
        new!.more = old!.size
        new!["c_width"] = 7
      }
      migration.create("Thing", value: ["name": "made", "more": 9] as [String: Any])
    }
    #expect(things == ["n1n1 1 7", "n2n2 2 7", "n3n3 3 7", "made 9 0"])
  }

  @Test("a property is renamed to its name in the class")
  func renamed() throws {
    let things = try migrated { migration, _ in
      migration.renameProperty(onType: "Thing", from: "size", to: "width")
    }
    #expect(things == ["n1 0 1", "n2 0 2", "n3 0 3"])
  }

  @Test("deleted objects are not visited again")
  func deleted() throws {
    nonisolated(unsafe) var visited: [[Int]] = []
    let things = try migrated { migration, _ in
      func visit() {
        var sizes: [Int] = []
        migration.enumerateObjects(ofType: "Thing") { old, new in
          sizes.append((old?["size"] as? Int ?? -1) * (new == nil ? -1 : 1))
        }
        unsafe visited.append(sizes)
      }
      migration.enumerateObjects(ofType: "Thing") { old, new in
        if old?["size"] as? Int == 2, let new { migration.delete(new) }
      }
      visit()
      migration.deleteData(forType: "Thing")
      visit()
    }
    #expect(unsafe visited == [[1, 3], []])
    #expect(things == [])
  }
}
