// NoteFile.swift: how a commit wakes the threads of all processes that wait for a change.
// Invariants: a waiter registers in the shared memory first and then reads the published version; a
// committer publishes first and then looks for waiters. Both are sequentially consistent, so one of
// the two sees the other, and no wake-up is lost. The FIFO carries no content: a byte in it means
// "look", and the next announcement removes it first, so that the FIFO is empty before each byte
// and the byte's arrival wakes every process that polls. Where a FIFO cannot be made, waiters sleep
// on a word of the shared memory instead, and read the version at least every 100 ms.

import Synchronization

/// The note file of a database, or its replacement.
final class NoteFile: Sendable {
  /// Longest sleep without looking, with a FIFO and without.
  static let roundMilliseconds = 1000
  static let fallbackRoundMilliseconds = 100

  /// nil when a FIFO cannot be made.
  let path: String?
  let region: SharedRegion
  private let schedule: ScheduleHook?
  /// Descriptor for ringing; -1 when opening failed, nil before the first ring.
  private let bell = Mutex<Int32?>(nil)

  init(path: String?, region: SharedRegion, schedule: ScheduleHook? = nil) {
    self.path = path
    self.region = region
    self.schedule = schedule
  }

  /// Opens a descriptor to listen at; nil when there can be no FIFO.
  func open() -> Int32? {
    guard let path, Syscalls.makeFIFO(path) == nil,
      case .success(let descriptor) = Syscalls.openFIFO(path)
    else { return nil }
    return descriptor
  }

  /// Wakes all waiters; called after a version was published.
  /// - Complexity: Two loads without waiters, else one or two system calls.
  func announce() {
    schedule?.meet(.load, .listeners)
    if region.load32(RegionLayout.sleeperCountOffset) != 0 {
      region.add32(1, at: RegionLayout.changeCountOffset)
      region.wakeAll(at: RegionLayout.changeCountOffset)
    }
    schedule?.meet(.load, .listeners)
    guard region.load32(RegionLayout.listenerCountOffset) != 0 else { return }
    bell.withLock { bell in
      if bell == nil || bell == -1 { bell = open() ?? -1 }
      if let descriptor = bell, descriptor >= 0 { Syscalls.ring(descriptor) }
    }
  }

  /// Closes the descriptor opened for announcements.
  func close() {
    bell.withLock { bell in
      if let descriptor = bell, descriptor >= 0 { Syscalls.close(descriptor) }
      bell = nil
    }
  }
}
