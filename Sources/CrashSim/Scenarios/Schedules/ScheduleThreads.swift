// ScheduleThreads.swift: threads that live as long as a search, so that a run of microseconds does
// not begin with the making of threads. Invariant: a thread does one piece of work at a time.

import Dispatch
import Foundation
import Synchronization

/// A thread for each actor, for one run after another.
final class ScheduleThreads: Sendable {
  private final class Seat: Sendable {
    let work = Mutex<(@Sendable () -> Void)?>(nil)
    let hasWork = DispatchSemaphore(value: 0)

    /// Does what it is given, and ends when it is given nothing.
    func serve() {
      while true {
        hasWork.wait()
        let next = work.withLock { work in
          defer { work = nil }
          return work
        }
        guard let next else { return }
        next()
      }
    }
  }

  private let seats: [Seat]

  /// Starts the threads.
  init(count: Int) {
    seats = (0..<count).map { _ in Seat() }
    for (number, seat) in seats.enumerated() {
      let thread = Thread { seat.serve() }
      thread.name = "actor \(number)"
      thread.start()
    }
  }

  deinit {
    for seat in seats { seat.hasWork.signal() }
  }

  /// Has a thread do something; it has nothing else to do.
  func start(_ number: Int, _ work: @escaping @Sendable () -> Void) {
    seats[number].work.withLock { $0 = work }
    seats[number].hasWork.signal()
  }
}
