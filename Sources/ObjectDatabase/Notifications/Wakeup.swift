// Wakeup.swift [U]: how a realm hears of new versions, from whichever thread or process.
// Invariants: at most one request waits at the owner; the realm is not kept alive from here.

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

  /// Where to ring; nil until somebody wants to hear.
  var place: Scheduler? {
    get { scheduler.withLock { $0 } }
    set { scheduler.withLock { $0 = newValue } }
  }

  /// Why nobody rings any more, and what is committed is not to be told; nil while somebody does.
  var failure: EngineError? { lost.withLock { $0 } }

  /// Has the realm tell its observers that nobody rings any more; the first reason stays.
  func fail(_ error: EngineError) {
    lost.withLock { lost in if lost == nil { lost = error } }
    schedule()
  }

  /// Has the realm look at what is new.
  func schedule() {
    guard let place, !isDue.exchange(true, ordering: .acquiringAndReleasing) else { return }
    place.run { [self] in
      isDue.store(false, ordering: .releasing)
      core?.tick()
    }
  }
}
