// Observer.swift: one callback with the version it was last notified of. Invariants: used by the
// owner of its realm only, except for `end`, which any thread may call; `base` is the version that
// the callback knows, and is held until the next call; nil before the first.

import Engine
import Synchronization

/// The object that a token keeps alive.
class Observer {
  /// The version that the callback was notified of; nil before the first call.
  final var base: Snapshot?
  private let isAtEnd = Atomic<Bool>(false)
  let core: _RealmCore

  init(_ core: _RealmCore) { self.core = core }

  /// Whether the callback is to be called.
  final var isAlive: Bool { !isAtEnd.load(ordering: .acquiring) }

  /// No call begins from now on.
  final func end() { isAtEnd.store(true, ordering: .releasing) }

  /// Whether there is a first call with the current content.
  var hasInitial: Bool { false }

  /// The first call; `base` is set.
  func begin() throws(EngineError) {}

  /// Finds the changes, and calls if there are any; `base` is the newer version already.
  func advance(_ round: NotificationRound) throws(EngineError) {}

  /// Advances without a call: the callback already knows the changes; `base` is the newer version
  /// already.
  func follow(_ round: NotificationRound) throws(EngineError) {}

  /// There is a newer version that the realm does not go to by itself.
  func requireRefresh() {}

  /// Reports an error; the last call.
  func fail(_ error: Realm.Error) {}
}

/// An observer of a realm.
final class RealmObserver: Observer {
  private let body: Realm.NotificationBlock
  /// The version that the callback knows; none is held for it.
  private var known: Version?

  init(_ core: _RealmCore, _ body: @escaping Realm.NotificationBlock) {
    self.body = body
    known = core.heldSnapshot?.version
    super.init(core)
  }

  /// The realm is at a version.
  /// - Returns: Whether the callback was called, because it knew another one.
  func note(_ version: Version, isSkipped: Bool = false) -> Bool {
    guard known != version else { return false }
    known = version
    if !isSkipped { body(.didChange, Realm(core)) }
    return !isSkipped
  }

  override func requireRefresh() { body(.refreshRequired, Realm(core)) }
}
