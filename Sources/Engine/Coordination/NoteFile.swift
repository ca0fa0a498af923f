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

  /// Wakes everybody who waits; called after a version was published.
  /// - Complexity: Two loads when nobody waits, else one or two system calls.
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

  /// Closes what ringing opened.
  func close() {
    bell.withLock { bell in
      if let descriptor = bell, descriptor >= 0 { Syscalls.close(descriptor) }
      bell = nil
    }
  }
}
