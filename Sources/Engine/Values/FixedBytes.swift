// FixedBytes.swift: values of 12 and 16 bytes are stored as integers whose first byte is the
// highest, so that comparing the integers compares the bytes; and their hexadecimal texts.

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

  /// The bytes of a hexadecimal text, in uppercase or lowercase.
  /// - Returns: nil when it has anything but pairs of digits, or the wrong number of them.
  static func bytes(hexadecimal text: some Collection<UInt8>, count: Int) -> [UInt8]? {
    guard text.count == 2 * count else { return nil }
    var bytes: [UInt8] = []
    var half: UInt8?
    for character in text {
      guard let digit = digit(character) else { return nil }
      if let high = half {
        bytes.append(high << 4 | digit)
        half = nil
      } else {
        half = digit
      }
    }
    return bytes
  }

  private static func digit(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
    default: nil
    }
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
