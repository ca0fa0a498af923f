// ThreadSafe.swift [U]: a variable that any thread may read: each gets the object in its own realm.
// Invariant: the stored value is frozen.

import Synchronization

/// A variable for objects and collections shared by threads, queues and actors; each reads its own
/// live one, or nil after it was deleted.
///
/// The version of the last assignment is kept in the file for as long as the variable exists, or
/// until nil is assigned.
@propertyWrapper
@safe public final class ThreadSafe<Confined: ThreadConfined>: @unchecked Sendable {
  // Safety: the mutex guards the value, which is frozen.
  private let frozen: Mutex<Confined?>

  /// Takes a managed object or collection, or nil.
  public init(wrappedValue: Confined?) { frozen = Mutex(Self.frozen(wrappedValue).value) }

  /// The live value in the realm of the calling thread, queue or actor.
  public var wrappedValue: Confined? {
    get {
      guard let known = frozen.withLock({ UncheckedBox($0) }).value, let realm = known.realm else {
        return nil
      }
      let live = realm.core.thawed()
      if live.write == nil { _ = live.refresh() }
      return known._moved(to: live)
    }
    set {
      let new = Self.frozen(newValue)
      frozen.withLock { $0 = new.value }
    }
  }

  private static func frozen(_ value: Confined?) -> UncheckedBox<Confined?> {
    guard let value else { return UncheckedBox(nil) }
    guard value.realm != nil else {
      Misuse.stop("only what is managed can be @ThreadSafe; add it to a realm first")
    }
    guard !value.isInvalidated else { return UncheckedBox(nil) }
    return UncheckedBox(value.freeze())
  }
}
