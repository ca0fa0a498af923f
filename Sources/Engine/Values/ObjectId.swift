// ObjectId.swift: identifiers of 12 bytes: seconds since 1970 (4, the highest byte first), a number
// drawn once per process (5), and a counter (3). The engine compares the bytes and has no clock, so
// the caller supplies the parts.

/// An ObjectId: 12 bytes, ordered as such.
public struct ObjectId: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The first eight bytes, the first of them highest.
  package let high: UInt64
  /// The last four bytes.
  package let low: UInt32

  /// Creates an ObjectId from its two parts.
  package init(high: UInt64, low: UInt32) {
    self.high = high
    self.low = low
  }

  /// Creates an ObjectId from its bytes.
  /// - Parameter bytes: Twelve bytes; other numbers of them give nil.
  public init?(bytes: [UInt8]) {
    guard bytes.count == 12 else { return nil }
    high = FixedBytes.number(bytes[..<8])
    low = UInt32(truncatingIfNeeded: FixedBytes.number(bytes[8...]))
  }

  /// Creates an ObjectId from its text.
  /// - Parameter text: 24 hexadecimal digits, in capitals or not; anything else gives nil.
  public init?(_ text: String) {
    guard let bytes = FixedBytes.bytes(hexadecimal: text.utf8, count: 12) else { return nil }
    self.init(bytes: bytes)
  }

  /// Creates an ObjectId from its parts.
  ///
  /// Two are the same only when all parts are: a maker draws `random` once, and counts up.
  /// - Parameters:
  ///   - timestampSeconds: Seconds since 1970.
  ///   - random: A number of the process; the lower 40 bits count.
  ///   - counter: A number that rises with each; the lower 24 bits count.
  public init(timestampSeconds: UInt32, random: UInt64, counter: UInt32) {
    high = UInt64(timestampSeconds) << 32 | random >> 8 & 0xffff_ffff
    low = UInt32(truncatingIfNeeded: random) << 24 | counter & 0xff_ffff
  }

  /// Seconds since 1970, from the first four bytes.
  public var timestampSeconds: UInt32 { UInt32(truncatingIfNeeded: high >> 32) }

  /// The twelve bytes.
  public var bytes: [UInt8] { FixedBytes.bytes(high, 8) + FixedBytes.bytes(UInt64(low), 4) }

  /// 24 hexadecimal digits.
  public var description: String { FixedBytes.hexadecimal(bytes) }

  /// Orders by bytes.
  public static func < (left: ObjectId, right: ObjectId) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }
}
