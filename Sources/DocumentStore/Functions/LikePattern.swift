// LikePattern.swift: the pattern of LIKE: `%` is any sequence of letters, `_` is one, and a
// backslash takes the next letter literally. Numbers are compared as texts, blobs match nothing.

@_spi(_Unicode) import Swift

/// The matching of LIKE.
enum LikePattern {
  /// Whether a text fits a pattern, byte by byte.
  /// - Complexity: O(text · pattern), without recursion.
  static func matches(_ text: [UInt8], _ pattern: [UInt8], escape: UInt8? = 0x5c) -> Bool {
    var (place, index) = (0, 0)
    // Where to resume when the part after the last `%` does not match.
    var retry: (place: Int, index: Int)?
    while true {
      if index < pattern.count, pattern[index] == UInt8(ascii: "%"), pattern[index] != escape {
        index += 1
        retry = (place, index)
        continue
      }
      if index == pattern.count, place == text.count { return true }
      if index < pattern.count, place < text.count {
        if pattern[index] == UInt8(ascii: "_"), pattern[index] != escape {
          place += length(text, at: place)
          index += 1
          continue
        }
        var next = index
        if pattern[next] == escape, next + 1 < pattern.count { next += 1 }
        if pattern[next] == text[place] {
          place += 1
          index = next + 1
          continue
        }
      }
      guard let last = retry, last.place < text.count else { return false }
      place = last.place + length(text, at: last.place)
      index = last.index
      retry = (place, index)
    }
  }

  /// How many bytes a letter has.
  private static func length(_ text: [UInt8], at place: Int) -> Int {
    var end = place + 1
    while end < text.count, text[end] & 0xc0 == 0x80 { end += 1 }
    return end - place
  }

  /// A text without the differences that a collation ignores.
  static func folded(_ text: String, _ collation: String) -> String {
    guard collation != "BINARY" else { return text }
    if collation == "NOCASE" {
      return String(
        String.UnicodeScalarView(
          text.unicodeScalars.map {
            ("A"..."Z").contains($0) ? Unicode.Scalar(UInt8($0.value) | 0x20) : $0
          }))
    }
    let marks = Array(collation.utf8)
    guard marks.count > 11 else { return text }
    var folded = marks[10] == UInt8(ascii: "C") ? text.lowercased() : text
    if marks[11] == UInt8(ascii: "D"), !folded.utf8.allSatisfy({ $0 < 0x80 }) {
      var scalars = String.UnicodeScalarView()
      for scalar in folded._nfd where scalar.properties.canonicalCombiningClass == .notReordered {
        scalars.append(scalar)
      }
      folded = String(scalars)
    }
    return folded
  }
}

/// The SQL functions of LIKE.
enum LikeFunctions {
  static let all: [SQLFunction] =
    ([2, 3] as [Int32]).map { count in
      SQLFunction(name: "fl_like", argumentCount: count) { call in
        if call.endsForAbsent() { return }
        guard let text = call.text(0), let pattern = call.text(1) else {
          return call.result(false)
        }
        let collation = count == 3 ? call.bytes(2).text : "BINARY"
        call.result(
          LikePattern.matches(
            Array(LikePattern.folded(text, collation).utf8),
            Array(LikePattern.folded(pattern, collation).utf8)))
      }
    }
}
