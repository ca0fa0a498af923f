// SyncIdentity.swift: the client of a file and its progress: one row of `__sync`.

import Engine
import SyncCore

/// The client of a file and its progress.
struct SyncIdentity: Equatable {
  /// The realm's name at the server.
  var realm: String
  /// The client's number; `unnamed` until the server has assigned one.
  var client = ClientFile.unnamed
  var secret: UInt64 = 0
  var nonce: UInt64 = 0
  var epoch: UInt64 = 0
  /// The newest entry whose effect the objects have.
  var confirmed = SyncVersion.zero
  /// The number of the last changeset that is among the entries.
  var lastSequence: UInt64 = 0
  /// No entry up to `confirmed`, and no changeset up to `lastSequence`, has a later stamp.
  var clock = SyncStamp.zero
  /// Whether an entry did not fit, so that the log has to be replaced.
  var needsLog = false
  /// The state before the kept entries; the clients are in their own table.
  var start = SyncLogStart(version: .zero, digest: 0, stamp: .zero, chain: 0, authors: [])
  /// The hash over the client's changesets up to `lastSequence`.
  var mark: UInt128 = 0

  init(realm: String) { self.realm = realm }

  private static let numberCount = 16

  /// Reads the row.
  /// - Throws: `EngineError` with code `.corrupted` when there is none.
  init(_ source: some ReadableVersion) throws(EngineError) {
    guard let bytes = try SyncTable.bytes(.identity, 0, source),
      let name = String(validating: bytes.dropFirst(8 * Self.numberCount), as: UTF8.self)
    else { throw SyncTable.damaged("table \(SyncTable.name) does not say whose file it is") }
    let numbers = try NumberBytes.numbers(bytes, count: Self.numberCount)
    realm = name
    client = SyncClient(numbers[0])
    secret = numbers[1]
    nonce = numbers[2]
    epoch = numbers[3]
    confirmed = SyncVersion(numbers[4])
    lastSequence = numbers[5]
    clock = SyncStamp(bits: numbers[6])
    needsLog = numbers[7] != 0
    start.version = SyncVersion(numbers[8])
    start.stamp = SyncStamp(bits: numbers[9])
    start.digest = UInt128(numbers[11]) << 64 | UInt128(numbers[10])
    start.chain = UInt128(numbers[13]) << 64 | UInt128(numbers[12])
    mark = UInt128(numbers[15]) << 64 | UInt128(numbers[14])
  }

  func store(in write: WriteTransaction) throws(EngineError) {
    var numbers = [
      client.number, secret, nonce, epoch, confirmed.number, lastSequence, clock.bits,
      needsLog ? 1 : 0, start.version.number, start.stamp.bits,
    ]
    for wide in [start.digest, start.chain, mark] {
      numbers.append(UInt64(truncatingIfNeeded: wide))
      numbers.append(UInt64(truncatingIfNeeded: wide >> 64))
    }
    try SyncTable.put(NumberBytes.bytes(numbers) + Array(realm.utf8), .identity, 0, write)
  }
}

/// The progress of the clients of a realm before the kept entries.
package enum AuthorRows {
  package static func all(
    _ source: some ReadableVersion
  ) throws(EngineError) -> [SyncLogStart.Author] {
    var found: [SyncLogStart.Author] = []
    for client in try SyncTable.numbers(.client, source) {
      let bytes = try SyncTable.bytes(.client, client, source) ?? []
      let numbers = try NumberBytes.numbers(bytes, count: 3)
      found.append(
        SyncLogStart.Author(
          client: client, sequence: numbers[0], base: numbers[1], stamp: numbers[2]))
    }
    return found
  }

  /// Writes those that differ from the stored ones.
  package static func store(
    _ authors: [SyncLogStart.Author], over old: [SyncLogStart.Author], _ write: WriteTransaction
  ) throws(EngineError) {
    let known = Set(old)
    let clients = Set(authors.map(\.client))
    for author in old where !clients.contains(author.client) {
      try SyncTable.remove(.client, author.client, write)
    }
    for author in authors where !known.contains(author) {
      let numbers = [author.sequence, author.base, author.stamp]
      try SyncTable.put(NumberBytes.bytes(numbers), .client, author.client, write)
    }
  }
}
