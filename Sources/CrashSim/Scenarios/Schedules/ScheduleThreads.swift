// ScheduleThreads.swift: threads that live as long as a search, so that a run of microseconds need
// not create threads. Invariant: a thread does one piece of work at a time.

import Dispatch
import Foundation
import Synchronization

/// A thread for each actor, reused by consecutive runs.
final class ScheduleThreads: Sendable {
  private final class Seat: Sendable {
    let work = Mutex<(@Sendable () -> Void)?>(nil)
    let hasWork = DispatchSemaphore(value: 0)

    /// Runs the given work, and ends when there is none.
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

  /// Gives work to an idle thread.
  func start(_ number: Int, _ work: @escaping @Sendable () -> Void) {
    seats[number].work.withLock { $0 = work }
    seats[number].hasWork.signal()
  }
}
