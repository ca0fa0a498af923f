// NoteFile.swift: how a commit wakes those who wait for a change, in all processes.
// Invariants: who waits says so in the shared memory first and looks at the published version
// afterwards; who commits publishes first and looks for waiters afterwards. Both are sequentially
// consistent, so one of the two sees the other, and no wake-up is lost. The FIFO carries no
// content: a byte in it means "look", and the next ring takes it out again, so that the FIFO was
// empty before each byte and its arrival wakes every process that polls. Where a FIFO cannot be
// made, waiters sleep on a word of the shared memory instead, and look at the version every 100 ms
// whatever happens.

import Synchronization

/// The note file of a database, or what stands in for it.
final class NoteFile: Sendable {
  /// Longest sleep without looking, with a FIFO and without.
  static let roundMilliseconds = 1000
  static let fallbackRoundMilliseconds = 100

  /// nil: there is no FIFO to be had.
  let path: String?
  let region: SharedRegion
  /// Descriptor for ringing; -1 when opening failed, nil before the first ring.
  private let bell = Mutex<Int32?>(nil)

  init(path: String?, region: SharedRegion) {
    self.path = path
    self.region = region
  }

  /// Opens a descriptor to listen at; nil when there can be no FIFO.
  func open() -> Int32? {
    guard let path, Syscalls.makeFIFO(path) == nil,
      case .success(let descriptor) = Syscalls.openFIFO(path)
    else { return nil }
    return descriptor
  }

  /// Wakes everybody who waits; called after a version was published.
  /// - Complexity: Two loads when nobody waits, else one or two system calls.
  func announce() {
    if region.load32(RegionLayout.sleeperCountOffset) != 0 {
      region.add32(1, at: RegionLayout.changeCountOffset)
      region.wakeAll(at: RegionLayout.changeCountOffset)
    }
    guard region.load32(RegionLayout.listenerCountOffset) != 0 else { return }
    bell.withLock { bell in
      if bell == nil || bell == -1 { bell = open() ?? -1 }
      if let descriptor = bell, descriptor >= 0 { Syscalls.ring(descriptor) }
    }
  }

  /// Closes what ringing opened.
  func close() {
    bell.withLock { bell in
      if let descriptor = bell, descriptor >= 0 { Syscalls.close(descriptor) }
      bell = nil
    }
  }
}

/// Waits for versions that any process publishes; made by `Database.makeChangeWatcher()`.
///
/// One thread at a time waits with a watcher. It keeps the database open files, but pins nothing.
public final class ChangeWatcher: Sendable {
  let database: Database
  private let region: SharedRegion
  /// Descriptors of the FIFO and of the poll on it; -1 without a FIFO.
  private let fifo: Int32
  private let poll: Int32
  private let isAtEnd = Atomic<Bool>(false)

  init(_ database: Database) {
    self.database = database
    region = database.session.region
    var descriptors: (fifo: Int32, poll: Int32) = (-1, -1)
    if let fifo = database.session.note.open() {
      switch Syscalls.makeEdgePoll(fifo) {
      case .success(let poll): descriptors = (fifo, poll)
      case .failure: Syscalls.close(fifo)
      }
    }
    (fifo, poll) = descriptors
    region.add32(1, at: countOffset)
  }

  deinit {
    if !database.session.isForked { region.add32(.max, at: countOffset) }
    guard poll >= 0 else { return }
    Syscalls.close(poll)
    Syscalls.close(fifo)
  }

  private var countOffset: Int {
    poll >= 0 ? RegionLayout.listenerCountOffset : RegionLayout.sleeperCountOffset
  }

  /// A descriptor that polls readable when a version was published (edge-triggered: look at
  /// `Database.version` after each event), or nil where the file system has no FIFOs.
  public var descriptor: Int32? { poll >= 0 ? poll : nil }

  /// Whether `cancel` was called.
  public var isCancelled: Bool { isAtEnd.load(ordering: .acquiring) }

  /// Ends the waiting: a `wait` that is going on, and every later one, returns at once.
  ///
  /// Any thread may call it. Others who wait for changes look once more.
  public func cancel() {
    isAtEnd.store(true, ordering: .sequentiallyConsistent)
    if !database.session.isForked { database.session.note.announce() }
  }

  /// Waits until a version later than `version` is published.
  /// - Parameters:
  ///   - version: The version that the caller knows.
  ///   - timeoutMilliseconds: How long to wait at most.
  /// - Returns: The newest version; `version` itself when the time was over, or `cancel` called.
  /// - Throws: `EngineError` with code `.closed` or `.forked`.
  public func wait(
    after version: Version, timeoutMilliseconds: Int
  ) throws(EngineError) -> Version {
    let deadline = Deadline(milliseconds: timeoutMilliseconds)
    while true {
      try database.checkUsable()
      // Read before the version: a change between the two makes the sleep below end at once.
      let count = region.load32(RegionLayout.changeCountOffset)
      let newest = database.version
      if newest > version { return newest }
      if isCancelled { return version }
      guard let left = deadline.millisecondsLeft, left > 0 else { return version }
      if poll >= 0 {
        Syscalls.waitEdge(poll, timeoutMilliseconds: min(left, NoteFile.roundMilliseconds))
      } else {
        region.wait(
          at: RegionLayout.changeCountOffset, expecting: count,
          timeoutMilliseconds: min(left, NoteFile.fallbackRoundMilliseconds))
      }
    }
  }
}
