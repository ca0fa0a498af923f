// Words.swift: the words of a text, and the number by which a full-text index orders a word. Part
// of the file format.
//   word    the longest sequence of letters, digits and marks that Unicode 15 or an earlier version
//           defined, without marks and with its case folded; one of marks alone is none
//   image   the codes of its scalars, from the highest of 63 bits on, then 0 bits; bit 0 is 1 when
//           the next code did not fit
//   code    a to z: 5 bits, 1 to 26; 0 to 9: 5 bits of 27 to 29 and 2 bits; U+0080 to U+087F: 30
//           and 11 bits; others: 31 and 21 bits
// Invariants: a word's image is never 0; an image without bit 0 is that of one word; the images of
// all words that begin with one whose codes fit are a range.

/// Finds words.
package enum Words {
  /// The words of a text, in its order.
  static func of(_ text: String) -> [String] {
    text.unicodeScalars.split { !isPart($0) }.map { folded($0) }.filter { !$0.isEmpty }
  }

  private static func folded(_ word: Substring.UnicodeScalarView) -> String {
    FoldedText.withoutCase(FoldedText.withoutMarks(String(word)))
  }

  /// Whether a scalar is part of a word; later versions of Unicode do not change the result.
  private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return WordCode.plain(UInt8(scalar.value)) != .none }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber, .nonspacingMark, .spacingMark:
      guard let age = scalar.properties.age else { return false }
      return age.major <= 15
    default: return false
    }
  }

  /// Calls `body` with the image of each word of a text in UTF-8, in its order.
  @inline(__always)
  static func forEachImage(in text: RawBytes, _ body: (UInt64) -> Void) {
    var image = WordImage()
    var start = 0
    var isPlain = true
    for offset in 0..<text.count {
      let code = WordCode.plain(text.uint8(offset))
      if code.bits > 0 {
        image.append(code)
      } else if code == .other {
        isPlain = false
      } else {
        if isPlain {
          if image.bitCount > 0 { body(image.value) }
        } else {
          forEachImage(ofPart: text.part(at: start, count: offset - start), body)
        }
        image = WordImage()
        isPlain = true
        start = offset + 1
      }
    }
    if isPlain {
      if image.bitCount > 0 { body(image.value) }
    } else {
      forEachImage(ofPart: text.part(at: start, count: text.count - start), body)
    }
  }

  /// The same for a part between separators that are ASCII.
  @inline(never)
  private static func forEachImage(ofPart part: RawBytes, _ body: (UInt64) -> Void) {
    for word in of(String(decoding: part.array, as: UTF8.self)) { body(WordImage(word).value) }
  }

  /// The images of the words of a text, ascending, each once.
  static func images(in text: String) -> [UInt64] {
    var images: [UInt64] = []
    RawBytes.over(text) { bytes in forEachImage(in: bytes) { images.append($0) } }
    images.sortOnce()
    return images
  }

  /// The same for a value of a column; none for null.
  static func images(in value: Value?) -> [UInt64] {
    guard case .string(let text)? = value else { return [] }
    return images(in: text)
  }
}

/// The code of a scalar in an image.
struct WordCode: Equatable {
  let number: UInt64
  let bits: Int

  /// The code of a separator that is ASCII.
  static let none = WordCode(number: 0, bits: 0)
  /// The code of a byte that is not ASCII.
  static let other = WordCode(number: 1, bits: 0)

  /// The code of an ASCII byte, with its case folded.
  @inline(__always)
  static func plain(_ byte: UInt8) -> WordCode {
    let letter = (byte | 0x20) &- UInt8(ascii: "a")
    if letter < 26 { return WordCode(number: UInt64(letter) + 1, bits: 5) }
    let digit = byte &- UInt8(ascii: "0")
    if digit < 10 { return WordCode(number: 108 + UInt64(digit), bits: 7) }
    return byte < 0x80 ? .none : .other
  }

  /// The code of a scalar of a folded word.
  static func of(_ scalar: Unicode.Scalar) -> WordCode {
    if scalar.isASCII { return plain(UInt8(scalar.value)) }
    let value = UInt64(scalar.value)
    return value < 0x880
      ? WordCode(number: 30 << 11 | (value - 0x80), bits: 16)
      : WordCode(number: 31 << 21 | value, bits: 26)
  }
}

/// The image of a word that is read scalar by scalar.
struct WordImage {
  private(set) var value: UInt64 = 0
  private(set) var bitCount = 0

  init() {}

  /// The image of a folded word.
  init(_ word: String) {
    for scalar in word.unicodeScalars { append(.of(scalar)) }
  }

  /// Whether a code did not fit, so that several words have the image.
  var isCut: Bool { value & 1 != 0 }

  @inline(__always)
  mutating func append(_ code: WordCode) {
    guard !isCut else { return }
    guard bitCount + code.bits <= 63 else {
      value |= 1
      return
    }
    bitCount += code.bits
    value |= code.number << UInt64(64 - bitCount)
  }

  /// The images of the words that begin with this one.
  var range: ClosedRange<UInt64> {
    isCut ? value...value : value...(value | ((1 << UInt64(64 - bitCount)) - 1))
  }
}

extension Array where Element: FixedWidthInteger {
  /// Sorts the numbers, and keeps each once.
  /// - Complexity: O(n log n), in place.
  mutating func sortOnce() {
    sort()
    var kept = 0
    for index in indices where index == 0 || self[index] != self[kept - 1] {
      self[kept] = self[index]
      kept += 1
    }
    removeSubrange(kept...)
  }
}
