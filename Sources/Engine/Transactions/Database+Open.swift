// Database+Open.swift: how a handle opens a database: alone, reading everything from the file, or
// beside others that have published the newest version. Invariants: a handle that is alone reads
// the root slots and publishes the result before any other may join; a handle that joins never
// reads a slot, which may be partly written. Nothing is synced and nothing is written to the data
// file (decision 0003), except to create it.

extension Database {
  /// Opens the database in a file, and creates it when there is none.
  ///
  /// The first handle of all processes rewrites the lock file, whatever its content, and removes
  /// what a crash left: `path.creating` and the files in `path.management`.
  /// - Parameters:
  ///   - path: The file.
  ///   - options: How to open.
  /// - Returns: The open database, at the newest version.
  /// - Throws: `EngineError` with code `.locked`, `.incompatible`, `.notADatabase`,
  ///   `.unsupportedFormat`, `.corrupted`, `.truncated`, `.noSpace` or `.io`; with a key or an
  ///   encrypted file also `.invalidKey`, `.wrongKey`, `.keyNeeded`, `.notEncrypted`,
  ///   `.forgedSlot`, `.swappedNode` or `.rolledBackNode`.
  ///
  /// Durability: creation is complete, directory entry included, when the call returns.
  public static func open(
    path: String, options: Options = .init()
  ) throws(EngineError) -> Database {
    let database: Database
    do throws(EngineError) {
      // Decrypted nodes are in the memory of one process, so an encrypted file is not shared.
      let isShared = options.isShared && options.encryptionKey == nil
      database = isShared ? try openShared(path, options) : try openAlone(path, options)
    } catch {
      guard error.code == .locked, FileHeader.isEncrypted(path: path) else { throw error }
      throw .encryptedInUse(path)
    }
    if options.verifiesOnOpen { _ = try database.verify() }
    return database
  }

  /// Opens the database that a backend holds; an empty backend becomes an empty database.
  /// - Parameters:
  ///   - backend: Stores the bytes; owned by the database from now on, and by no other handle.
  ///   - options: How to open.
  /// - Returns: The open database, at the newest version that the backend holds.
  /// - Throws: `EngineError` as `open(path:options:)` does, without `.locked`.
  /// - Complexity: O(free list); no tree is read.
  public static func open(
    backend: any StorageBackend, options: Options = .init()
  ) throws(EngineError) -> Database {
    let session = try CoordinationSession.anonymous(
      backend.path, settings: options.coordination)
    let (recovered, space) = try recover(backend, into: session, try FileAccess(options))
    let database = Database(
      backend, session, options: options, current: recovered.state, space: space)
    if options.verifiesOnOpen { _ = try database.verify() }
    return database
  }

  private static func openAlone(
    _ path: String, _ options: Options
  ) throws(EngineError) -> Database {
    let backend = try DatabaseFile.open(path: path, options: options)
    do throws(EngineError) {
      var unverified = options
      unverified.verifiesOnOpen = false
      let database = try open(backend: backend, options: unverified)
      if let space = database.state.withLock({ $0.space }) { try database.compactOnLaunch(space) }
      return database
    } catch {
      backend.close()
      throw error
    }
  }

  private static func openShared(
    _ path: String, _ options: Options
  ) throws(EngineError) -> Database {
    // Do not leave a lock file without a database.
    let present = options.createsMissing ? nil : try FileIdentity.at(path)
    guard options.createsMissing || present != nil else {
      throw .syscall("open", path, errno: Syscalls.Errno.noSuchFile.number)
    }
    let registry = options.coordination.registry ?? .current
    var first: (backend: FileBackend, recovered: RecoveredFile, space: WriterSpace)?
    var settings = options.coordination
    settings.isForReading = options.readOnly
    let (session, entry) = try registry.attach(path, settings: settings) {
      session throws(EngineError) in
      let backend = try DatabaseFile.open(path: path, options: options)
      do throws(EngineError) {
        let identity = try backend.identity()
        let (recovered, space) = try recover(backend, into: session, try FileAccess(options))
        session.setDataFile(identity)
        try backend.shareLock()
        first = (backend, recovered, space)
      } catch {
        backend.close()
        throw error
      }
    }
    if let first {
      let database = Database(
        first.backend, session, options: options, current: first.recovered.state,
        space: first.space, attachment: (registry, entry))
      try database.compactOnLaunch(first.space)
      return database
    }
    do throws(EngineError) {
      return try join(path, options, session, (registry, entry))
    } catch {
      registry.detach(entry)
      throw error
    }
  }

  /// Joins other handles: the version comes from the lock file.
  private static func join(
    _ path: String, _ options: Options, _ session: CoordinationSession,
    _ attachment: (registry: CoordinationRegistry, entry: CoordinationRegistry.Entry)
  ) throws(EngineError) -> Database {
    let backend = try DatabaseFile.join(
      path: path, options: options, identity: session.dataFile)
    let slot: Int
    do throws(EngineError) { slot = try session.claimSlot() } catch {
      backend.close()
      throw error
    }
    defer { session.slots.release(slot) }
    do throws(EngineError) {
      let state = try newest(backend, session, slot)
      return Database(
        backend, session, options: options, current: state, space: nil, attachment: attachment)
    } catch {
      backend.close()
      throw error
    }
  }

  /// Reads the published version while a slot holds it.
  private static func newest(
    _ backend: FileBackend, _ session: CoordinationSession, _ slot: Int
  ) throws(EngineError) -> VersionState {
    for _ in 0..<1000 {
      let version = session.publication.version
      session.slots.store(version, in: slot)
      guard session.publication.version == version else { continue }
      guard let record = session.publication.record(of: version) else { continue }
      let mapping = try backend.map()
      let header = try mapping.checked { () throws(EngineError) in
        try UnverifiedFileHeader(mapping.bytes).verified()
      }
      if header.isEncrypted { throw .encryptedInUse(backend.path) }
      guard let slot = try record.withEdits(in: mapping) else { continue }
      return try VersionState(slot: slot, reader: NodeReader(mapping))
    }
    throw .corrupted(
      "\(backend.path).lock publishes no whole version; close all handles and open again")
  }

  /// Finds the newest version in the file, makes an empty file the empty database, and publishes.
  static func recover(
    _ backend: any StorageBackend, into session: CoordinationSession, _ access: FileAccess
  ) throws(EngineError) -> (RecoveredFile, WriterSpace) {
    try Recovery.forgetFreshNodes(of: backend, access)
    var mapping = try backend.map()
    var recovered = mapping.count == 0 ? nil : try Recovery.recover(mapping, access)
    if recovered == nil {
      guard access.createsMissing else {
        throw EngineError(
          code: .notADatabase,
          message: "\(backend.path): file_bytes=\(mapping.count) hold no database, only what a "
            + "creation begins with, and missing ones are not created here; restore it from a "
            + "copy, or open with createsMissing")
      }
      try CreationImage.create(
        on: backend, key: access.key, entropy: access.entropy,
        isTemporary: access.createsTemporary)
      mapping = try backend.map()
      recovered = try Recovery.recover(mapping, access)
    }
    guard let recovered else {
      throw .corrupted("\(backend.path): the backend does not keep what creation wrote")
    }
    // The version itself, when there is none before it: it is not known to be durable yet.
    session.publication.fallback = recovered.fallback ?? recovered.state.version
    session.publication.publish(recovered.state.slot)
    let space = WriterSpace(
      version: recovered.state.version, map: recovered.space,
      fileSizeBytes: UInt64(mapping.count))
    return (recovered, space)
  }
}
