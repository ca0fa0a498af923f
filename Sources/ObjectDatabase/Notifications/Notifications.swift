// Notifications.swift: which observers are notified when a realm advances to another version, and
// in which order. A realm advances at `refresh`, by autorefresh, at the begin of a write
// transaction and at its commit. At that moment, on the realm's own thread, every observer is
// advanced from its last version to the realm's. A callback may write: observers not yet notified
// get both changes at once, the others get the second one, after the callback has returned.
// Invariants: no call within a call; between calls all observers hold the version that the realm is
// at, or an older one while the realm has a write transaction open, and no other.

import Engine
import Synchronization

/// The observers of a realm.
final class Notifications {
  private struct Entry {
    weak var observer: Observer?
  }

  /// In the order in which they were made.
  private var entries: [Entry] = []
  private var isDelivering = false
  private let owners = MixedOwners()

  func add(_ observer: Observer) {
    entries.removeAll { $0.observer == nil }
    entries.append(Entry(observer: observer))
  }

  /// The observers whose token still exists.
  private var observers: [Observer] { entries.compactMap(\.observer).filter(\.isAlive) }

  /// Whether there are no observers.
  var isEmpty: Bool { observers.isEmpty }

  /// Makes the first calls that are due.
  func deliverInitials(_ core: _RealmCore) {
    guard !isDelivering, core.write == nil else { return }
    if let failure = core.wakeup.failure { return fail(failure) }
    isDelivering = true
    for observer in observers where observer.base == nil && observer.hasInitial {
      guard observer.isAlive, core.write == nil else { continue }
      run(observer) { () throws(EngineError) in
        observer.base = try core.currentSnapshot()
        try observer.begin()
      }
    }
    isDelivering = false
    // A callback may have written.
    deliver(core)
  }

  /// Takes every observer to the version that the realm is at.
  func deliver(_ core: _RealmCore) {
    guard !isDelivering else { return }
    if let failure = core.wakeup.failure { fail(failure) }
    isDelivering = true
    defer { isDelivering = false }
    var round: NotificationRound?
    var wasAnyCalled = true
    while wasAnyCalled {
      wasAnyCalled = false
      for observer in observers {
        guard let now = core.heldSnapshot else { return }
        guard observer.isAlive else { continue }
        if let observer = observer as? RealmObserver {
          if observer.note(now.version) { wasAnyCalled = true }
          continue
        }
        guard let base = observer.base, base !== now else { continue }
        guard base.version != now.version else {
          observer.base = now
          continue
        }
        wasAnyCalled = true
        run(observer) { () throws(EngineError) in
          if round?.older !== base || round?.newer !== now {
            round = nil
            round = try NotificationRound(core, from: base, to: now, owners)
          }
          observer.base = now
          if let round { try observer.advance(round) }
        }
      }
    }
  }

  /// Advances observers to the realm's version without notifying them of the changes.
  func skip(_ skipped: [Observer], to snapshot: Snapshot, _ core: _RealmCore) {
    for observer in skipped {
      if let base = observer.base {
        observer.base = snapshot
        if base.version != snapshot.version, observer.isAlive {
          run(observer) { () throws(EngineError) in
            try observer.follow(
              try NotificationRound(core, from: base, to: snapshot, owners))
          }
        }
      }
      _ = (observer as? RealmObserver)?.note(snapshot.version, isSkipped: true)
    }
  }

  /// Notifies the realm's observers that there is a newer version.
  func requireRefresh() {
    for observer in observers where observer.isAlive { observer.requireRefresh() }
  }

  /// The realm was invalidated: objects and collections are cut off, and versions let go.
  func cutOff() {
    for observer in observers {
      observer.base = nil
      if !(observer is RealmObserver) { observer.end() }
    }
  }

  /// Reports an error to the observers of objects and collections, as their last call.
  func fail(_ error: EngineError) {
    for observer in observers where observer.isAlive && !(observer is RealmObserver) {
      observer.end()
      observer.base = nil
      observer.fail(Realm.Error(error))
    }
  }

  private func run(_ observer: Observer, _ body: () throws(EngineError) -> Void) {
    do throws(EngineError) { try body() } catch {
      observer.end()
      observer.base = nil
      observer.fail(Realm.Error(error))
    }
  }
}
