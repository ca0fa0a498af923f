// FutexWord.swift [U]: four bytes that threads of this process sleep on.

import Synchronization

/// A flag that one thread waits for and another one raises, once.
@safe final class FutexWord: @unchecked Sendable {
  // Safety: allocated in init, freed in deinit, accessed through atomics and the kernel only; both
  // sides hold a reference during their calls.
  private let word: UnsafeMutablePointer<Atomic<UInt32>>

  init() {
    unsafe word = .allocate(capacity: 1)
    unsafe word.initialize(to: Atomic(0))
  }

  deinit {
    unsafe word.deinitialize(count: 1)
    unsafe word.deallocate()
  }

  /// Raises the flag and wakes whoever waits.
  func raise() {
    unsafe word.pointee.store(1, ordering: .sequentiallyConsistent)
    unsafe Syscalls.futexWake(UnsafeMutableRawPointer(word))
  }

  /// Whether the flag is raised.
  private var isRaised: Bool { unsafe word.pointee.load(ordering: .sequentiallyConsistent) != 0 }

  /// Waits for the flag; nil waits without end.
  /// - Parameters:
  ///   - deadline: When to give up.
  ///   - reason: What the flag stands for.
  ///   - schedule: Who waits in our place, if anybody does.
  /// - Returns: Whether the flag was raised in time.
  func wait(
    until deadline: Deadline, for reason: ScheduleWait, under schedule: ScheduleHook?
  ) -> Bool {
    if let schedule {
      return schedule.wait(reason, deadline.isBounded) { [self] in isRaised }
    }
    while !isRaised {
      let left = deadline.millisecondsLeft
      if left == 0 { return false }
      unsafe Syscalls.futexWait(
        UnsafeMutableRawPointer(word), expecting: 0, timeoutMilliseconds: left)
    }
    return true
  }
}

/// When a wait ends.
struct Deadline {
  /// A moment of the monotonic clock; nil never comes.
  private let moment: UInt64?

  /// So many milliseconds from now; nil never comes.
  init(milliseconds: Int?) {
    moment = milliseconds.map { UInt64(max($0, 0)) &+ Syscalls.monotonicMilliseconds() }
  }

  /// Whether it ever comes.
  var isBounded: Bool { moment != nil }

  /// nil when the deadline never comes, 0 when it is over.
  var millisecondsLeft: Int? {
    guard let moment else { return nil }
    let now = Syscalls.monotonicMilliseconds()
    return moment > now ? Int(clamping: moment - now) : 0
  }
}
