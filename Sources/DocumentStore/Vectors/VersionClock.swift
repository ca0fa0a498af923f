// VersionClock.swift: times for versions: nanoseconds since 1970 whose low 16 bits are a counter.
// Invariant: each time is later than all that the clock returned or was passed.

import Synchronization

/// A clock of one data file.
final class VersionClock: Sendable {
  private let nanoseconds: @Sendable () -> UInt64
  private let last = Mutex<UInt64>(0)

  init(_ nanoseconds: @escaping @Sendable () -> UInt64) { self.nanoseconds = nanoseconds }

  /// The next time.
  /// - Parameter seen: A time that it must be later than.
  /// - Returns: The time.
  /// - Throws: `DocumentStoreError` with code `.corruptRevisionData` when there is none.
  func next(after seen: UInt64) throws(DocumentStoreError) -> UInt64 {
    let time = last.withLock { last -> UInt64? in
      let before = max(last, seen)
      // Beyond this, differences of times cannot be stored.
      guard before < UInt64(Int64.max) >> 1 else { return nil }
      last = max(nanoseconds() & ~0xffff, before + 1)
      return last
    }
    guard let time else {
      throw DocumentStoreError(
        .corruptRevisionData, "the time \(seen) of a version leaves no room for later ones")
    }
    return time
  }
}
