// ASCIIOrder.swift: [U] the order of ASCII texts, independent of the locale, as in the real
// library: the order of ICU's root locale, without ICU. Letters are compared first, and case
// decides between texts with the same letters; a text sorts before those that it is a prefix of.

/// The order of texts of ASCII.
enum ASCIIOrder {
  /// Negative, 0 or positive; nil when a non-ASCII letter comes before a difference.
  /// - Complexity: O(bytes).
  static func order(
    _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, isCaseSensitive: Bool
  ) -> Int32? {
    var tie: Int32 = 0
    for index in 0..<min(first.count, second.count) {
      let (left, right) = unsafe (first[index], second[index])
      guard left | right < 0x80 else { return nil }
      guard left != right else { continue }
      let (one, other) = (rank(left), rank(right))
      if one != other { return one < other ? -1 : 1 }
      if tie == 0, isCaseSensitive { tie = left > right ? -1 : 1 }
    }
    if first.count != second.count { return first.count < second.count ? -1 : 1 }
    return tie
  }

  /// The rank of a letter; lowercase and uppercase letters have the same rank.
  private static func rank(_ byte: UInt8) -> UInt8 { ranks[Int(byte)] }

  private static let ranks: [UInt8] = {
    var ranks = [UInt8](repeating: 0, count: 128)
    let order = "\t\n\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"
    for (index, byte) in order.utf8.enumerated() { ranks[Int(byte)] = UInt8(index + 1) }
    for letter in UInt8(ascii: "A")...UInt8(ascii: "Z") {
      ranks[Int(letter)] = ranks[Int(letter | 0x20)]
    }
    return ranks
  }()
}
