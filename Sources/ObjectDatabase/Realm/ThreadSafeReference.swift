// ThreadSafeReference.swift [U]: passes an object or a collection to another thread. Invariant: it
// holds a frozen one, so it cannot change on the way; its version is kept until the reference is
// resolved or released. One made in a write transaction holds the live one, because nothing frozen
// has what the transaction added; of that only what never changes is read: class, row and property.

import Synchronization

/// A reference to a thread-confined value, to be resolved once on another thread.
@safe public final class ThreadSafeReference<Confined: ThreadConfined>: @unchecked Sendable {
  // Safety: the mutex guards the value, which is frozen, or of which only constants are read.
  private let frozen: Mutex<Confined?>

  /// Makes a reference.
  /// - Parameter threadConfined: A managed object or collection.
  public init(to threadConfined: Confined) {
    guard threadConfined.realm != nil else {
      Misuse.stop("only what is managed can be referred to from other threads; add it first")
    }
    guard !threadConfined.isInvalidated else {
      Misuse.stop("an invalidated object or collection cannot be referred to")
    }
    let isInWrite = threadConfined.realm?.isInWriteTransaction ?? false
    frozen = Mutex(UnconfinedBox(isInWrite ? threadConfined : threadConfined.freeze()).value)
  }

  /// Whether it was resolved already.
  public var isInvalidated: Bool { frozen.withLock { $0 == nil } }

  /// The value in the realm; nil when it was deleted, or resolved before.
  func resolve(in realm: Realm) -> Confined? {
    realm.core.checkThread()
    let value = frozen.withLock { value in
      defer { value = nil }
      return UnconfinedBox(value)
    }
    guard let value = value.value else {
      Misuse.stop("a ThreadSafeReference is resolved once; make another one")
    }
    // The realm goes on only to a version that it needs.
    if realm.core.write == nil, isNewer(value, than: realm.core) { _ = realm.core.refresh() }
    return value._moved(to: realm.core)
  }

  /// Whether the reference may have something that the version which a realm reads does not.
  private func isNewer(_ value: Confined, than core: _RealmCore) -> Bool {
    guard let own = value.realm?.core, own.isFrozen, let known = own.heldSnapshot,
      let held = core.heldSnapshot
    else { return true }
    return known.version > held.version
  }
}

// Safety: the content is frozen.
private struct UnconfinedBox<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
