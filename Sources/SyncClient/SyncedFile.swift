// SyncedFile.swift: turns a file into a synchronized one, and makes the configurations that write
// it. Invariant: the tables of SyncTable.swift and the initial state of the objects are written in
// one transaction.

import Engine
import ObjectDatabase
import SyncCore

/// A file whose changes are recorded to be synchronized.
package struct SyncedFile: Sendable {
  /// A clock: milliseconds since 1970.
  package typealias Clock = @Sendable () -> UInt64

  /// A configuration that records what its realms change, in files that are synchronized.
  /// - Parameters:
  ///   - configuration: How the file is opened.
  ///   - now: The wall clock in milliseconds since 1970; it may be wrong or go back.
  /// - Returns: The same with recorders.
  package static func configuration(
    _ configuration: Realm.Configuration, now: @escaping Clock
  ) -> Realm.Configuration {
    var recorded = configuration
    recorded.recording = ChangeRecording(
      makeRecorder: { SyncRecorder(now: now) }, prepareCopy: prepareCopy)
    return recorded
  }

  /// Makes a file a synchronized one, unless it is.
  ///
  /// The file must not have objects yet, since their creation was not recorded.
  /// - Parameters:
  ///   - configuration: How the file is opened.
  ///   - realm: The realm's name at the server.
  /// - Throws: `Realm.Error`, or `EngineError` with code `.schemaMismatch` for a file with objects,
  ///   or of another realm.
  ///
  /// Durability: when the call returns, it survives any crash.
  package static func mark(_ configuration: Realm.Configuration, realm: String) throws {
    let database = try RealmFile(configuration).database
    let write = try database.beginWrite()
    defer { write.cancel() }
    if write.hasTable(SyncTable.name) {
      let known = try SyncIdentity(write).realm
      guard known == realm else {
        throw EngineError(
          code: .schemaMismatch, message: "the file is one of realm \(known), not of \(realm)")
      }
      return
    }
    for described in try FileClasses(write).all {
      let count = try write.count(of: described.table.name)
      guard count == 0 else {
        throw EngineError(
          code: .schemaMismatch,
          message: "the file has \(count) objects of \(described.name) that nobody recorded; copy "
            + "them into a new file")
      }
    }
    try write.createTable(SyncTable.schema)
    try SyncIdentity(realm: realm).store(in: write)
    try write.commit()
  }

  /// Removes the file's identity from a copy.
  private static func prepareCopy(_ write: WriteTransaction) throws(EngineError) {
    let count = try pending(write).count
    guard count == 0 else {
      throw EngineError(
        code: .busy,
        message: "\(count) changes have not reached the server, and would be in the copy without "
          + "ever reaching it; wait for them")
    }
    try SyncStage.remove(write)
    try PendingRows.replace(by: [], write)
    var identity = try SyncIdentity(write)
    identity.client = ClientFile.unnamed
    identity.secret = 0
    identity.nonce = 0
    identity.lastSequence = 0
    identity.mark = 0
    try identity.store(in: write)
  }

  /// The changesets of a version that have not reached the server, in their order.
  /// - Throws: `EngineError` with code `.noSuchTable` for a file that is not synchronized, or
  ///   `.corrupted`.
  package static func pending(
    _ version: some ReadableVersion
  ) throws(EngineError) -> [SyncChangeset] {
    try PendingRows.all(version, after: try SyncIdentity(version).lastSequence).changesets
  }

  /// The amounts that a version keeps besides its objects: pending changesets, entries, old states
  /// of objects, and parts of a log that is not whole.
  package static func keptCounts(
    _ version: some ReadableVersion
  ) throws(EngineError) -> (pending: Int, entries: Int, objects: Int, parts: Int) {
    let found = try PendingRows.all(version, after: try SyncIdentity(version).lastSequence)
    let objects = Set(try BaseRows.all(version).keys).union(found.olds.objects)
    return (
      found.changesets.count, try SyncTable.numbers(.window, version).count, objects.count,
      try SyncTable.numbers(.stage, version).filter { $0 > 0 }.count
    )
  }

  /// The objects of a version.
  /// - Complexity: O(bytes).
  package static func state(_ version: some ReadableVersion) throws(EngineError) -> SyncState {
    try SyncState(reading: version)
  }
}
