// FixedValues.swift: values of 12 and 16 bytes. They are kept as integers in which the first byte
// is the highest, so that comparing the integers compares the bytes.

/// An ObjectId: 12 bytes that mean nothing to the engine.
public struct ObjectId: Hashable, Sendable, Comparable, CustomStringConvertible {
  let high: UInt64
  let low: UInt32

  init(high: UInt64, low: UInt32) {
    self.high = high
    self.low = low
  }

  /// Makes an ObjectId of its bytes.
  /// - Parameter bytes: Twelve bytes; other numbers of them give nil.
  public init?(bytes: [UInt8]) {
    guard bytes.count == 12 else { return nil }
    high = FixedBytes.number(bytes[..<8])
    low = UInt32(truncatingIfNeeded: FixedBytes.number(bytes[8...]))
  }

  /// The twelve bytes.
  public var bytes: [UInt8] { FixedBytes.bytes(high, 8) + FixedBytes.bytes(UInt64(low), 4) }

  /// The bytes in hexadecimal.
  public var description: String { FixedBytes.hexadecimal(bytes) }

  /// Orders by bytes.
  public static func < (left: ObjectId, right: ObjectId) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }
}

/// A UUID: 16 bytes that mean nothing to the engine.
public struct UUIDBytes: Hashable, Sendable, Comparable, CustomStringConvertible {
  let high: UInt64
  let low: UInt64

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Makes a UUID of its bytes.
  /// - Parameter bytes: Sixteen bytes; other numbers of them give nil.
  public init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    high = FixedBytes.number(bytes[..<8])
    low = FixedBytes.number(bytes[8...])
  }

  /// The sixteen bytes.
  public var bytes: [UInt8] { FixedBytes.bytes(high, 8) + FixedBytes.bytes(low, 8) }

  /// The bytes in hexadecimal.
  public var description: String { FixedBytes.hexadecimal(bytes) }

  /// Orders by bytes.
  public static func < (left: UUIDBytes, right: UUIDBytes) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }
}

/// A decimal number of IEEE 754-2008 in 16 bytes, the one with the sign first.
///
/// The engine keeps the bits: two encodings of one number are two values, and sets order them by
/// their bytes.
public struct Decimal128: Hashable, Sendable, CustomStringConvertible {
  /// The half with the sign and the exponent.
  public let high: UInt64
  /// The lower half of the coefficient.
  public let low: UInt64

  /// Makes a number of its bits.
  /// - Parameters:
  ///   - high: The half with the sign and the exponent.
  ///   - low: The lower half of the coefficient.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The sixteen bytes.
  public var bytes: [UInt8] { FixedBytes.bytes(high, 8) + FixedBytes.bytes(low, 8) }

  /// The bits in hexadecimal.
  public var description: String { FixedBytes.hexadecimal(bytes) }
}

/// Bytes and integers whose first byte is the highest.
enum FixedBytes {
  static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  static func bytes(_ number: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (count - 1 - $0))) }
  }

  static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

extension RawBytes {
  /// Eight bytes, the first one highest.
  @inline(__always)
  func bigEndian64(_ offset: Int) -> UInt64 { uint64(offset).byteSwapped }
  /// Four bytes, the first one highest.
  @inline(__always)
  func bigEndian32(_ offset: Int) -> UInt32 { uint32(offset).byteSwapped }
}
