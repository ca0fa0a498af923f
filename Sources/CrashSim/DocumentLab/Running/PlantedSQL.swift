// PlantedSQL.swift: bugs that negative scenarios plant: SQL on the data file behind the store's
// back, as a store with the bug would have run it.

import DocumentStore
import Foundation
import GRDB
import LabCore

/// Runs SQL on a bundle.
enum PlantedSQL {
  /// Runs statements in one transaction.
  /// - Parameters:
  ///   - sql: The statements.
  ///   - bundle: The bundle's path.
  ///   - closing: Closes the store's own connections, whose caches would not see the change.
  /// - Throws: SQLite's errors, and those of closing.
  static func run(_ sql: String, bundle: String, closing: () throws -> Void) throws {
    try closing()
    try FileManager.default.createDirectory(
      atPath: bundle, withIntermediateDirectories: true)
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    let queue = try DatabaseQueue(path: "\(bundle)/db.sqlite3", configuration: configuration)
    try queue.inDatabase { database in
      // What the index of an array's table calls; its items are no collections.
      database.add(
        function: DatabaseFunction("fl_unnested_value", argumentCount: 1, pure: true) { $0[0] })
      try database.inTransaction(.immediate) {
        try database.execute(sql: sql)
        return .commit
      }
    }
    try queue.close()
  }
}
