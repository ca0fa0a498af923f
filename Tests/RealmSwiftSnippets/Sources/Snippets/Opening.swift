// Opening.swift: 26 snippets about opening, as RealmSwift's documentation
// uses the API.

import Foundation
import ObjectDatabase

enum OpeningSnippets {
  static let all: [(String, () throws -> Void)] = [
    ("open the default realm", snippet1),
    ("open with try!", snippet2),
    ("open at a URL", snippet3),
    ("open in memory", snippet4),
    ("configuration as a variable", snippet5),
    ("default configuration is set", snippet6),
    ("object types", snippet7),
    ("object types in the initializer", snippet8),
    ("encryption key", snippet9),
    ("compact on launch", snippet10),
    ("delete if a migration is needed", snippet11),
    ("schema version", snippet12),
    ("read-only flag", snippet13),
    ("active versions", snippet14),
    ("seed file", snippet15),
    ("open on a queue", snippet16),
    ("file exists", snippet17),
    ("delete files", snippet18),
    ("write a copy", snippet19),
    ("configurations are equal", snippet20),
    ("errors while opening", snippet21),
    ("errors by code", snippet22),
    ("error switch", snippet23),
    ("same realm twice", snippet24),
    ("schema version at a URL", snippet25),
    ("migrate without opening", snippet26),
  ]

  /// Open the default realm.
  static func snippet1() throws {
    let realm = try Realm()
    _ = realm.isEmpty
  }

  /// Open with try!.
  static func snippet2() throws {
    let realm = try! Realm()
    _ = realm.configuration.fileURL
  }

  /// Open at a URL.
  static func snippet3() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(UUID().uuidString).realm")
    defer { _ = try? Realm.deleteFiles(for: Realm.Configuration(fileURL: url)) }
    do {
      let realm = try Realm(fileURL: url)
      try realm.write { realm.add(Dog()) }
    }
  }

  /// Open in memory.
  static func snippet4() throws {
    let configuration = Realm.Configuration(inMemoryIdentifier: "MyInMemoryRealm")
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.add(Dog(name: "Rex", age: 1)) }
  }

  /// Configuration as a variable.
  static func snippet5() throws {
    var config = Realm.Configuration()
    config.fileURL!.deleteLastPathComponent()
    config.fileURL!.appendPathComponent("username")
    config.fileURL!.appendPathExtension("realm")
    _ = config.fileURL
  }

  /// Default configuration is set.
  static func snippet6() throws {
    let old = Realm.Configuration.defaultConfiguration
    Realm.Configuration.defaultConfiguration = old
  }

  /// Object types.
  static func snippet7() throws {
    var config = Realm.Configuration(inMemoryIdentifier: UUID().uuidString)
    config.objectTypes = [Dog.self, Person.self, Club.self, Address.self]
    let realm = try Realm(configuration: config)
    _ = realm.schema.objectSchema.map(\.className)
  }

  /// Object types in the initializer.
  static func snippet8() throws {
    let config = Realm.Configuration(
      inMemoryIdentifier: UUID().uuidString, objectTypes: [Node.self])
    _ = try Realm(configuration: config)
  }

  /// Encryption key.
  static func snippet9() throws {
    var key = Data(count: 64)
    for index in key.indices { key[index] = UInt8(index) }
    let config = Realm.Configuration(inMemoryIdentifier: "keyed", encryptionKey: nil)
    _ = config.encryptionKey == key
  }

  /// Compact on launch.
  static func snippet10() throws {
    let config = Realm.Configuration(
      inMemoryIdentifier: "c",
      shouldCompactOnLaunch: { totalBytes, usedBytes in
        let oneHundredMB = 100 * 1024 * 1024
        return (totalBytes > oneHundredMB) && (Double(usedBytes) / Double(totalBytes)) < 0.5
      })
    _ = try Realm(configuration: config)
  }

  /// Delete if a migration is needed.
  static func snippet11() throws {
    var config = Realm.Configuration(inMemoryIdentifier: "d")
    config.deleteRealmIfMigrationNeeded = true
    _ = try Realm(configuration: config)
  }

  /// Schema version.
  static func snippet12() throws {
    var config = Realm.Configuration(inMemoryIdentifier: "v")
    config.schemaVersion = 2
    _ = try Realm(configuration: config).configuration.schemaVersion
  }

  /// Read-only flag.
  static func snippet13() throws {
    var config = Realm.Configuration()
    config.readOnly = true
    _ = config.readOnly
  }

  /// Active versions.
  static func snippet14() throws {
    var config = Realm.Configuration()
    config.maximumNumberOfActiveVersions = 10
    _ = config.maximumNumberOfActiveVersions
  }

  /// Seed file.
  static func snippet15() throws {
    var config = Realm.Configuration()
    config.seedFilePath = URL(fileURLWithPath: "/nowhere/seed.realm")
    _ = config.seedFilePath
  }

  /// Open on a queue.
  static func snippet16() throws {
    let queue = DispatchQueue(label: "background")
    try queue.sync {
      let realm = try Realm(configuration: .init(inMemoryIdentifier: "q"), queue: queue)
      _ = realm.isEmpty
    }
  }

  /// File exists.
  static func snippet17() throws {
    _ = Realm.fileExists(
      for: Realm.Configuration(fileURL: URL(fileURLWithPath: "/nowhere/x.realm")))
  }

  /// Delete files.
  static func snippet18() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(UUID().uuidString).realm")
    _ = try Realm.deleteFiles(for: Realm.Configuration(fileURL: url))
  }

  /// Write a copy.
  static func snippet19() throws {
    let source = try Realm(configuration: .init(inMemoryIdentifier: "copied"))
    try source.write { source.add(Dog(name: "Rex", age: 1)) }
    let target = FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(UUID().uuidString).realm")
    defer { _ = try? Realm.deleteFiles(for: Realm.Configuration(fileURL: target)) }
    try source.writeCopy(toFile: target)
  }

  /// Configurations are equal.
  static func snippet20() throws {
    let one = Realm.Configuration(inMemoryIdentifier: "a")
    check(one == Realm.Configuration(inMemoryIdentifier: "a"))
    print(one.description.isEmpty)
  }

  /// Errors while opening.
  static func snippet21() throws {
    do {
      _ = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: "/nowhere/x.realm"), readOnly: true))
    } catch let error as Realm.Error {
      _ = error.localizedDescription
      _ = error.fileURL
    } catch { throw error }
  }

  /// Errors by code.
  static func snippet22() throws {
    do {
      _ = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: "/nowhere/x.realm"), readOnly: true))
    } catch Realm.Error.fileNotFound {
      return
    } catch Realm.Error.fileAccess {
      return
    }
  }

  /// Error switch.
  static func snippet23() throws {
    do {
      _ = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: "/nowhere/x.realm"), readOnly: true))
    } catch let error as Realm.Error {
      switch error.code {
      case .fileNotFound, .fileAccess, .filePermissionDenied, .fileExists: break
      case .incompatibleLockFile, .addressSpaceExhausted, .schemaMismatch, .fail: break
      default: break
      }
    }
  }

  /// Same realm twice.
  static func snippet24() throws {
    let config = Realm.Configuration(inMemoryIdentifier: "twice")
    let first = try Realm(configuration: config)
    try check(first == Realm(configuration: config))
  }

  /// Schema version at a URL.
  static func snippet25() throws {
    do { _ = try schemaVersionAtURL(URL(fileURLWithPath: "/nowhere/x.realm")) } catch { _ = error }
  }

  /// Migrate without opening.
  static func snippet26() throws {
    try Realm.performMigration(for: Realm.Configuration(inMemoryIdentifier: "m"))
  }
}
