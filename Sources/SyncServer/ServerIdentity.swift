// ServerIdentity.swift: the realm, the epoch and the first kept version of a server's file: one
// row. Invariant: a copy that was made as a backup says so, and is not served before it has another
// epoch (I20).

import Engine
import SyncClient
import SyncCore

/// What a server's file is about.
struct ServerIdentity: Equatable {
  var realm: String
  /// The name of this history.
  var epoch: UInt64
  /// Whether it is a copy that has to be restored before it is served.
  var isBackup = false
  /// The state before the kept entries; the clients are in their own rows.
  var start = SyncLogStart(version: .zero, digest: 0, stamp: .zero, chain: 0, authors: [])

  private static let numberCount = 8

  init(realm: String, epoch: UInt64) {
    self.realm = realm
    self.epoch = epoch
  }

  /// Reads the row.
  /// - Throws: `EngineError` with code `.noSuchTable` or `.corrupted` for a file that is not a
  ///   server's.
  init(_ source: some ReadableVersion) throws(EngineError) {
    guard let bytes = try SyncTable.bytes(.server, 0, source),
      let name = String(validating: bytes.dropFirst(8 * Self.numberCount), as: UTF8.self)
    else { throw SyncTable.damaged("table \(SyncTable.name) is not that of a server") }
    let numbers = try NumberBytes.numbers(bytes, count: Self.numberCount)
    realm = name
    epoch = numbers[0]
    isBackup = numbers[1] != 0
    start.version = SyncVersion(numbers[2])
    start.stamp = SyncStamp(bits: numbers[3])
    start.digest = UInt128(numbers[5]) << 64 | UInt128(numbers[4])
    start.chain = UInt128(numbers[7]) << 64 | UInt128(numbers[6])
  }

  func store(in write: WriteTransaction) throws(EngineError) {
    var numbers = [epoch, isBackup ? 1 : 0, start.version.number, start.stamp.bits]
    for wide in [start.digest, start.chain] {
      numbers.append(UInt64(truncatingIfNeeded: wide))
      numbers.append(UInt64(truncatingIfNeeded: wide >> 64))
    }
    try SyncTable.put(NumberBytes.bytes(numbers) + Array(realm.utf8), .server, 0, write)
  }
}

/// The clients of a server, by number from 1.
enum RecordRows {
  private static let numberCount = 8

  /// All of them, and when each was seen last.
  /// - Throws: `EngineError` with code `.corrupted`.
  static func all(
    _ source: some ReadableVersion
  ) throws(EngineError) -> (records: [ClientRecord], seen: [UInt64]) {
    var (records, seen) = ([ClientRecord](), [UInt64]())
    for number in try SyncTable.numbers(.record, source) {
      guard number == UInt64(records.count) + 1 else {
        throw SyncTable.damaged("client \(number) follows client \(records.count)")
      }
      let bytes = try SyncTable.bytes(.record, number, source) ?? []
      let numbers = try NumberBytes.numbers(bytes, count: numberCount)
      records.append(
        ClientRecord(
          client: SyncClient(number), secret: numbers[0], nonce: numbers[1], offered: numbers[2],
          mark: UInt128(numbers[4]) << 64 | UInt128(numbers[3]),
          lowest: SyncVersion(numbers[5]), isExpired: numbers[6] != 0))
      seen.append(numbers[7])
    }
    return (records, seen)
  }

  static func store(
    _ record: ClientRecord, seen: UInt64, _ write: WriteTransaction
  ) throws(EngineError) {
    let numbers = [
      record.secret, record.nonce, record.offered, UInt64(truncatingIfNeeded: record.mark),
      UInt64(truncatingIfNeeded: record.mark >> 64), record.lowest.number,
      record.isExpired ? 1 : 0, seen,
    ]
    try SyncTable.put(NumberBytes.bytes(numbers), .record, record.client.number, write)
  }
}
