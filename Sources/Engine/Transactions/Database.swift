// Database.swift: an open database, with its newest version, its pins and its single writer.
// Invariants: a version is published once it is durable, or if the first opener found it; no free
// span that a commit takes from has a sector of a pinned version, of the newest one or of the
// published `fallback`; after a failed sync or root slot write no handle writes until all handles
// are closed. `State.current` is a version that was published, and may be older than the newest.

import Synchronization

/// A database in one file, open in any number of handles, threads and processes.
///
/// Any thread may call it. Errors are values: no content of the file makes a call trap. Next to the
/// file are `path.lock` (memory that the handles share), `path.note` (wakes waiters for changes)
/// and `path.management` (temporary files). All three may be removed while no handle is open; they
/// hold no lasting data.
public final class Database: Sendable {
  /// How a database is opened.
  public struct Options: Sendable {
    /// Whether a missing file is created; otherwise it is an error with code `.io`.
    ///
    /// The same applies to a file that is empty or holds only the beginning of a creation: if this
    /// is false, such a file is an error with code `.notADatabase`. A program that knows that its
    /// database exists sets it to false, so that a file that lost all its bytes is detected.
    public var createsMissing = true
    /// Whether `open` verifies every node instead of the header and the root path only.
    public var verifiesOnOpen = false
    /// What a commit guarantees when it returns.
    public var durability = Durability.full
    /// The number of syncs that make a commit durable.
    public var commitProtocol = CommitProtocol.twoPhase
    /// Whether a small commit may be edits in the root slot; a test of other commits says no.
    package var editsInSlots = true
    /// A callback before each step of each commit, for a lab.
    public var failpoint: Failpoint?
    /// Whether other handles, of this and of other processes, may have the file open too.
    ///
    /// If false, the file is locked for one handle, and no other files are created next to it.
    public var isShared = true
    /// Whether write transactions are refused, with code `.readOnly`.
    public var readOnly = false
    /// Versions that may be alive when a write transaction begins or commits, the newest included.
    ///
    /// Above that it is an error with code `.tooManyVersions`: snapshots are held too long.
    public var maximumNumberOfActiveVersions = Int.max
    /// Called by the first handle that opens the file, with the file's size and the part of it that
    /// is in use: whether to compact it before `open` returns.
    public var shouldCompactOnLaunch:
      (@Sendable (_ totalBytes: UInt64, _ usedBytes: UInt64) -> Bool)?
    /// Called before each step of making a compact file.
    package var newFileFailpoint: NewFileFailpoint?
    /// Whether commits of threads that wait in line share their syncs; see `CommitGroup`.
    public var groupedCommits = false
    /// The external dependencies of coordination.
    package var coordination = CoordinationSettings()
    /// The key of an encrypted database, 64 bytes; a new file is encrypted when there is one.
    ///
    /// An encrypted database is open in one process at a time.
    public var encryptionKey: [UInt8]?
    /// Bytes of an encrypted database that are kept decrypted in memory; 1 MiB at least.
    ///
    /// One operation can exceed it by the amount that it reads.
    public var pageCacheBytesMax = 64 << 20
    /// Whether the kernel reads what is near a page that is not in memory.
    ///
    /// It makes the first scan of a file fast. Set it to false for rows in random order in a file
    /// larger than memory: each page that is read ahead takes the place of another one then.
    public var readsAhead = true
    /// Where an encrypted database draws its salts from; a lab passes a seeded one.
    package var entropy = EntropySource.system
    /// Whether an empty backend's file has a temporary name until its creation ends, so that a file
    /// left by a crash is never opened.
    package var createsTemporary = false

    /// The default options.
    public init() {}
  }

  /// Free space according to one version, for the writer.
  struct WriterSpace: Sendable {
    let version: Version
    let map: SpaceMap
    let fileSizeBytes: UInt64
  }

  struct State: Sendable {
    var current: VersionState
    var space: WriterSpace?
    var group: CommitGroup?
    var poison: EngineError?
    var tail: TailState
    var evacuation = Evacuation()
    /// Opens of an in-memory database that are not closed yet.
    var openCount = 1
    var pinCount = 0
    var isWriting = false
    var isClosed = false

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
  /// The backend when it is a file, even when a lab has wrapped it.
  let file: FileBackend?
  let session: CoordinationSession
  let options: Options
  let state: Mutex<State>
  /// Where this handle is counted; nil without a lock file.
  private let attachment: (registry: CoordinationRegistry, entry: CoordinationRegistry.Entry)?

  init(
    _ backend: any StorageBackend, _ session: CoordinationSession, options: Options,
    current: VersionState, space: WriterSpace?,
    attachment: (registry: CoordinationRegistry, entry: CoordinationRegistry.Entry)? = nil
  ) {
    self.backend = options.coordination.decorate?(backend) ?? backend
    file = backend as? FileBackend
    self.session = session
    self.options = options
    self.attachment = attachment
    state = Mutex(State(current: current, space: space, tail: TailState(current)))
  }

  deinit {
    let wasClosed = state.withLock { state in state.isClosed }
    if !wasClosed { letGo() }
  }

  private func letGo() {
    backend.close()
    if let attachment { attachment.registry.detach(attachment.entry) }
  }

  var publication: Publication { session.publication }

  @inline(__always)
  func checkForked() throws(EngineError) {
    if session.isForked { throw forked }
  }

  private var forked: EngineError {
    @inline(never) get {
      EngineError(
        code: .forked,
        message: "\(backend.path) was opened by the parent of this process, which holds its locks "
          + "and pins; open it again here")
    }
  }

  /// Throws when the database is closed or belongs to a parent process.
  func checkUsable() throws(EngineError) {
    try checkForked()
    try state.withLock { state throws(EngineError) in try state.checkOpen() }
  }

  /// The newest version from any process.
  public var version: Version {
    let published = publication.version
    let known = knownVersion
    // A version word without its record is garbage, and an older one than this handle has read too.
    return published > known && publication.record(of: published) != nil ? published : known
  }

  /// The newest version that this handle has read or made.
  private var knownVersion: Version { state.withLock { $0.current.version } }

  /// Pins the newest version and returns its content.
  /// - Returns: The snapshot; later commits do not change it.
  /// - Throws: `EngineError` with code `.closed`, `.forked`, `.tooManyReaders`, or `.noSpace` when
  ///   the lock file cannot hold more reader slots.
  /// - Complexity: O(1) while no other handle commits; else the top node is read.
  public func snapshot() throws(EngineError) -> Snapshot {
    let (state, pin) = try pinNewest()
    return Snapshot(self, state, pin)
  }

  /// Pins the newest version; release it with `unpin`.
  func pinNewest() throws(EngineError) -> (VersionState, Pin) {
    try checkForked()
    try state.withLock { state throws(EngineError) in
      try state.checkOpen()
      state.pinCount += 1
    }
    session.schedule?.reach(.claimSlot)
    do throws(EngineError) {
      let slot = try session.claimSlot()
      do throws(EngineError) {
        return (try holdNewest(in: slot), Pin(slot: slot))
      } catch {
        session.slots.release(slot)
        throw error
      }
    } catch {
      state.withLock { state in state.pinCount -= 1 }
      throw error
    }
  }

  /// Retries of a reader that is overtaken by a commit each time; a commit takes far longer than a
  /// retry.
  private static let holdAttemptsMax = 1000

  private func holdNewest(in slot: Int) throws(EngineError) -> VersionState {
    for _ in 0..<Self.holdAttemptsMax {
      let known = knownVersion
      let version = publication.version
      guard version >= known else { throw damagedRegion() }
      session.beforePin?()
      session.schedule?.reach(.storePin)
      session.slots.store(version, in: slot)
      session.schedule?.reach(.checkPin)
      // See ReaderSlots: the version is held only if it is still the published one now.
      guard publication.version == version else { continue }
      if let state = try load(version) { return state }
    }
    throw damagedRegion()
  }

  private func damagedRegion() -> EngineError {
    EngineError(
      code: .corrupted,
      message: "the lock file of \(backend.path) publishes version \(publication.version), which "
        + "has no whole record or is older than version \(knownVersion) that was read; the next "
        + "write repairs it, or close all handles and open again")
  }

  /// The content of a published version that stays valid during the call; nil when its record was
  /// replaced.
  func load(_ version: Version) throws(EngineError) -> VersionState? {
    let known = state.withLock { $0.current }
    if known.version == version { return known }
    session.schedule?.reach(.refresh)
    guard let record = publication.record(of: version),
      let slot = try record.withEdits(in: known.reader.mapping)
    else { return nil }
    var reader = known.reader
    if slot.logicalSizeBytes > UInt64(reader.mapping.count) {
      reader = try known.reader.remapped(try backend.map())
    }
    let loaded = try VersionState(slot: slot, reader: reader, known: known.reader.edited)
    state.withLock { state in
      if state.current.version < version { state.current = loaded }
    }
    return loaded
  }

  func unpin(_ pin: Pin) {
    guard !session.isForked else { return }
    session.schedule?.reach(.unpin)
    session.slots.release(pin.slot)
    state.withLock { state in
      precondition(state.pinCount > 0, "a pin is given back once")
      state.pinCount -= 1
    }
  }

  /// The pins of all processes: version, owner and age.
  /// - Throws: `EngineError` with code `.closed` or `.forked`.
  /// - Complexity: O(reader slots).
  public func activePins() throws(EngineError) -> [PinRecord] {
    try checkUsable()
    return session.slots.records(now: session.now())
  }

  /// Waits until a version later than `version` is published, by this or any other process.
  /// - Parameters:
  ///   - version: The version that the caller knows.
  ///   - timeoutMilliseconds: How long to wait at most.
  /// - Returns: The newest version; `version` itself when the time was over.
  /// - Throws: `EngineError` with code `.closed` or `.forked`.
  public func waitForChange(
    after version: Version, timeoutMilliseconds: Int
  ) throws(EngineError) -> Version {
    try checkUsable()
    let newest = self.version
    guard newest <= version else { return newest }
    return try makeChangeWatcher().wait(
      after: version, timeoutMilliseconds: timeoutMilliseconds)
  }

  /// Makes a watcher that waits for changes repeatedly and that an event loop can poll.
  /// - Throws: `EngineError` with code `.closed` or `.forked`.
  public func makeChangeWatcher() throws(EngineError) -> ChangeWatcher {
    try checkUsable()
    return ChangeWatcher(self)
  }

  /// Excludes all other handles of all processes; false when there are any.
  ///
  /// Openers wait until `endExclusive`, or are refused with code `.locked` when it is for long.
  func tryExclusive(forLong: Bool = false) -> Bool {
    guard let attachment else { return true }
    return attachment.registry.tryExclusive(attachment.entry, forLong: forLong)
  }

  /// Admits other handles again.
  func endExclusive() {
    guard let attachment else { return }
    attachment.registry.endExclusive(attachment.entry)
  }

  /// Closes the database and its file.
  /// - Throws: `EngineError` with code `.busy` while a write transaction of this handle is open or
  ///   a snapshot is not released; `.forked` in a child. Closing twice is not an error.
  public func close() throws(EngineError) {
    try checkForked()
    let mustClose = try state.withLock { state throws(EngineError) -> Bool in
      guard !state.isClosed else { return false }
      if state.openCount > 1 {
        state.openCount -= 1
        return false
      }
      guard !state.isWriting, state.pinCount == 0 else {
        throw EngineError(
          code: .busy,
          message: "open write transactions: \(state.isWriting ? 1 : 0), snapshots: "
            + "\(state.pinCount); end and release them first")
      }
      state.isClosed = true
      // Whoever opens the file next must be able to drop what the cache holds of it, and the kernel
      // keeps pages that are mapped, however long the caller keeps this handle (decision 0773).
      state.current = state.current.unmapped
      state.group = nil
      return true
    }
    if mustClose { letGo() }
  }
}

/// A reader slot that holds a version.
struct Pin: Sendable {
  let slot: Int
}
