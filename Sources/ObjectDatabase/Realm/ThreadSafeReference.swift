// ThreadSafeReference.swift [U]: passes an object or a collection to another thread. Invariant: it
// holds a frozen one, so it cannot change on the way; its version is kept until the reference is
// resolved or released.

import Synchronization

/// A reference to a thread-confined value, to be resolved once on another thread.
@safe public final class ThreadSafeReference<Confined: ThreadConfined>: @unchecked Sendable {
  // Safety: the mutex guards the value, which is frozen.
  private let frozen: Mutex<Confined?>
  private let wasInvalidated: Bool

  /// Makes a reference.
  /// - Parameter threadConfined: A managed object or collection.
  public init(to threadConfined: Confined) {
    guard threadConfined.realm != nil else {
      Misuse.stop("only what is managed can be referred to from other threads; add it first")
    }
    wasInvalidated = threadConfined.isInvalidated
    guard !wasInvalidated else {
      Misuse.stop("an invalidated object or collection cannot be referred to")
    }
    frozen = Mutex(UnconfinedBox(threadConfined.freeze()).value)
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
    // The reference's version may be newer than the realm's.
    if realm.core.write == nil { _ = realm.core.refresh() }
    return value._moved(to: realm.core)
  }
}

// Safety: the content is frozen.
private struct UnconfinedBox<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
