// ObjectRows.swift: the rows of Faultline's classes as returned by the engine, with their links as
// keys. A value of an unexpected type reads as empty: the oracles will report it as missing.

import Engine
import Workload

/// The rows of one version.
package struct ObjectRows: Sendable {
  /// One row by column name.
  struct Row: Sendable, Hashable {
    var columns: [String: Value]

    func int(_ name: String) -> Int { optionalInt(name) ?? 0 }

    func optionalInt(_ name: String) -> Int? {
      if case .int(let number) = columns[name] { Int(number) } else { nil }
    }

    func text(_ name: String) -> String {
      if case .string(let text) = columns[name] { text } else { "" }
    }

    func link(_ name: String) -> Int64? {
      if case .link(let key) = columns[name] { key } else { nil }
    }

    func links(_ name: String) -> [Int64] {
      guard case .list(let links) = columns[name] else { return [] }
      return links.compactMap { if case .link(let key) = $0 { key } else { nil } }
    }

    func texts(_ name: String) -> [String] {
      guard case .set(let values) = columns[name] else { return [] }
      return values.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }

    func entries(_ name: String) -> [(key: String, value: Int)] {
      guard case .dictionary(let entries) = columns[name] else { return [] }
      return entries.compactMap { entry in
        if case .int(let number) = entry.value { (entry.key, Int(number)) } else { nil }
      }
    }
  }

  var people: [Int64: Row] = [:]
  var dogs: [Int64: Row] = [:]
  var addresses: [Int64: Row] = [:]
  var rooms: [Int64: Row] = [:]
  var crates: [Int64: Row] = [:]
  /// The lists and dictionaries in mixed values, and the number of their table.
  var collections: [Int64: Row] = [:]
  var collectionTable: UInt32 = 0
  /// The number of the table of dogs.
  var dogTable: UInt32 = 0

  /// No rows.
  init() {}

  /// Reads the rows of a version.
  /// - Throws: `EngineError`.
  /// - Complexity: O(rows).
  package init(_ snapshot: Snapshot) throws(EngineError) {
    people = try Self.rows(of: ObjectClasses.person, snapshot)
    dogs = try Self.rows(of: ObjectClasses.dog, snapshot)
    addresses = try Self.rows(of: ObjectClasses.address, snapshot)
    rooms = try Self.rows(of: ObjectClasses.room, snapshot)
    crates = try Self.rows(of: ObjectClasses.crate, snapshot)
    collections = try Self.rows(of: ObjectClasses.collectionTable, snapshot)
    if snapshot.hasTable(ObjectClasses.dog) {
      dogTable = try snapshot.tableID(of: ObjectClasses.dog)
    }
    if snapshot.hasTable(ObjectClasses.collectionTable) {
      collectionTable = try snapshot.tableID(of: ObjectClasses.collectionTable)
    }
  }

  private static func rows(
    of name: String, _ snapshot: Snapshot
  ) throws(EngineError) -> [Int64: Row] {
    guard let schema = snapshot.tables.first(where: { $0.name == name }) else { return [:] }
    let names = schema.columns.map(\.name)
    var rows: [Int64: Row] = [:]
    try snapshot.forEach(in: name) { key, values in
      rows[key] = Row(columns: Dictionary(uniqueKeysWithValues: zip(names, values)))
    }
    return rows
  }
}
