// SyncServerStore+Files.swift: makes a server's file, copies it, and restores it from a copy.
// Invariant (I20): a restored file has another epoch than any before, so clients notice that it may
// have lost what they have.

import Engine
import ObjectDatabase
import SyncClient
import SyncCore

extension SyncServerStore {
  /// Makes a file the server's file of a realm; its classes are the schema.
  /// - Parameters:
  ///   - configuration: How the file is opened.
  ///   - realm: The realm's name.
  ///   - epoch: A number that was never used for the realm.
  /// - Throws: `Realm.Error`, or `EngineError` with code `.schemaMismatch` for a file with objects,
  ///   or one that is synchronized already.
  ///
  /// Durability: when the call returns, it survives any crash.
  package static func create(
    _ configuration: Realm.Configuration, realm: String, epoch: UInt64
  ) throws {
    let file = try RealmFile(configuration)
    try Realm.performMigration(for: configuration)
    try create(file.database, realm: realm, epoch: epoch)
  }

  /// The same for an open database with the classes.
  package static func create(
    _ database: Database, realm: String, epoch: UInt64
  ) throws(EngineError) {
    let write = try database.beginWrite()
    defer { write.cancel() }
    guard !write.hasTable(SyncTable.name) else {
      throw EngineError(code: .schemaMismatch, message: "the file is synchronized already")
    }
    for described in try FileClasses(write).all {
      let count = try write.count(of: described.table.name)
      guard count == 0 else {
        throw EngineError(
          code: .schemaMismatch,
          message: "the file has \(count) objects of \(described.name), which are in no log")
      }
      guard described.isEmbedded || described.primaryKey != nil else {
        throw EngineError(
          code: .schemaMismatch,
          message: "class \(described.name) has no primary key, by which clients would know its "
            + "objects; declare one")
      }
    }
    try write.createTable(SyncTable.schema)
    try ServerIdentity(realm: realm, epoch: epoch).store(in: write)
    try write.commit()
  }

  /// Copies the file, while clients go on.
  /// - Parameter path: The new file.
  /// - Throws: `EngineError` as `Database.writeCopy`.
  ///
  /// Durability: when the call returns, the copy survives any crash. It has the newest version, and
  /// is not served before it is restored.
  package func backUp(to path: String) throws(EngineError) {
    let write = try database.beginWrite()
    defer { write.cancel() }
    try Self.markBackup(write)
    try write.writeCopy(to: path, encryptionKey: nil)
  }

  /// Makes a file that was copied by other means a backup, so that it is not served as it is.
  /// - Throws: `EngineError`, as for a file that is not a server's.
  ///
  /// Durability: when the call returns, it survives any crash.
  package static func markBackup(_ copy: Database) throws(EngineError) {
    let write = try copy.beginWrite()
    defer { write.cancel() }
    try markBackup(write)
    try write.commit()
  }

  private static func markBackup(_ write: WriteTransaction) throws(EngineError) {
    var identity = try ServerIdentity(write)
    identity.isBackup = true
    try identity.store(in: write)
  }

  /// Whether a file is a backup that was not restored yet.
  package static func isBackup(_ version: some ReadableVersion) throws(EngineError) -> Bool {
    try ServerIdentity(version).isBackup
  }

  /// Gives a backup, or any other copy, an epoch of its own.
  /// - Parameters:
  ///   - configuration: How the copy is opened.
  ///   - epoch: A number that was never used for the realm.
  /// - Throws: `Realm.Error`, or `EngineError` with code `.schemaMismatch` for the epoch that the
  ///   copy has.
  ///
  /// Durability: when the call returns, it survives any crash.
  package static func restore(_ configuration: Realm.Configuration, epoch: UInt64) throws {
    let file = try RealmFile(configuration)
    try restore(file.database, epoch: epoch)
  }

  /// The same for an open database.
  package static func restore(_ database: Database, epoch: UInt64) throws(EngineError) {
    let write = try database.beginWrite()
    defer { write.cancel() }
    var identity = try ServerIdentity(write)
    guard identity.epoch != epoch else {
      throw EngineError(
        code: .schemaMismatch, message: "epoch \(epoch) is that of the file that was copied")
    }
    identity.epoch = epoch
    identity.isBackup = false
    try identity.store(in: write)
    try write.commit()
  }
}

extension SyncServerStore {
  /// A description of an error in the file; nil when there is none.
  ///
  /// For tests and the lab: the rows are the state of the newest version (I2), the log in memory is
  /// that of the file, and so are the clients, as far as they are durable.
  /// - Complexity: O(bytes).
  package func breach() throws(EngineError) -> String? {
    let snapshot = try database.snapshot()
    let (stored, log) = (try StoredLog(snapshot), machine.file.log)
    guard stored.file.log.chain(at: log.head) == log.chain(at: log.head),
      stored.file.log.head == log.head, stored.file.log.start == log.start
    else {
      return "the file has versions \(stored.file.log.start.number) to "
        + "\(stored.file.log.head.number), not \(log.start.number) to \(log.head.number)"
    }
    let state = try SyncState(reading: snapshot)
    guard state.digest == log.state.digest else {
      return "the rows have digest \(state.digest), the log \(log.state.digest)"
    }
    for record in machine.file.clients {
      let row = stored.file.clients[Int(record.client.number) - 1]
      guard row.nonce == record.nonce, row.offered == record.offered, row.mark == record.mark,
        row.isExpired == record.isExpired, row.lowest <= record.lowest
      else { return "client \(record.client.number) is stored as another" }
    }
    return nil
  }

  /// The state of the newest version.
  package func state() throws(EngineError) -> SyncState {
    try SyncState(reading: try database.snapshot())
  }

  /// The version before the first kept entry.
  package var keptFrom: SyncVersion { machine.file.log.start }

  /// The number of a client's last changeset that it has.
  package func lastSequence(of client: SyncClient) -> UInt64 {
    machine.file.log.lastSequence(of: client)
  }

  /// The kept entries.
  package var entries: [SyncEntry] { machine.file.log.entries }
}
