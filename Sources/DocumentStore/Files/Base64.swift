// Base64.swift: base64 with padding, as names of blobs and digests have it (RFC 4648, section 4).

/// Bytes as base64 text, and back.
enum Base64 {
  private static let letters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The text of bytes, with padding.
  static func text(_ bytes: [UInt8]) -> String {
    var output: [UInt8] = []
    output.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let count = min(3, bytes.count - start)
      var group: UInt32 = 0
      for index in 0..<3 { group = group << 8 | (index < count ? UInt32(bytes[start + index]) : 0) }
      for index in 0..<4 {
        let letter = letters[Int(group >> UInt32(18 - 6 * index) & 63)]
        output.append(index <= count ? letter : UInt8(ascii: "="))
      }
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// The bytes of a text; nil unless it is exactly the result of `text`.
  static func bytes(_ text: String) -> [UInt8]? {
    var (output, group, bits) = ([UInt8](), UInt32(0), 0)
    let letters = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }.reversed()
    for letter in letters {
      guard let value = Self.value(of: letter) else { return nil }
      group = group << 6 | value
      bits += 6
      guard bits >= 8 else { continue }
      bits -= 8
      output.append(UInt8(truncatingIfNeeded: group >> UInt32(bits)))
    }
    return Self.text(output) == text ? output : nil
  }

  private static func value(of letter: UInt8) -> UInt32? {
    switch letter {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(letter) - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(letter) - 71
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(letter) + 4
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
