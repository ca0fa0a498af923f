// Wakeup.swift [U]: how a realm is notified of new versions from any thread or process. Invariants:
// at most one request is pending at the owner; this object does not keep the realm alive.

import Engine
import Synchronization

/// The bell of one realm.
@safe final class Wakeup: @unchecked Sendable {
  // Safety: the atomics and the mutex; the realm itself is used by its owner only.
  private let isDue = Atomic<Bool>(false)
  /// The version that the realm is at.
  let position = Atomic<UInt64>(0)
  private let scheduler = Mutex<Scheduler?>(nil)
  private let lost = Mutex<EngineError?>(nil)
  weak var core: _RealmCore?

  /// Where to schedule the refresh; nil until there is a listener.
  var place: Scheduler? {
    get { scheduler.withLock { $0 } }
    set { scheduler.withLock { $0 = newValue } }
  }

  /// The error that ended notifications of commits; nil while they work.
  var failure: EngineError? { lost.withLock { $0 } }

  /// Makes the realm report to its observers that notifications have ended; the first error is
  /// kept.
  func fail(_ error: EngineError) {
    lost.withLock { lost in if lost == nil { lost = error } }
    schedule()
  }

  /// Schedules a refresh of the realm.
  func schedule() {
    guard let place, !isDue.exchange(true, ordering: .acquiringAndReleasing) else { return }
    place.run { [self] in
      isDue.store(false, ordering: .releasing)
      core?.tick()
    }
  }
}
