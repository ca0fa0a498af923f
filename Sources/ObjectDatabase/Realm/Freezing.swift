// Freezing.swift: freezes and thaws objects. A frozen realm holds one version of the database,
// which is kept as long as there are references to the realm or its objects.

import Engine

extension _RealmCore {
  /// The live realm of the calling thread on the same database.
  func thawed() -> _RealmCore {
    guard isFrozen else {
      checkThread()
      return self
    }
    return Misuse.unthrowingRealm { () throws(Realm.Error) in
      try store.currentCore(configuration)
    }
  }
}

/// A value that belongs to a thread, and can be frozen or passed to another.
public protocol ThreadConfined {
  /// The realm; nil for an unmanaged value.
  var realm: Realm? { get }
  /// Whether it was deleted, or its realm invalidated.
  var isInvalidated: Bool { get }
  /// Whether it belongs to a frozen realm.
  var isFrozen: Bool { get }
  /// The same, never to change, for any thread.
  func freeze() -> Self
  /// The live value that this was frozen from, or nil when it was deleted.
  func thaw() -> Self?
  /// The same in another realm on the same database; nil when it is not there.
  func _moved(to core: _RealmCore) -> Self?
}

extension ThreadConfined {
  /// An immutable copy of the current state, usable on any thread; a frozen value returns itself.
  public func freeze() -> Self {
    guard !isFrozen else { return self }
    guard let realm else {
      Misuse.stop("an unmanaged \(Self.self) cannot be frozen; add it, or its owner, to a realm")
    }
    guard let frozen = _moved(to: realm.core.freeze()) else {
      Misuse.stop("a \(Self.self) that was deleted or invalidated cannot be frozen")
    }
    return frozen
  }

  /// The live value that this was frozen from, or nil when it was deleted.
  ///
  /// A live value returns itself.
  public func thaw() -> Self? {
    guard isFrozen, let realm else { return self }
    return _moved(to: realm.core.thawed())
  }
}

extension ThreadConfined where Self: ObjectBase {
  /// The same in another realm on the same database; nil when it is not there.
  public func _moved(to core: _RealmCore) -> Self? {
    guard let access = tableAccess else { return nil }
    let other = core.access(access.info)
    return other.contains(rowKey) ? Self._cast(other.makeObject(rowKey)) : nil
  }
}

extension ObjectBase: ThreadConfined {}

extension Results {
  /// The same in another realm on the same database; nil when it is not there.
  public func _moved(to core: _RealmCore) -> Results? {
    content.moved(to: core).map { Results($0) }
  }
}

extension LinkingObjects {
  /// The same in another realm on the same database; nil when it is not there.
  public func _moved(to core: _RealmCore) -> LinkingObjects? {
    content?.moved(to: core).map { LinkingObjects($0) }
  }
}
