// VersionContents.swift: compares two versions row by row, to check the engine's own answer to what
// changed between them. The engine skips everything that both versions share by its position in the
// file; this full comparison does not depend on positions.

import Engine
import Findings

/// The rows of two versions of a database.
struct VersionContents {
  private typealias Rows = [Int64: [Value]]

  private let older: [String: Rows]
  private let newer: [String: Rows]
  private let columns: [String: [String]]
  private let versions: String

  /// Reads both versions.
  /// - Throws: `EngineError` of reading.
  /// - Complexity: O(bytes of both).
  init(older: Snapshot, newer: Snapshot) throws(EngineError) {
    self.older = try Self.rows(of: older)
    self.newer = try Self.rows(of: newer)
    columns = Dictionary(
      uniqueKeysWithValues: newer.tables.map { ($0.name, $0.columns.map(\.name)) })
    versions = "from version \(older.version.rawValue) to \(newer.version.rawValue)"
  }

  private static func rows(of snapshot: Snapshot) throws(EngineError) -> [String: Rows] {
    var found: [String: Rows] = [:]
    for table in snapshot.tables {
      var rows: Rows = [:]
      try snapshot.forEach(in: table.name) { key, values in rows[key] = values }
      found[table.name] = rows
    }
    return found
  }

  /// Judges the changes reported by the engine.
  /// - Parameters:
  ///   - changes: The reported changes.
  ///   - pin: The pin's name of the older version.
  /// - Returns: The difference to the contents; nil if there is none.
  func violation(of changes: DatabaseChanges, since pin: String) -> Violation? {
    let names = Set(older.keys).union(newer.keys).union(changes.tables.map(\.name))
    for name in names.sorted() {
      guard let difference = difference(in: name, changes.tables.first { $0.name == name }) else {
        continue
      }
      return Violation(
        .referenceModel,
        promised: "what changed since '\(pin)' is what the two contents differ in",
        got: "table '\(name)', \(versions): \(difference)")
    }
    return nil
  }

  private func difference(in table: String, _ changes: TableChanges?) -> String? {
    let (old, new) = (older[table] ?? [:], newer[table] ?? [:])
    let inserted = new.keys.filter { old[$0] == nil }.sorted()
    let deleted = old.keys.filter { new[$0] == nil }.sorted()
    let modified = new.keys.filter { old[$0] != nil && old[$0] != new[$0] }.sorted()
    let told = changes?.modifications ?? []
    let lists = [
      ("inserted", changes?.insertions ?? [], inserted),
      ("deleted", changes?.deletions ?? [], deleted), ("modified", told.map(\.key), modified),
    ]
    for (what, told, right) in lists where told != right {
      return "\(what) rows are \(Self.shown(right)), and the engine says \(Self.shown(told))"
    }
    for row in told {
      let (before, after) = (old[row.key] ?? [], new[row.key] ?? [])
      let right = (columns[table] ?? []).enumerated()
        .filter { index, _ in before[index] != after[index] }.map(\.element)
      if row.columns != right {
        return "row \(row.key) differs in \(right), and the engine says \(row.columns)"
      }
    }
    return nil
  }

  private static func shown(_ keys: [Int64]) -> String {
    keys.count > 12 ? "\(keys.count) keys from \(keys[0])" : "\(keys)"
  }
}
