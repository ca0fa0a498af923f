// ChangeWatcher.swift: waiting for the versions that other processes publish.

import Synchronization

/// Waits for versions published by any process; made by `Database.makeChangeWatcher()`.
///
/// One thread at a time waits with a watcher. It keeps the database's files open, but pins no
/// version.
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

  /// A descriptor that polls readable when a version was published (edge-triggered: read
  /// `Database.version` after each event), or nil where the file system has no FIFOs.
  public var descriptor: Int32? { poll >= 0 ? poll : nil }

  /// Whether `cancel` was called.
  public var isCancelled: Bool { isAtEnd.load(ordering: .acquiring) }

  /// Cancels waiting: a `wait` in progress, and every later one, returns at once.
  ///
  /// Any thread may call it. Other waiters wake up and check again.
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
