// UUIDBytes.swift: UUIDs as 16 bytes, with the text of RFC 9562: 8-4-4-4-12 hexadecimal digits.

/// A UUID: 16 bytes that the engine does not interpret, ordered bytewise.
public struct UUIDBytes: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The first eight bytes, the first of them highest.
  package let high: UInt64
  /// The last eight bytes.
  package let low: UInt64

  /// Creates a UUID from its halves.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Creates a UUID from its bytes.
  /// - Parameter bytes: Sixteen bytes; other numbers of them give nil.
  public init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    high = FixedBytes.number(bytes[..<8])
    low = FixedBytes.number(bytes[8...])
  }

  /// Creates a UUID from its text.
  /// - Parameter text: Groups of 8, 4, 4, 4 and 12 hexadecimal digits with hyphens between them,
  ///   in capitals or not; anything else gives nil.
  public init?(_ text: String) {
    let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard groups.map(\.count) == Self.groupDigits,
      let bytes = FixedBytes.bytes(hexadecimal: Array(groups.joined()), count: 16)
    else { return nil }
    self.init(bytes: bytes)
  }

  private static let groupDigits = [8, 4, 4, 4, 12]

  /// The sixteen bytes.
  public var bytes: [UInt8] { FixedBytes.bytes(high, 8) + FixedBytes.bytes(low, 8) }

  /// The text of RFC 9562, in small letters.
  public var description: String {
    var rest = Substring(FixedBytes.hexadecimal(bytes))
    let groups = Self.groupDigits.map { digits in
      defer { rest.removeFirst(digits) }
      return rest.prefix(digits)
    }
    return groups.joined(separator: "-")
  }

  /// Orders by bytes.
  public static func < (left: UUIDBytes, right: UUIDBytes) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }
}
