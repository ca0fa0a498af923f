// Database.swift: an open database: its current version, its pins and its one writer.
// Invariants: `current` is durable or was found by recovery; a sector of a pinned version, of the
// current one or of `fallback` is in no free span that a commit takes from; after a failed sync or
// root slot write `poison` is set and nothing is written any more.

import Synchronization

/// A database in one file, opened by one process at a time.
///
/// Any thread may call it. Errors are values: no content of the file makes a call trap.
public final class Database: Sendable {
  /// How a database is opened.
  public struct Options: Sendable {
    /// Whether a missing file is created; otherwise it is an error with code `.io`.
    public var createsMissing = true
    /// Whether `open` verifies every node instead of the header and the root path only.
    public var verifiesOnOpen = false
    /// The key of an encrypted database, 64 bytes; a new file is encrypted when there is one.
    ///
    /// An encrypted database is open in one process at a time.
    public var encryptionKey: [UInt8]?
    /// How much of an encrypted database is kept decrypted in memory; 1 MiB at least.
    ///
    /// One operation can exceed it by what it reads.
    public var pageCacheBytesMax = 64 << 20
    /// Where an encrypted database draws its salts from; a lab passes a seeded one.
    package var entropy = EntropySource.system

    /// The default options.
    public init() {}
  }

  struct State: Sendable {
    var current: VersionState
    var space: SpaceMap
    var fileSizeBytes: UInt64
    var fallback: Version?
    var pins: [Version: Int] = [:]
    var poison: EngineError?
    var isWriting = false
    var isClosed = false

    /// Versions that must stay whole, sorted.
    var live: [Version] {
      var versions = Array(pins.keys) + [current.version]
      if let fallback { versions.append(fallback) }
      return versions.sorted()
    }

    func checkOpen() throws(EngineError) {
      if isClosed { throw .closed("database") }
    }

    func checkWritable() throws(EngineError) {
      try checkOpen()
      guard let poison else { return }
      throw EngineError(
        code: .poisoned,
        message: "an earlier write to the medium failed (\(poison)); close and open again to see "
          + "what it holds", errno: poison.errno)
    }
  }

  let backend: any StorageBackend
  let state: Mutex<State>

  private init(_ backend: any StorageBackend, _ recovered: RecoveredFile, sizeBytes: UInt64) {
    self.backend = backend
    state = Mutex(
      State(
        current: recovered.state, space: recovered.space, fileSizeBytes: sizeBytes,
        fallback: recovered.fallback))
  }

  deinit {
    let wasClosed = state.withLock { state in state.isClosed }
    if !wasClosed { backend.close() }
  }

  /// Opens the database in a file, and creates it when there is none.
  ///
  /// The file is locked until the database is closed. A left-over of a creation that a crash
  /// interrupted (`path.creating`) is removed.
  /// - Parameters:
  ///   - path: The file.
  ///   - options: How to open.
  /// - Returns: The open database, at the newest version that the file holds.
  /// - Throws: `EngineError` with code `.locked`, `.notADatabase`, `.unsupportedFormat`,
  ///   `.corrupted`, `.truncated`, `.noSpace` or `.io`; with a key or an encrypted file also
  ///   `.invalidKey`, `.wrongKey`, `.keyNeeded`, `.notEncrypted`, `.forgedSlot`, `.swappedNode`
  ///   or `.rolledBackNode`.
  ///
  /// Durability: creation is complete, directory entry included, when the call returns.
  public static func open(
    path: String, options: Options = .init()
  ) throws(EngineError) -> Database {
    let backend: FileBackend
    do throws(EngineError) {
      backend = try DatabaseFile.open(path: path, options: options)
    } catch {
      guard error.code == .locked, FileInspection.isEncrypted(path: path) else { throw error }
      throw .encryptedInUse(path)
    }
    do throws(EngineError) {
      return try open(backend: backend, options: options)
    } catch {
      backend.close()
      throw error
    }
  }

  /// Opens the database that a backend holds; an empty backend becomes an empty database.
  /// - Parameters:
  ///   - backend: Keeps the bytes; belongs to the database from now on.
  ///   - options: How to open.
  /// - Returns: The open database, at the newest version that the backend holds.
  /// - Throws: `EngineError` as `open(path:options:)` does, without `.locked`.
  /// - Complexity: O(free list); no tree is read.
  public static func open(
    backend: any StorageBackend, options: Options = .init()
  ) throws(EngineError) -> Database {
    let access = try FileAccess(options)
    var mapping = try backend.map()
    var recovered = mapping.count == 0 ? nil : try Recovery.recover(mapping, access)
    if recovered == nil {
      try CreationImage.create(on: backend, key: access.key, entropy: access.entropy)
      mapping = try backend.map()
      recovered = try Recovery.recover(mapping, access)
    }
    guard let recovered else {
      throw .corrupted("\(backend.path): the backend does not keep what creation wrote")
    }
    let database = Database(backend, recovered, sizeBytes: UInt64(mapping.count))
    if options.verifiesOnOpen { _ = try database.verify() }
    return database
  }

  /// The newest version.
  public var version: Version { state.withLock { $0.current.version } }

  /// Starts the one write transaction.
  /// - Returns: The transaction; it sees the newest version and its own changes.
  /// - Throws: `EngineError` with code `.busy` when a write transaction is open in this process,
  ///   `.poisoned` or `.closed`.
  public func beginWrite() throws(EngineError) -> WriteTransaction {
    let base = try state.withLock { state throws(EngineError) -> VersionState in
      try state.checkWritable()
      guard !state.isWriting else {
        throw EngineError(
          code: .busy, message: "a write transaction is open; commit or cancel it first")
      }
      state.isWriting = true
      return state.current
    }
    return WriteTransaction(self, base)
  }

  /// Pins the newest version and returns its content.
  /// - Returns: The snapshot; it stays the same whatever is committed later.
  /// - Throws: `EngineError` with code `.closed`.
  public func snapshot() throws(EngineError) -> Snapshot {
    let current = try state.withLock { state throws(EngineError) -> VersionState in
      try state.checkOpen()
      state.pins[state.current.version, default: 0] += 1
      return state.current
    }
    return Snapshot(self, current)
  }

  func unpin(_ version: Version) {
    state.withLock { state in
      let count = state.pins[version] ?? 0
      precondition(count > 0, "a pin is given back once")
      state.pins[version] = count == 1 ? nil : count - 1
    }
  }

  /// Runs the commit protocol for a transaction and publishes its version.
  func commit(
    _ tables: [MutableTable], releasing writer: TreeWriter, base: VersionState
  ) throws(EngineError) -> Version {
    let start = try state.withLock { state throws(EngineError) -> (SpaceMap, UInt64) in
      try state.checkWritable()
      precondition(state.isWriting, "a commit belongs to the open write transaction")
      precondition(state.current.version == base.version, "there is one writer")
      // A snapshot taken from here on pins the base version, which is live already.
      state.space.reclaim(live: state.live)
      return (state.space, state.fileSizeBytes)
    }
    let section = base.reader.beginReading()
    defer { section.end() }
    do throws(CommitFailure) {
      let result = try CommitWriter(backend: backend, base: base).commit(
        tables, releasing: writer, space: start.0, fileSizeBytes: start.1)
      state.withLock { state in
        state.current = result.state
        state.space = result.space
        state.fileSizeBytes = result.fileSizeBytes
        state.fallback = nil
      }
      return result.state.version
    } catch {
      if error.poisons { state.withLock { state in state.poison = error.error } }
      throw error.error
    }
  }

  func endWrite() {
    state.withLock { state in state.isWriting = false }
  }

  /// Closes the database and lets go of its file.
  /// - Throws: `EngineError` with code `.busy` while a write transaction is open or a snapshot is
  ///   not released: another process could write over what it reads. Closing twice is no error.
  public func close() throws(EngineError) {
    let mustClose = try state.withLock { state throws(EngineError) -> Bool in
      guard !state.isClosed else { return false }
      guard !state.isWriting, state.pins.isEmpty else {
        throw EngineError(
          code: .busy,
          message: "open write transactions: \(state.isWriting ? 1 : 0), pinned versions: "
            + "\(state.pins.count); end and release them first")
      }
      state.isClosed = true
      return true
    }
    if mustClose { backend.close() }
  }
}
