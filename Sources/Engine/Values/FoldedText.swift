// FoldedText.swift: texts without the difference of upper and lower case, and without the marks of
// letters. Part of the file format: the words of a full-text index are folded by these functions
// (Words.swift).

@_spi(_Unicode) import Swift

/// Folds texts.
package enum FoldedText {
  /// A text without the difference of upper and lower case: each scalar is mapped to upper case and
  /// each of the result to lower case, so that ß is ss and both small sigmas are one.
  package static func withoutCase(_ text: String) -> String {
    var isPlain = true
    for byte in text.utf8 where byte >= 0x80 || byte &- UInt8(ascii: "A") < 26 {
      isPlain = false
      break
    }
    if isPlain { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      if scalar.isASCII {
        let isUpper = ("A"..."Z").contains(scalar)
        result.unicodeScalars.append(
          isUpper ? Unicode.Scalar(UInt8(scalar.value) | 0x20) : scalar)
        continue
      }
      for upper in scalar.properties.uppercaseMapping.unicodeScalars {
        result += upper.properties.lowercaseMapping
      }
    }
    return result
  }

  /// A text without marks above, below and in letters: its canonical decomposition without the
  /// scalars that combine with the one before them (those with a combining class).
  package static func withoutMarks(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    var result = String.UnicodeScalarView()
    for scalar in text._nfd where scalar.properties.canonicalCombiningClass == .notReordered {
      result.append(scalar)
    }
    return String(result)
  }
}
