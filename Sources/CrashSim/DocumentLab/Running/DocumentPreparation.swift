// DocumentPreparation.swift: what is done before a run: the steps under `before`, then the file is
// taken back to an older format by plain SQL, as the real library's older versions had it.

import Foundation
import GRDB
import LabCore
import Workload

/// Prepares a directory.
package enum DocumentPreparation {
  /// Makes the data file.
  /// - Throws: `LabError` when a step fails.
  package static func run(_ plan: DocumentPlan, in directory: String) throws(LabError) {
    let hand = DocumentHand(plan, directory: directory)
    for unit in plan.before {
      let answer = hand.perform(unit)
      guard answer == .done else { throw .usage("\(unit.name) before the run: \(answer)") }
    }
    let bundle = "\(directory)/\(DocumentHand.bundle)"
    do {
      try hand.end()
      guard let format = plan.declaration.format else { return }
      try takeBack(bundle, to: format)
    } catch {
      throw .lab("the data file cannot be prepared: \(error)")
    }
  }

  /// Does the steps of a run in this process, and closes the file.
  /// - Parameters:
  ///   - plan: The plan.
  ///   - directory: Where the bundle is.
  ///   - acknowledge: Called with a line for each commit.
  /// - Throws: `LabError` when a step fails.
  package static func doSteps(
    _ plan: DocumentPlan, in directory: String, acknowledge: (String) throws(LabError) -> Void
  ) throws(LabError) {
    let hand = DocumentHand(plan, directory: directory)
    for unit in plan.units {
      let answer = hand.perform(unit)
      guard answer == .done else { throw .usage("\(unit.name) before the actors: \(answer)") }
      if let number = unit.commit { try acknowledge(DocumentAcknowledgements.commit(number)) }
    }
    do { try hand.end() } catch { throw .lab("the data file cannot be closed: \(error)") }
  }

  private static func takeBack(_ bundle: String, to format: Int) throws {
    let queue = try DatabaseQueue(path: "\(bundle)/db.sqlite3")
    try queue.inTransaction { database in
      // SQLite resolves the functions of indexes when it changes a table, and calls none.
      database.add(
        function: DatabaseFunction("fl_value", argumentCount: 2, pure: true) { _ in nil })
      let tables = try String.fetchAll(
        database,
        sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'kv_*' "
          + "AND name NOT GLOB '*:*' ORDER BY name GLOB 'kv_del_*' DESC, name")
      for table in tables {
        let name = "\"\(table)\""
        if format < 500, table.hasPrefix("kv_del_") {
          // The tombstones of 3.0 are among the live records.
          try database.execute(
            sql: "INSERT INTO \"kv_\(table.dropFirst(7))\" SELECT * FROM \(name); "
              + "DROP TABLE \(name)")
        } else if format < 502 {
          try database.execute(
            sql: "DROP INDEX IF EXISTS \"\(table)_expiration\"; "
              + "ALTER TABLE \(name) DROP COLUMN expiration")
        }
      }
      let hasIndexes = try String.fetchOne(
        database, sql: "SELECT name FROM sqlite_master WHERE name = 'indexes'")
      for (since, column) in [(501, "lastSeq"), (503, "whereClause")]
      where format < since && hasIndexes != nil {
        try database.execute(sql: "ALTER TABLE indexes DROP COLUMN \(column)")
      }
      try database.execute(sql: "PRAGMA user_version = \(format)")
      return .commit
    }
    try queue.close()
  }
}
