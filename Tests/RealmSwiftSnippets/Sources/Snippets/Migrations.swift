// Migrations.swift: 7 snippets about migrations, as RealmSwift's documentation
// uses the API.

import Foundation
import ObjectDatabase

enum MigrationsSnippets {
  static let all: [(String, () throws -> Void)] = [
    ("enumerate", snippet1),
    ("dynamic members", snippet2),
    ("rename", snippet3),
    ("delete data", snippet4),
    ("create", snippet5),
    ("delete", snippet6),
    ("schemas", snippet7),
  ]

  /// Enumerate.
  static func snippet1() throws {
    _ = Realm.Configuration(
      schemaVersion: 2,
      migrationBlock: { migration, oldSchemaVersion in
        if oldSchemaVersion < 2 {
          migration.enumerateObjects(ofType: Person.className()) { oldObject, newObject in
            let firstName = oldObject!["firstName"] as? String
            newObject!["fullName"] = "\(firstName!)"
          }
        }
      })
  }

  /// Dynamic members.
  static func snippet2() throws {
    _ = Realm.Configuration(
      schemaVersion: 2,
      migrationBlock: { migration, _ in
        migration.enumerateObjects(ofType: "Person") { old, new in
          let name = old!.firstName as? String
          new!.fullName = name
        }
      })
  }

  /// Rename.
  static func snippet3() throws {
    _ = Realm.Configuration(
      schemaVersion: 2,
      migrationBlock: { migration, _ in
        migration.renameProperty(onType: Person.className(), from: "yearsSinceBirth", to: "age")
      })
  }

  /// Delete data.
  static func snippet4() throws {
    _ = Realm.Configuration(
      schemaVersion: 2,
      migrationBlock: { migration, _ in
        migration.deleteData(forType: "Person")
      })
  }

  /// Create.
  static func snippet5() throws {
    _ = Realm.Configuration(
      schemaVersion: 2,
      migrationBlock: { migration, _ in
        migration.create("Person", value: ["name": "Ada"])
      })
  }

  /// Delete.
  static func snippet6() throws {
    _ = Realm.Configuration(
      schemaVersion: 2,
      migrationBlock: { migration, _ in
        migration.enumerateObjects(ofType: "Person") { _, new in
          if let new { migration.delete(new) }
        }
      })
  }

  /// Schemas.
  static func snippet7() throws {
    _ = Realm.Configuration(
      schemaVersion: 2,
      migrationBlock: { migration, _ in
        _ = migration.oldSchema["Person"]?["name"]
        _ = migration.newSchema.objectSchema.count
      })
  }
}
