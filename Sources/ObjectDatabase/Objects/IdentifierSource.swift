// IdentifierSource.swift [U]: the source of new ObjectIds, UUIDs and default dates: a clock and a
// source of bytes, which a lab replaces with seeded ones, so that one seed determines every
// identifier. Invariant: the counter rises with each ObjectId of a process, so no two of them are
// equal.

import Engine
import FoundationEssentials
import Glibc
import Synchronization

/// A clock and a source of bytes.
package struct IdentifierSource: Sendable {
  /// Seconds since 1970 and nanoseconds.
  package var now: @Sendable () -> (seconds: Int64, nanoseconds: Int32)
  /// That many bytes.
  package var bytes: @Sendable (Int) -> [UInt8]

  /// Uses functions.
  package init(
    now: @escaping @Sendable () -> (seconds: Int64, nanoseconds: Int32),
    bytes: @escaping @Sendable (Int) -> [UInt8]
  ) {
    self.now = now
    self.bytes = bytes
  }

  /// The system's clock, and the source that encrypted files draw from.
  package static let system = IdentifierSource {
    var time = timespec()
    // Safety: the call fills the structure that it is given.
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return (Int64(time.tv_sec), Int32(time.tv_nsec))
  } bytes: { count in
    Misuse.unthrowing { () throws(EngineError) in try EntropySource.system.bytes(count) }
  }

  private struct State {
    var source: IdentifierSource
    var process: [UInt8]?
    var counter: UInt32 = 0
  }

  private static let state = Mutex(State(source: .system))

  /// Takes clock and bytes from another source from now on.
  package static func use(_ source: IdentifierSource) {
    state.withLock { $0 = State(source: source) }
  }

  /// Seconds, then five bytes of the process, then a counter: the usual layout of an ObjectId.
  static func makeObjectId() -> Engine.ObjectId {
    let bytes = state.withLock { state in
      let process = state.process ?? state.source.bytes(8)
      if state.process == nil {
        state.process = process
        state.counter = process[5...].reduce(0) { $0 << 8 | UInt32($1) }
      }
      state.counter = (state.counter + 1) & 0xFF_FFFF
      let seconds = UInt32(truncatingIfNeeded: state.source.now().seconds)
      return bigEndian(seconds, 4) + process[..<5] + bigEndian(state.counter, 3)
    }
    guard let id = Engine.ObjectId(bytes: bytes) else {
      preconditionFailure("4 + 5 + 3 bytes are 12")
    }
    return id
  }

  private static func bigEndian(_ number: UInt32, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt32(8 * (count - 1 - $0))) }
  }

  /// A UUID of version 4.
  static func makeUUID() -> UUID {
    var bytes = state.withLock { $0.source.bytes(16) }
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    return UUID(bytes)
  }

  /// The present time.
  static func now() -> Date {
    let (seconds, nanoseconds) = state.withLock { $0.source.now() }
    return Date(seconds: seconds, nanoseconds: Int64(nanoseconds))
  }
}
