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

  /// Raises the flag and wakes all waiters.
  func raise() {
    unsafe word.pointee.store(1, ordering: .sequentiallyConsistent)
    unsafe Syscalls.futexWake(UnsafeMutableRawPointer(word))
  }

  /// Whether the flag is raised.
  private var isRaised: Bool { unsafe word.pointee.load(ordering: .sequentiallyConsistent) != 0 }

  /// Waits for the flag; nil waits without end.
  /// - Parameters:
  ///   - deadline: When to stop waiting.
  ///   - reason: The meaning of the flag.
  ///   - schedule: The schedule that waits in place of this thread, if there is one.
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
  /// A moment of the monotonic clock; nil means no deadline.
  private let moment: UInt64?

  /// This many milliseconds from now; nil means no deadline.
  init(milliseconds: Int?) {
    moment = milliseconds.map { UInt64(max($0, 0)) &+ Syscalls.monotonicMilliseconds() }
  }

  /// Whether there is a deadline.
  var isBounded: Bool { moment != nil }

  /// nil without a deadline, 0 after it has passed.
  var millisecondsLeft: Int? {
    guard let moment else { return nil }
    let now = Syscalls.monotonicMilliseconds()
    return moment > now ? Int(clamping: moment - now) : 0
  }
}
