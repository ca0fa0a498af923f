// SyncTables.swift: what a synchronized file keeps beside its objects, in tables of the engine
// (docs/sync-client.md, section 3).
// Invariant: names begin with two underscores, so no class has them, and the object database
// passes them over.

import Engine
import SyncCore

enum SyncTables {
  static let identity = "__sync"
  static let clients = "__sync_clients"
  static let identityKey: Int64 = 0

  static let identitySchema = TableSchema(
    name: identity,
    columns: [
      ColumnSchema(name: "realm", type: .string),
      ColumnSchema(name: "client", type: .int),
      ColumnSchema(name: "secret", type: .int),
      ColumnSchema(name: "nonce", type: .int),
      ColumnSchema(name: "epoch", type: .int),
      ColumnSchema(name: "confirmed", type: .int),
      ColumnSchema(name: "lastSequence", type: .int),
      ColumnSchema(name: "clock", type: .int),
      ColumnSchema(name: "needsLog", type: .int),
      ColumnSchema(name: "start", type: .int),
      ColumnSchema(name: "startStamp", type: .int),
      ColumnSchema(name: "startDigest", type: .uuid),
      ColumnSchema(name: "startChain", type: .uuid),
      ColumnSchema(name: "mark", type: .uuid),
    ])
  static let clientSchema = TableSchema(
    name: clients,
    columns: ["sequence", "base", "stamp"].map { ColumnSchema(name: $0, type: .int) })

  static let schemas = [
    identitySchema, clientSchema, PartTable.pending.schema, PartTable.window.schema,
    BaseTable.schema, MarkTable.schema,
  ]

  static func damaged(_ message: String) -> EngineError {
    EngineError(code: .corrupted, message: message)
  }

  /// An unsigned number as a column has it: its bits.
  static func value(_ number: UInt64) -> Value { .int(Int64(bitPattern: number)) }

  /// What the server's entries say of synchronization and not of objects, as numbers of a row.
  static func numbers(_ values: some Sequence<Value>) throws(EngineError) -> [UInt64] {
    var numbers: [UInt64] = []
    for value in values {
      guard case .int(let number) = value else {
        throw damaged("a row of synchronization holds \(value) instead of a number")
      }
      numbers.append(UInt64(bitPattern: number))
    }
    return numbers
  }
}
