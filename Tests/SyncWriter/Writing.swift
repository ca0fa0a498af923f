// Writing.swift: the classes of the synchronized file, and what a writer does.

import Foundation
import ObjectDatabase
import SyncClient

/// What all writers change.
final class Counter: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var total: Int
  @Persisted var names: List<String>
}

/// What one transaction adds.
final class Addition: Object {
  @Persisted(primaryKey: true) var id: String
  @Persisted var number: Int
}

enum Writing {
  static let realm = "additions"
  private static let types: [ObjectBase.Type] = [Counter.self, Addition.self]

  static func configuration(_ name: String) -> Realm.Configuration {
    Realm.Configuration(fileURL: URL(filePath: name), objectTypes: types)
  }

  /// The file that writers and the agent share.
  static var recorded: Realm.Configuration {
    SyncedFile.configuration(configuration("client.realm"), now: now)
  }

  @Sendable static func now() -> UInt64 { UInt64(Date().timeIntervalSince1970 * 1_000) }

  /// Adds so many times, and prints the number of each addition after its commit.
  ///
  /// A transaction changes the counter, which all writers change, and its list, and adds an object.
  static func add(_ count: Int, as name: String) throws {
    let realm = try Realm(configuration: recorded)
    for number in 1...count {
      try realm.write {
        guard let counter = realm.object(ofType: Counter.self, forPrimaryKey: 1) else {
          throw CocoaError(.fileReadNoSuchFile)
        }
        counter.increment(\.total, by: 1)
        counter.names.append("\(name)-\(number)")
        realm.create(Addition.self, value: ["id": "\(name)-\(number)", "number": number])
      }
      print(name, number)
      fflush(nil)
    }
  }
}
