// QueryPrinter+Values.swift: constants and names as text.

import Engine

extension QueryPrinter {
  /// A constant in the syntax of the grammar; collections have no text.
  static func written(_ value: Value) -> String {
    switch value {
    case .null: "null"
    case .int(let number): String(number)
    case .link(let key): "O\(key)"
    case .typedLink(let table, let key): "L\(table):\(key)"
    case .string(let text): quoted(text)
    case .bool(let isTrue): isTrue ? "true" : "false"
    case .float(let number): written(Double(number)) + (number.isFinite ? "f" : "")
    case .double(let number): written(number)
    case .binary(let bytes): "B64\"" + Base64.encoded(bytes) + "\""
    case .date(let seconds, let nanoseconds): timestamp(seconds, nanoseconds)
    case .objectId(let id): "oid(\(id))"
    case .uuid(let id): "uuid(\(id))"
    case .decimal128(let number): "\(number)"
    case .list, .set, .dictionary: "null"
    }
  }

  private static func written(_ number: Double) -> String {
    if number.isNaN { return "nan" }
    if number.isInfinite { return number < 0 ? "-inf" : "inf" }
    return "\(number)"
  }

  /// Seconds and nanoseconds with one sign; a fine date by its seconds since 2001.
  private static func timestamp(_ seconds: Int64, _ nanoseconds: Int64) -> String {
    if Value.isFineDate(nanoseconds: nanoseconds) {
      return "T@\(Value.sinceReferenceDate(seconds: seconds, nanoseconds: nanoseconds))"
    }
    return seconds < 0 && nanoseconds > 0
      ? "T\(seconds + 1):\(nanoseconds - 1_000_000_000)" : "T\(seconds):\(nanoseconds)"
  }

  /// A text in quotes.
  static func quoted(_ text: String) -> String {
    var result = "'"
    for scalar in text.unicodeScalars {
      switch scalar {
      case "'", "\\":
        result += "\\"
        result.unicodeScalars.append(scalar)
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case let scalar where scalar.value < 0x20 || scalar.value == 0x7f:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "'"
  }

  /// A name, with backslashes where it would be something else without.
  static func name(_ name: String, canBeReserved: Bool) -> String {
    let bytes = Array(name.utf8)
    let isWord =
      (Keyword.spelled(bytes[...])?.isReserved ?? false) || Lexer.rowKey(bytes[...]) != nil
    var needsMark = !canBeReserved && isWord
    var result = ""
    for scalar in name.unicodeScalars {
      let byte = scalar.isASCII ? UInt8(truncatingIfNeeded: scalar.value) : 0x80
      let isPlain =
        byte != UInt8(ascii: "\\")
        && (result.isEmpty ? Lexer.isNameStart(byte) : Lexer.isNamePart(byte))
      let isFirst = result.isEmpty
      if !isPlain || needsMark { result += "\\" }
      needsMark = false
      switch scalar {
      case "\n" where !isFirst: result += "n"
      case "\r" where !isFirst: result += "r"
      case "\t" where !isFirst: result += "t"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

/// Bytes as text of 64 characters (RFC 4648, section 4).
enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func encoded(_ bytes: [UInt8]) -> String {
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      let count = min(3, bytes.count - index)
      var word: UInt32 = 0
      for offset in 0..<3 {
        word = word << 8 | (offset < count ? UInt32(bytes[index + offset]) : 0)
      }
      for sextet in 0..<4 {
        let digit = Int(word >> UInt32(18 - 6 * sextet) & 63)
        result.append(sextet <= count ? alphabet[digit] : UInt8(ascii: "="))
      }
      index += 3
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }

  /// The bytes of a text in groups of four, or nil; bits that no byte needs must be 0.
  static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count % 4 == 0 else { return nil }
    let padding = text.reversed().prefix(2).prefix { $0 == UInt8(ascii: "=") }.count
    var result: [UInt8] = []
    var word: UInt32 = 0
    var bits: UInt32 = 0
    for byte in text.dropLast(padding) {
      guard let digit = digit(byte) else { return nil }
      word = word << 6 | digit
      bits += 6
      guard bits >= 8 else { continue }
      bits -= 8
      result.append(UInt8(truncatingIfNeeded: word >> bits))
      word &= 1 << bits - 1
    }
    return word == 0 ? result : nil
  }
}
