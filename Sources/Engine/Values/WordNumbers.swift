// WordNumbers.swift: numbers for the words of many texts: what belongs to a word is in arrays then,
// and is sorted by counting. Invariant: each image has one number, and numbers have no gaps.

/// The distinct words of many texts, numbered as they come.
struct WordNumbers {
  /// The image of each.
  private(set) var images: [UInt64] = []
  /// By the bits of the image: number + 1, or 0.
  private var table = [UInt32](repeating: 0, count: 1 << 12)

  var count: Int { images.count }

  @inline(__always)
  private static func slot(_ image: UInt64, _ count: Int) -> Int {
    // Short words have 0 in all of their lower bits.
    Int(truncatingIfNeeded: ValueImage.finished(image)) & (count - 1)
  }

  /// The number of a word, a new one for a new word.
  /// - Complexity: O(1) on average.
  @inline(__always)
  mutating func number(of image: UInt64) -> Int {
    var slot = Self.slot(image, table.count)
    while table[slot] != 0 {
      let number = Int(table[slot]) - 1
      if images[number] == image { return number }
      slot = (slot + 1) & (table.count - 1)
    }
    images.append(image)
    table[slot] = UInt32(images.count)
    if images.count * 2 > table.count { grow() }
    return images.count - 1
  }

  private mutating func grow() {
    table = [UInt32](repeating: 0, count: table.count * 2)
    for (number, image) in images.enumerated() {
      var slot = Self.slot(image, table.count)
      while table[slot] != 0 { slot = (slot + 1) & (table.count - 1) }
      table[slot] = UInt32(number + 1)
    }
  }

  /// Where the places of each word begin, when each takes so many, the words ascending.
  /// - Parameter counts: By number.
  /// - Returns: The words' numbers, their images ascending; the places, by number.
  /// - Complexity: O(words log words).
  func places(_ counts: [Int]) -> (order: [Int], starts: [Int]) {
    let order = images.indices.sorted { images[$0] < images[$1] }
    var starts = [Int](repeating: 0, count: images.count)
    var sum = 0
    for word in order {
      starts[word] = sum
      sum += counts[word]
    }
    return (order, starts)
  }
}
