// BaseTable.swift: what objects were before the entries that are kept: of each object that an entry
// or a pending changeset touches. The rows have what the app sees; everything else is as it was.
// Invariants: an object that was touched and has no row here was not there: it was made since. Who
// has a row key from its class's mark on was made since, too, so a transaction that only makes
// objects adds nothing here.

import Engine
import ObjectDatabase
import SyncCore

/// Objects as they were before the entries that are kept.
enum BaseTable {
  private static let name = "__sync_base"
  static let schema = TableSchema(
    name: name,
    columns: [
      ColumnSchema(name: "object", type: .binary, isIndexed: true, isUnique: true),
      ColumnSchema(name: "bytes", type: .binary),
    ])

  /// An object that was not there is its own deletion.
  static func bytes(_ object: SyncObject, _ node: SyncNode?) throws(EngineError) -> [UInt8] {
    guard let node else { return try encoded([.delete(object)]) }
    var state = SyncState()
    state.replace(object, by: node)
    return try encoded(state.operations(from: SyncState()))
  }

  private static func encoded(_ operations: [SyncOperation]) throws(EngineError) -> [UInt8] {
    var recorded = RecordedOperations()
    for operation in operations { recorded.append(operation) }
    do throws(SyncError) {
      return try recorded.changeset(
        SyncChangeset(
          client: SyncClient(0), sequence: 0, base: .zero, stamp: .zero, operations: []))
    } catch { throw EngineError(code: .limit, message: error.message) }
  }

  /// Whether an object has a row here.
  /// - Complexity: O(log rows).
  static func contains(
    _ object: SyncObject, _ write: WriteTransaction
  ) throws(EngineError) -> Bool {
    try write.firstKey(in: name, column: "object", equalTo: .binary(object.encoded())) != nil
  }

  static func add(
    _ object: SyncObject, _ bytes: [UInt8], _ write: WriteTransaction
  ) throws(EngineError) {
    let key = try RowWriter(write, name).largestKey().map { $0 + 1 } ?? 0
    try write.insert(into: name, key: key, [.binary(object.encoded()), .binary(bytes)])
  }

  /// All of them.
  /// - Throws: `EngineError` with code `.corrupted`.
  static func all(
    _ source: some ReadableVersion
  ) throws(EngineError) -> [SyncObject: (key: Int64, bytes: [UInt8], node: SyncNode?)] {
    var found: [SyncObject: (key: Int64, bytes: [UInt8], node: SyncNode?)] = [:]
    for key in try source.keys(of: name) {
      guard case .binary(let bytes) = try source.value(in: name, key: key, column: "bytes") else {
        throw SyncTables.damaged("table \(name) has no bytes at \(key)")
      }
      do throws(SyncError) {
        let operations = try SyncChangeset(decoding: bytes).operations
        guard let object = operations.first?.object else {
          throw SyncError(.malformed, "nothing")
        }
        var state = SyncState()
        if operations != [.delete(object)] {
          for operation in operations { try state.apply(operation) }
        }
        found[object] = (key, bytes, state.objects[object])
      } catch { throw SyncTables.damaged("row \(key) of \(name): \(error)") }
    }
    return found
  }

  static func remove(_ key: Int64, _ write: WriteTransaction) throws(EngineError) {
    try write.delete(from: name, key: key)
  }
}

/// For each class the row key from which on objects were made since.
enum MarkTable {
  private static let name = "__sync_marks"
  static let schema = TableSchema(
    name: name, columns: [ColumnSchema(name: "firstKey", type: .int)])

  /// The mark of a class; zero for one that is new.
  static func mark(
    of table: String, _ source: some ReadableVersion
  ) throws(EngineError) -> Int64 {
    let key = Int64(try source.tableID(of: table))
    guard case .int(let mark) = try source.value(in: name, key: key, column: "firstKey") else {
      return 0
    }
    return mark
  }

  /// Moves the marks to the present.
  static func store(_ classes: FileClasses, _ write: WriteTransaction) throws(EngineError) {
    for described in classes.all where !described.isEmbedded {
      let table = described.table.name
      let next = try RecordedClass.nextKey(of: table, write)
      guard try mark(of: table, write) != next else { continue }
      try write.upsert(into: name, key: Int64(try write.tableID(of: table)), [.int(next)])
    }
  }
}
