// SyncIdentity.swift: whose file it is, and how far it has come: the row of `__sync`.

import Engine
import SyncCore

/// Whose file it is, and how far it has come.
struct SyncIdentity: Equatable {
  /// The realm's name at the server.
  var realm: String
  /// The client's number; that of nobody before the server has given it one.
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
  /// What is before the entries that are kept; the clients are in a table of their own.
  var start = SyncLogStart(version: .zero, digest: 0, stamp: .zero, chain: 0, authors: [])
  /// The hash over the client's changesets up to `lastSequence`.
  var mark: UInt128 = 0

  init(realm: String) { self.realm = realm }

  /// Reads the row.
  /// - Throws: `EngineError` with code `.corrupted` when there is none.
  init(_ source: some ReadableVersion) throws(EngineError) {
    guard let row = try source.row(in: SyncTables.identity, key: SyncTables.identityKey),
      row.count == SyncTables.identitySchema.columns.count, case .string(let realm) = row[0]
    else { throw SyncTables.damaged("table \(SyncTables.identity) has no row of its own") }
    let numbers = try SyncTables.numbers(row[1...10])
    self.realm = realm
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
    start.digest = try Self.wide(row[11])
    start.chain = try Self.wide(row[12])
    mark = try Self.wide(row[13])
  }

  private static func wide(_ value: Value) throws(EngineError) -> UInt128 {
    guard case .uuid(let number)? = SyncValue(value) else {
      throw SyncTables.damaged("table \(SyncTables.identity) holds \(value) instead of a hash")
    }
    return number
  }

  func store(in write: WriteTransaction) throws(EngineError) {
    let numbers = [
      client.number, secret, nonce, epoch, confirmed.number, lastSequence, clock.bits,
      needsLog ? 1 : 0, start.version.number, start.stamp.bits,
    ]
    let hashes = [start.digest, start.chain, mark].map { SyncValue.uuid($0).plain ?? .null }
    try write.upsert(
      into: SyncTables.identity, key: SyncTables.identityKey,
      [.string(realm)] + numbers.map { SyncTables.value($0) } + hashes)
  }
}

/// How far the clients of a realm had come before the entries that are kept.
enum AuthorTable {
  static func all(
    _ source: some ReadableVersion
  ) throws(EngineError) -> [SyncLogStart.Author] {
    var found: [SyncLogStart.Author] = []
    for key in try source.keys(of: SyncTables.clients) {
      guard let row = try source.row(in: SyncTables.clients, key: key) else { continue }
      let numbers = try SyncTables.numbers(row)
      found.append(
        SyncLogStart.Author(
          client: UInt64(bitPattern: key), sequence: numbers[0], base: numbers[1],
          stamp: numbers[2]))
    }
    return found
  }

  /// Writes those that differ from what is there.
  static func store(
    _ authors: [SyncLogStart.Author], over old: [SyncLogStart.Author], _ write: WriteTransaction
  ) throws(EngineError) {
    let known = Set(old)
    let clients = Set(authors.map(\.client))
    for author in old where !clients.contains(author.client) {
      try write.delete(from: SyncTables.clients, key: Int64(bitPattern: author.client))
    }
    for author in authors where !known.contains(author) {
      try write.upsert(
        into: SyncTables.clients, key: Int64(bitPattern: author.client),
        [author.sequence, author.base, author.stamp].map { SyncTables.value($0) })
    }
  }
}
