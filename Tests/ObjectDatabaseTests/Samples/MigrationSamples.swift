// MigrationSamples.swift: a class over three versions of a program, each with its own file schema.

import FoundationEssentials
import ObjectDatabase
import Testing

private enum First {
  class Walker: Object {
    @Persisted var firstName = ""
    @Persisted var lastName = ""
    @Persisted var age = 0
  }
}

private enum Second {
  // sample: second-version
  class Walker: Object {
    @Persisted var fullName = ""
    @Persisted var yearsSinceBirth = 0
    @Persisted var email: String?
  }
  // end
}

@Suite("samples: migration")
struct MigrationSamples {
  private func configuration(_ folder: Folder, _ types: [ObjectBase.Type]) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(filePath: folder.path).appending(path: "walkers.realm"), schemaVersion: 1,
      objectTypes: types)
  }

  private func first(_ folder: Folder) throws {
    let realm = try Realm(configuration: configuration(folder, [First.Walker.self]))
    try realm.write {
      realm.create(First.Walker.self, value: ["firstName": "Ada", "lastName": "L.", "age": 36])
    }
  }

  @Test("properties are joined, renamed and added")
  func migrate() throws {
    let folder = try Folder()
    try first(folder)
    typealias Walker = Second.Walker
    var config = configuration(folder, [Walker.self])
    // sample: migration
    config.schemaVersion = 2
    config.migrationBlock = { migration, oldSchemaVersion in
      guard oldSchemaVersion < 2 else { return }
      migration.renameProperty(onType: "Walker", from: "age", to: "yearsSinceBirth")
      migration.enumerateObjects(ofType: "Walker") { oldObject, newObject in
        let first = oldObject?["firstName"] as? String ?? ""
        let last = oldObject?["lastName"] as? String ?? ""
        newObject?["fullName"] = "\(first) \(last)"
      }
    }
    let realm = try Realm(configuration: config)
    // end
    let walker = try #require(realm.objects(Walker.self).first)
    #expect(walker.fullName == "Ada L." && walker.yearsSinceBirth == 36 && walker.email == nil)
    #expect(try schemaVersionAtURL(#require(config.fileURL)) == 2)
  }

  @Test("without a version or a block the old file stays as it is, and the error says why")
  func refused() throws {
    let folder = try Folder()
    try first(folder)
    let error = #expect(throws: Realm.Error.self) {
      try Realm(configuration: configuration(folder, [Second.Walker.self]))
    }
    #expect(error?.message.contains("fullName") == true)
    let old = try Realm(configuration: configuration(folder, [First.Walker.self]))
    #expect(old.objects(First.Walker.self).first?.age == 36)
  }

  @Test("or the data go, if the configuration says so")
  func deleted() throws {
    let folder = try Folder()
    try first(folder)
    var config = configuration(folder, [Second.Walker.self])
    config.deleteRealmIfMigrationNeeded = true
    #expect(try Realm(configuration: config).objects(Second.Walker.self).isEmpty)
  }
}
