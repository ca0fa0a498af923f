// Text.swift: compares texts: scalar by scalar, or folded. Nothing is normalised: two ways to write
// one character are two texts, as in the engine. Only `[d]` separates letters from their marks.

import Engine

/// Operators on texts and bytes.
enum Text {
  /// A text without the difference of upper and lower case.
  static func folded(_ text: String) -> String { FoldedText.withoutCase(text) }

  /// A text without marks above, below and in letters.
  static func withoutMarks(_ text: String) -> String { FoldedText.withoutMarks(text) }

  /// Whether bytes occur anywhere in others.
  static func contains(_ bytes: [UInt8], _ wanted: [UInt8]) -> Bool {
    guard let first = wanted.first else { return true }
    guard bytes.count >= wanted.count else { return false }
    for start in 0...(bytes.count - wanted.count) where bytes[start] == first {
      if bytes[start..<start + wanted.count].elementsEqual(wanted) { return true }
    }
    return false
  }

  /// The bytes of a text or binary; nil for other values.
  static func bytes(_ value: Value) -> [UInt8]? {
    switch value {
    case .string(let text): Array(text.utf8)
    case .binary(let bytes): bytes
    default: nil
    }
  }

  /// The number of bytes of a text or binary; nil for other values.
  static func byteCount(_ value: Value) -> Int? {
    switch value {
    case .string(let text): text.utf8.count
    case .binary(let bytes): bytes.count
    default: nil
    }
  }

  /// Bytes with the letters A to Z in lower case.
  static func folded(_ bytes: [UInt8]) -> [UInt8] {
    bytes.map { $0 &- UInt8(ascii: "A") < 26 ? $0 | 0x20 : $0 }
  }

  /// Whether a text matches a pattern: `*` is any sequence of scalars, `?` is one, and a backslash
  /// takes the next scalar literally.
  /// - Complexity: O(text × pattern), without recursion.
  static func isLike(_ text: String, _ pattern: String) -> Bool {
    isLike(Array(text.unicodeScalars), Array(pattern.unicodeScalars))
  }

  /// Whether bytes match a pattern, in which `?` is one byte: as if each was a scalar.
  /// - Complexity: O(bytes × pattern), without recursion.
  static func isLike(_ bytes: [UInt8], _ pattern: [UInt8]) -> Bool {
    isLike(bytes.map { Unicode.Scalar($0) }, pattern.map { Unicode.Scalar($0) })
  }

  private static func isLike(_ text: [Unicode.Scalar], _ pattern: [Unicode.Scalar]) -> Bool {
    var wanted: [PatternPart] = []
    var isEscaped = false
    for scalar in pattern {
      switch scalar {
      case "\\" where !isEscaped:
        isEscaped = true
        continue
      case "*" where !isEscaped: if wanted.last != .anything { wanted.append(.anything) }
      case "?" where !isEscaped: wanted.append(.one)
      default: wanted.append(.scalar(scalar))
      }
      isEscaped = false
    }
    if isEscaped { wanted.append(.scalar("\\")) }
    // After a mismatch the last run takes one scalar more.
    var (place, part) = (0, 0)
    var retry: (place: Int, part: Int)?
    while place < text.count {
      if part < wanted.count, wanted[part] == .anything {
        retry = (place, part)
        part += 1
      } else if part < wanted.count, wanted[part].takes(text[place]) {
        place += 1
        part += 1
      } else if let last = retry {
        retry = (last.place + 1, last.part)
        place = last.place + 1
        part = last.part + 1
      } else {
        return false
      }
    }
    while part < wanted.count, wanted[part] == .anything { part += 1 }
    return part == wanted.count
  }

  private enum PatternPart: Equatable {
    case anything
    case one
    case scalar(Unicode.Scalar)

    func takes(_ scalar: Unicode.Scalar) -> Bool {
      switch self {
      case .anything: false
      case .one: true
      case .scalar(let wanted): wanted == scalar
      }
    }
  }
}
