// CoordinationSession.swift: what the handles of this process share about one database. Invariants:
// one session per process and lock file, the registry keeps it while a handle uses it, and finds it
// while one of its files is still at its path; a database without a lock file has its own session
// over anonymous memory and runs the same code. A child of fork has no session: its parent's locks
// and slots do not belong to it.

import Synchronization

/// External dependencies of coordination, so that tests can replace them.
package struct CoordinationSettings: Sendable {
  var processes = ProcessTable.system
  package var now: @Sendable () -> UInt64 = { Syscalls.monotonicMilliseconds() }
  /// Another registry simulates another process; nil is the registry of this process.
  var registry: CoordinationRegistry?
  /// Whether waiters may use a FIFO.
  package var allowsFIFO = true
  /// Called by a reader that has read the published version and not stored it in its slot yet.
  var beforePin: (@Sendable () -> Void)?
  /// Called before each store that publishes a version, with its number: a place to die at.
  package var beforePublishStore: (@Sendable (Int) -> Void)?
  /// Decides which thread continues at each `SchedulePoint`, for a lab; nil leaves it to the
  /// kernel.
  package var schedule: ScheduleHook?
  /// Whether the session is for reading, which needs no space for the lock file.
  var isForReading = false
  /// Wraps the backend of the data file once it is open.
  package var decorate: (@Sendable (any StorageBackend) -> any StorageBackend)?

  init() {}
}

/// The shared memory and the locks of one database in this process.
final class CoordinationSession: Sendable {
  let region: SharedRegion
  let publication: Publication
  let slots: ReaderSlots
  let writerLock: WriterLock
  let note: NoteFile
  let owner: ProcessOwner
  let now: @Sendable () -> UInt64
  let beforePin: (@Sendable () -> Void)?
  let schedule: ScheduleHook?
  private let lockFile: LockFile?
  private let generation = Syscalls.forkGeneration

  private init(
    _ region: SharedRegion, _ lockFile: LockFile?, note: String?, settings: CoordinationSettings
  ) {
    self.region = region
    self.lockFile = lockFile
    now = settings.now
    beforePin = settings.beforePin
    schedule = settings.schedule
    publication = Publication(
      region: region, beforeStore: settings.beforePublishStore, schedule: settings.schedule)
    owner =
      lockFile == nil
      ? ProcessOwner(pid: Syscalls.processID, startTime: 0) : settings.processes.current()
    slots = ReaderSlots(
      region: region, processes: settings.processes, owner: owner, schedule: settings.schedule
    ) { count in
      guard let lockFile, region.isInFile else { return nil }
      do throws(EngineError) {
        try lockFile.allocate(slotCount: count)
        try region.touch(0..<RegionLayout.sizeBytes(slotCount: count), path: lockFile.path)
      } catch { return error }
      return nil
    }
    writerLock = WriterLock(
      descriptor: lockFile?.descriptor ?? -1, path: lockFile?.path ?? "memory", region: region,
      schedule: settings.schedule)
    self.note = NoteFile(path: note, region: region, schedule: settings.schedule)
  }

  /// A session for one handle, without files.
  static func anonymous(
    _ path: String, settings: CoordinationSettings = .init()
  ) throws(EngineError) -> CoordinationSession {
    let region = try SharedRegion(descriptor: -1, path: path)
    region.store32(UInt32(RegionLayout.slotCountMin), at: RegionLayout.slotCountOffset)
    return CoordinationSession(region, nil, note: nil, settings: settings)
  }

  /// Opens the lock file; `whenAlone` runs before any other handle may join, and publishes the
  /// version in the data file.
  static func open(
    _ database: String, settings: CoordinationSettings,
    whenAlone: (CoordinationSession) throws(EngineError) -> Void
  ) throws(EngineError) -> CoordinationSession {
    for _ in 0..<100 {
      guard
        let lockFile = try LockFile.open(for: database, isForReading: settings.isForReading)
      else { return try openUnwritable(database, settings, whenAlone) }
      do throws(EngineError) {
        let entry = try lockFile.enter()
        guard try lockFile.isInPlace() else {
          lockFile.close()
          continue
        }
        let note = settings.allowsFIFO ? database + ".note" : nil
        guard case .alone = entry else {
          let region = try lockFile.joinRegion(namespaceID: settings.processes.namespaceID)
          return CoordinationSession(region, lockFile, note: note, settings: settings)
        }
        ManagementFolder.sweep(for: database)
        let region = try makeRegion(lockFile, settings)
        region.store(settings.processes.namespaceID, at: RegionLayout.namespaceOffset)
        region.store32(UInt32(RegionLayout.slotCountMin), at: RegionLayout.slotCountOffset)
        let session = CoordinationSession(region, lockFile, note: note, settings: settings)
        try whenAlone(session)
        region.store(RegionLayout.layoutWord, at: RegionLayout.layoutOffset)
        region.store(RegionLayout.magic, at: RegionLayout.magicOffset)
        if region.isInFile {
          try lockFile.becomeMember()
        } else {
          // Nobody else sees this process's pins, so all others stay out until it is done.
          _ = lockFile.tryExclusive(forLong: true)
        }
        return session
      } catch {
        lockFile.close()
        throw error
      }
    }
    throw EngineError(
      code: .locked,
      message: "\(database).lock is being replaced by others; leave it alone and open again")
  }

  /// A session on a file system that is mounted for reading only: its memory is this process's.
  private static func openUnwritable(
    _ database: String, _ settings: CoordinationSettings,
    _ whenAlone: (CoordinationSession) throws(EngineError) -> Void
  ) throws(EngineError) -> CoordinationSession {
    let lockFile = try LockFile.guarding(database)
    do throws(EngineError) {
      let region = try SharedRegion(descriptor: -1, path: LockFile.path(for: database))
      region.store(settings.processes.namespaceID, at: RegionLayout.namespaceOffset)
      region.store32(UInt32(RegionLayout.slotCountMin), at: RegionLayout.slotCountOffset)
      let session = CoordinationSession(region, lockFile, note: nil, settings: settings)
      try whenAlone(session)
      return session
    } catch {
      lockFile?.close()
      throw error
    }
  }

  /// The memory that the members share; for a reader on a full disk, memory of this process.
  private static func makeRegion(
    _ lockFile: LockFile, _ settings: CoordinationSettings
  ) throws(EngineError) -> SharedRegion {
    do throws(EngineError) { return try lockFile.makeRegion() } catch {
      guard settings.isForReading, error.code == .noSpace else { throw error }
      return try SharedRegion(descriptor: -1, path: lockFile.path)
    }
  }

  /// Whether this is a child of the process that opened the session.
  @inline(__always)
  var isForked: Bool { Syscalls.forkGeneration != generation }

  /// The data file that the members use.
  var dataFile: FileIdentity {
    FileIdentity(
      device: region.load(RegionLayout.deviceOffset),
      inode: region.load(RegionLayout.inodeOffset))
  }

  /// Records which data file members use: at first open, and after an exclusive member replaced it.
  func setDataFile(_ identity: FileIdentity) {
    region.store(identity.device, at: RegionLayout.deviceOffset)
    region.store(identity.inode, at: RegionLayout.inodeOffset)
  }

  /// Whether neither the lock file nor the data file is at its path any more: both were removed,
  /// and a process that opens the path now shares nothing with the handles that still have them
  /// open.
  fileprivate func isGone(from database: String) throws(EngineError) -> Bool {
    guard let lockFile, try !lockFile.isInPlace() else { return false }
    return try FileIdentity.at(database) != dataFile
  }

  /// Takes a reader slot that pins nothing yet.
  func claimSlot() throws(EngineError) -> Int {
    try slots.claim(thread: Syscalls.threadID, now: now())
  }

  fileprivate func tryExclusive(forLong: Bool) -> Bool {
    lockFile?.tryExclusive(forLong: forLong) ?? true
  }

  fileprivate func endExclusive() { lockFile?.endExclusive() }

  /// Closes the files; a child of fork leaves its parent's locks alone.
  fileprivate func close() {
    note.close()
    if !isForked { lockFile?.close() }
  }
}

/// The sessions of this process, by lock file.
final class CoordinationRegistry: Sendable {
  /// State shared by all handles on one database.
  final class Entry: Sendable {
    fileprivate struct State: Sendable {
      var session: CoordinationSession?
      var isExclusive = false
    }
    fileprivate let key: String
    /// Held while a session is being opened, so that a second opener waits for it.
    fileprivate let state = Mutex(State())
    /// Handles that use the entry; guarded by the registry's mutex.
    fileprivate let userCount = Atomic<Int>(0)

    fileprivate init(_ key: String) { self.key = key }
  }

  /// The entries that an opener can find, by path: those that it may still join.
  private let entries = Mutex<[String: Entry]>([:])
  private let generation = Syscalls.forkGeneration

  private static let shared = Mutex<CoordinationRegistry?>(nil)

  /// The registry of this process; a child of fork begins with an empty one.
  static var current: CoordinationRegistry {
    shared.withLock { registry in
      if let registry, registry.generation == Syscalls.forkGeneration { return registry }
      let made = CoordinationRegistry()
      registry = made
      return made
    }
  }

  /// The path's one spelling: links are followed, as far as the folder exists.
  private static func key(_ database: String) -> String { Syscalls.realPath(of: database) }

  /// Adds a handle to the session of a database, which is opened when there is none.
  /// - Returns: The session, and the entry to detach from.
  func attach(
    _ database: String, settings: CoordinationSettings,
    whenAlone: (CoordinationSession) throws(EngineError) -> Void
  ) throws(EngineError) -> (session: CoordinationSession, entry: Entry) {
    let key = Self.key(database)
    while true {
      let entry = entries.withLock { entries in
        let entry = entries[key] ?? Entry(key)
        entries[key] = entry
        entry.userCount.add(1, ordering: .relaxed)
        return entry
      }
      do throws(EngineError) {
        let session = try entry.state.withLock { state throws(EngineError) in
          try Self.session(of: &state, key, settings, whenAlone)
        }
        if let session { return (session, entry) }
      } catch {
        detach(entry)
        throw error
      }
      // Its files were removed while handles had them open; no later opener finds this entry.
      entries.withLock { entries in if entries[key] === entry { entries[key] = nil } }
      detach(entry)
    }
  }

  /// The session of an entry, opened when there is none; nil when none of its files is at its path.
  private static func session(
    of state: inout Entry.State, _ database: String, _ settings: CoordinationSettings,
    _ whenAlone: (CoordinationSession) throws(EngineError) -> Void
  ) throws(EngineError) -> CoordinationSession? {
    if state.isExclusive {
      throw EngineError(
        code: .locked,
        message: "\(database): another handle of this process keeps all others out")
    }
    if let session = state.session { return try session.isGone(from: database) ? nil : session }
    let session = try CoordinationSession.open(database, settings: settings, whenAlone: whenAlone)
    state.session = session
    return session
  }

  /// Takes a handle away; with the last one the session is closed.
  func detach(_ entry: Entry) {
    guard generation == Syscalls.forkGeneration else { return }
    entries.withLock { entries in
      guard entry.userCount.subtract(1, ordering: .relaxed).newValue == 0 else { return }
      if entries[entry.key] === entry { entries[entry.key] = nil }
      entry.state.withLock { state in state.session?.close() }
    }
  }

  /// Keeps all other handles of all processes out; false when there are other handles.
  func tryExclusive(_ entry: Entry, forLong: Bool) -> Bool {
    entries.withLock { _ in
      guard entry.userCount.load(ordering: .relaxed) == 1 else { return false }
      return entry.state.withLock { state in
        guard let session = state.session, !state.isExclusive else { return false }
        state.isExclusive = session.tryExclusive(forLong: forLong)
        return state.isExclusive
      }
    }
  }

  /// Admits other handles again.
  func endExclusive(_ entry: Entry) {
    entry.state.withLock { state in
      guard state.isExclusive else { return }
      state.session?.endExclusive()
      state.isExclusive = false
    }
  }
}
