// WriterLock.swift: one writer across threads and processes. Threads of this process queue up in
// memory, in order of arrival; the first of them takes the lock of a byte of the lock file, which
// the kernel releases however its holder dies. Invariants: at most one thread of all processes is
// between lock and unlock; a lock is not tied to a thread, so a transaction may move to another. A
// process that has to wait takes the entry byte before the writer byte and releases it afterwards:
// so at most one process waits for the writer byte. It sets a word of the region meanwhile, and
// while that is set no process tries the writer byte without the entry byte; so a process that has
// just unlocked cannot overtake it. When a waiter dies the word stays set until the next waiter has
// the lock.

import Synchronization

/// The lock that a write transaction holds from its begin to its end.
final class WriterLock: Sendable {
  private struct Waiter: Sendable {
    let thread: Int32
    let group: ObjectIdentifier?
    let flag: FutexWord
  }

  private struct State: Sendable {
    /// The thread that was given the lock; 0 when it is free, below 0 when it is on its way to
    /// another thread.
    var holder: Int32 = 0
    /// Whether the holder received the file lock together with its turn.
    var isFileLocked = false
    var waiters: [Waiter] = []
  }

  /// Bytes of the lock file used for the two locks.
  static let entryByte = 3
  static let writerByte = 4

  private let state = Mutex(State())
  /// The lock file; -1 when the queue of this process is all there is.
  private let descriptor: Int32
  private let path: String
  /// Where waiters for the file lock register; nil when there are no other processes.
  private let region: SharedRegion?
  private let schedule: ScheduleHook?

  init(
    descriptor: Int32, path: String, region: SharedRegion? = nil, schedule: ScheduleHook? = nil
  ) {
    self.descriptor = descriptor
    self.path = path
    self.region = region
    self.schedule = schedule
  }

  /// Takes the lock.
  /// - Parameters:
  ///   - timeoutMilliseconds: How long to wait; nil means without limit, 0 not at all.
  ///   - group: The group within which a turn may be passed on to the caller; see `passOn`.
  /// - Throws: `EngineError` with code `.busy`, also when this thread was given the lock and has
  ///   not given it back: it would wait for itself.
  func lock(
    timeoutMilliseconds: Int?, group: ObjectIdentifier? = nil
  ) throws(EngineError) {
    let deadline = Deadline(milliseconds: timeoutMilliseconds)
    let thread = Syscalls.threadID
    schedule?.reach(.askForTurn)
    let waiter = try state.withLock { state throws(EngineError) -> Waiter? in
      if state.holder == 0 {
        state.holder = thread
        return nil
      }
      if state.holder == thread {
        throw Self.busy("this thread has a write transaction open; commit or cancel it first")
      }
      if timeoutMilliseconds == 0 {
        throw Self.busy("thread \(state.holder) has a write transaction open; try again later")
      }
      let waiter = Waiter(thread: thread, group: group, flag: FutexWord())
      state.waiters.append(waiter)
      return waiter
    }
    if let waiter, !waiter.flag.wait(until: deadline, for: .turn, under: schedule), leave(waiter) {
      throw Self.busy(
        "no write transaction could begin within \(timeoutMilliseconds ?? 0) ms; \(waiterCount) "
          + "threads of this process wait")
    }
    schedule?.reach(.takeTurn)
    let isFileLocked = state.withLock { $0.isFileLocked }
    guard descriptor >= 0, !isFileLocked else { return }
    do throws(EngineError) {
      try lockFile(deadline)
    } catch {
      handOver()
      throw error
    }
  }

  /// Sets the owner of the held lock: the calling thread, or none during a handover.
  func assign(toCaller: Bool) {
    let holder = toCaller ? Syscalls.threadID : -1
    state.withLock { state in state.holder = holder }
  }

  /// Releases the lock; the thread that has waited longest is next.
  func unlock() {
    schedule?.reach(.giveTurn)
    if descriptor >= 0 {
      _ = Syscalls.lock(descriptor, .none, from: Self.writerByte, count: 1)
    }
    handOver()
  }

  /// Passes the turn and the file lock to the thread that has waited longest if it is in the same
  /// group; otherwise returns false, and the caller keeps both.
  func passOn(to group: ObjectIdentifier) -> Bool {
    let next = state.withLock { state -> Waiter? in
      guard let next = state.waiters.first, next.group == group else { return nil }
      state.waiters.removeFirst()
      state.holder = next.thread
      state.isFileLocked = true
      return next
    }
    next?.flag.raise()
    return next != nil
  }

  /// Threads of this process that wait.
  var waiterCount: Int { state.withLock { $0.waiters.count } }

  /// Leaves the queue; false when this thread has just been given the lock.
  private func leave(_ waiter: Waiter) -> Bool {
    state.withLock { state in
      guard let index = state.waiters.firstIndex(where: { $0.flag === waiter.flag }) else {
        return false
      }
      state.waiters.remove(at: index)
      return true
    }
  }

  private func handOver() {
    let next = state.withLock { state -> Waiter? in
      state.isFileLocked = false
      guard !state.waiters.isEmpty else {
        state.holder = 0
        return nil
      }
      let next = state.waiters.removeFirst()
      state.holder = next.thread
      return next
    }
    next?.flag.raise()
  }

  private func lockFile(_ deadline: Deadline) throws(EngineError) {
    if region?.load(RegionLayout.writerWaitsOffset) == 0,
      Syscalls.lock(descriptor, .exclusive, from: Self.writerByte, count: 1, waits: false) == nil
    {
      return
    }
    try take(Self.entryByte, deadline)
    region?.store(1, at: RegionLayout.writerWaitsOffset)
    defer {
      region?.store(0, at: RegionLayout.writerWaitsOffset)
      _ = Syscalls.lock(descriptor, .none, from: Self.entryByte, count: 1)
    }
    try take(Self.writerByte, deadline)
  }

  /// Sleeps in the kernel when there is no deadline; else polls at growing intervals.
  private func take(_ byte: Int, _ deadline: Deadline) throws(EngineError) {
    var pause = 1
    while true {
      let left = deadline.millisecondsLeft
      let failure = Syscalls.lock(
        descriptor, .exclusive, from: byte, count: 1, waits: left == nil)
      guard let failure else { return }
      guard failure == .wouldBlock || failure == .accessDenied else {
        throw .syscall("fcntl(F_OFD_SETLK)", path, errno: failure.number)
      }
      guard let left, left > 0 else {
        throw Self.busy("another process has a write transaction open on \(path); try again later")
      }
      Syscalls.sleep(milliseconds: min(pause, left))
      pause = min(pause * 2, 8)
    }
  }

  private static func busy(_ message: String) -> EngineError {
    EngineError(code: .busy, message: message)
  }
}
