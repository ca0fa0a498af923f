// SyncTables.swift: what a synchronized file keeps beside its objects, in tables of the engine
// (docs/sync-client.md):
//   __sync          row 0: whose file it is, and how far it has come
//   __sync_pending  changesets that are not among the server's entries: sequence * 16 + part
// Invariant: names begin with two underscores, so no class has them, and the object database
// passes them over.

import Engine
import SyncCore

enum SyncTables {
  static let identity = "__sync"
  static let pending = "__sync_pending"
  static let identityKey: Int64 = 0
  /// Parts of one changeset; a value of the engine holds 16 MiB at most.
  static let partsMax: Int64 = 16
  static let partBytesMax = 8 << 20

  static let schemas = [
    TableSchema(
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
      ]),
    TableSchema(
      name: pending,
      columns: [
        ColumnSchema(name: "base", type: .int),
        ColumnSchema(name: "stamp", type: .int),
        ColumnSchema(name: "bytes", type: .binary),
      ]),
  ]

  static func damaged(_ message: String) -> EngineError {
    EngineError(code: .corrupted, message: message)
  }
}

/// Whose file it is, and how far it has come: the row of `__sync`.
struct SyncIdentity: Equatable {
  /// The realm's name at the server.
  var realm: String
  /// The client's number; that of nobody before the server has given it one.
  var client = SyncClient(.max)
  var secret: UInt64 = 0
  var nonce: UInt64 = 0
  var epoch: UInt64 = 0
  /// The newest entry whose effect the objects have.
  var confirmed = SyncVersion.zero
  /// The number of the last changeset that is among the entries.
  var lastSequence: UInt64 = 0
  /// No entry up to `confirmed`, and no changeset up to `lastSequence`, has a later stamp.
  var clock = SyncStamp.zero

  init(realm: String) { self.realm = realm }

  /// Reads the row.
  /// - Throws: `EngineError` with code `.corrupted` when there is none.
  init(_ source: some ReadableVersion) throws(EngineError) {
    guard let row = try source.row(in: SyncTables.identity, key: SyncTables.identityKey),
      row.count == SyncTables.schemas[0].columns.count, case .string(let realm) = row[0]
    else { throw SyncTables.damaged("table \(SyncTables.identity) has no row of its own") }
    var numbers: [UInt64] = []
    for value in row[1...] {
      guard case .int(let number) = value else {
        throw SyncTables.damaged("table \(SyncTables.identity) holds \(row)")
      }
      numbers.append(UInt64(bitPattern: number))
    }
    self.realm = realm
    client = SyncClient(numbers[0])
    secret = numbers[1]
    nonce = numbers[2]
    epoch = numbers[3]
    confirmed = SyncVersion(numbers[4])
    lastSequence = numbers[5]
    clock = SyncStamp(bits: numbers[6])
  }

  func store(in write: WriteTransaction) throws(EngineError) {
    let numbers = [
      client.number, secret, nonce, epoch, confirmed.number, lastSequence, clock.bits,
    ]
    try write.upsert(
      into: SyncTables.identity, key: SyncTables.identityKey,
      [.string(realm)] + numbers.map { .int(Int64(bitPattern: $0)) })
  }
}

/// The changesets that are not among the server's entries: the rows of `__sync_pending`.
enum PendingTable {
  /// The largest sequence that a row key can hold.
  private static let sequenceMax = UInt64(Int64.max / SyncTables.partsMax) - 1

  private static func key(_ sequence: UInt64, part: Int) -> Int64 {
    Int64(sequence) * SyncTables.partsMax + Int64(part)
  }

  /// Number and stamp of the last one; nil without any.
  /// - Complexity: O(log rows).
  static func last(
    _ write: WriteTransaction, _ table: RowWriter
  ) throws(EngineError) -> (sequence: UInt64, stamp: SyncStamp)? {
    guard let key = try table.largestKey() else { return nil }
    guard key >= 0, case .int(let stamp) = try table.value(key, 1) else {
      throw SyncTables.damaged("table \(SyncTables.pending) has a row \(key)")
    }
    return (UInt64(key / SyncTables.partsMax), SyncStamp(bits: UInt64(bitPattern: stamp)))
  }

  /// Adds one.
  static func append(
    _ bytes: [UInt8], _ header: SyncChangeset, _ write: WriteTransaction
  ) throws(EngineError) {
    guard header.sequence <= sequenceMax else {
      throw EngineError(code: .limit, message: "no sequence is left behind \(header.sequence)")
    }
    var start = 0
    var part = 0
    while start < bytes.count || part == 0 {
      let end = min(bytes.count, start + SyncTables.partBytesMax)
      try write.insert(
        into: SyncTables.pending, key: key(header.sequence, part: part),
        [
          .int(Int64(bitPattern: header.base.number)),
          .int(Int64(bitPattern: header.stamp.bits)),
          .binary(start == 0 && end == bytes.count ? bytes : Array(bytes[start..<end])),
        ])
      start = end
      part += 1
    }
  }

  /// All of them, in their order.
  /// - Throws: `EngineError` with code `.corrupted` for bytes that are no changeset.
  static func all(_ source: some ReadableVersion) throws(EngineError) -> [SyncChangeset] {
    var found: [SyncChangeset] = []
    var bytes: [UInt8] = []
    let keys = try source.keys(of: SyncTables.pending)
    for (index, key) in keys.enumerated() {
      guard
        case .binary(let part) = try source.value(
          in: SyncTables.pending, key: key, column: "bytes")
      else { throw SyncTables.damaged("table \(SyncTables.pending) has no bytes at \(key)") }
      bytes += part
      let sequence = key / SyncTables.partsMax
      if index + 1 < keys.count, keys[index + 1] / SyncTables.partsMax == sequence { continue }
      do { found.append(try SyncChangeset(decoding: bytes)) } catch {
        throw SyncTables.damaged("pending changeset \(sequence): \(error)")
      }
      bytes = []
    }
    return found
  }
}
