// ByteReader.swift: bytes from a file, read one after the other; each step is checked.

/// A place in bytes.
struct ByteReader {
  let bytes: [UInt8]
  private(set) var offset = 0
  /// Where reading ends.
  let end: Int

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    end = bytes.count
  }

  var left: Int { end - offset }

  mutating func uint8() -> UInt8? {
    guard left >= 1 else { return nil }
    defer { offset += 1 }
    return bytes[offset]
  }

  /// A number of two bytes, high one first.
  mutating func uint16() -> UInt16? {
    guard left >= 2 else { return nil }
    defer { offset += 2 }
    return UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1])
  }

  /// A number of four bytes, high one first.
  mutating func uint32() -> UInt32? {
    guard let high = uint16(), let low = uint16() else { return nil }
    return UInt32(high) << 16 | UInt32(low)
  }

  /// A number with seven bits per byte, low ones first; all but the last have the bit 0x80.
  mutating func varint() -> UInt64? {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      guard let byte = uint8() else { return nil }
      let part = UInt64(byte & 0x7f)
      guard shift < 63 || part <= 1 else { return nil }
      value |= part << shift
      if byte & 0x80 == 0 { return value }
    }
    return nil
  }

  /// The next bytes, copied.
  mutating func take(_ count: Int) -> [UInt8]? {
    guard count >= 0, left >= count else { return nil }
    defer { offset += count }
    return Array(bytes[offset..<offset + count])
  }
}

extension [UInt8] {
  /// Adds a number as `ByteReader.varint` reads it.
  mutating func append(varint value: UInt64) {
    var value = value
    while value >= 0x80 {
      append(UInt8(truncatingIfNeeded: value) | 0x80)
      value >>= 7
    }
    append(UInt8(value))
  }

  /// Adds a number of two bytes, high one first.
  mutating func append(uint16 value: UInt16) {
    append(UInt8(value >> 8))
    append(UInt8(truncatingIfNeeded: value))
  }

  /// Adds a number of four bytes, high one first.
  mutating func append(uint32 value: UInt32) {
    append(uint16: UInt16(value >> 16))
    append(uint16: UInt16(truncatingIfNeeded: value))
  }
}
