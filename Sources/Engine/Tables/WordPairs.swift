// WordPairs.swift: gathers the pairs of a full-text index from many texts, and sorts them by
// counting: the distinct words are sorted, the rows of each come in the order of their keys.
// Invariant: texts come with ascending keys, so the keys of each word ascend; if a damaged file has
// others, `areAscending` is false, and nothing may be filled.

/// The words of many texts.
struct WordPairs {
  /// The distinct images, numbered as they came, and in a table by their bits: number + 1, or 0.
  private var images: [UInt64] = []
  private var table = [UInt32](repeating: 0, count: 1 << 12)
  /// How many texts have each.
  private var counts: [Int] = []
  /// The text that had each last.
  private var lastText: [Int] = []
  /// The numbers of the words of each text, one text after the other.
  private var words: [UInt32] = []
  private var keys: [Int64] = []
  private var ends: [Int] = []
  /// Whether all texts came with ascending keys.
  private(set) var areAscending = true

  /// Takes the words of a text.
  mutating func add(_ text: RawBytes, _ key: Int64) {
    let number = keys.count
    Words.forEachImage(in: text) { image in
      let word = self.number(of: image)
      guard lastText[word] != number else { return }
      lastText[word] = number
      counts[word] += 1
      words.append(UInt32(word))
    }
    guard words.count > ends.last ?? 0 else { return }
    if let last = keys.last, last >= key { areAscending = false }
    keys.append(key)
    ends.append(words.count)
  }

  @inline(__always)
  private static func slot(_ image: UInt64, _ count: Int) -> Int {
    // Short words have 0 in all of their lower bits.
    Int(truncatingIfNeeded: ValueImage.finished(image)) & (count - 1)
  }

  @inline(__always)
  private mutating func number(of image: UInt64) -> Int {
    var slot = Self.slot(image, table.count)
    while table[slot] != 0 {
      let number = Int(table[slot]) - 1
      if images[number] == image { return number }
      slot = (slot + 1) & (table.count - 1)
    }
    images.append(image)
    counts.append(0)
    lastText.append(-1)
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

  /// Puts all pairs into an empty tree.
  /// - Complexity: O(pairs + distinct words log distinct words).
  func fill(_ index: MutableKeyPairTree) {
    let order = images.indices.sorted { images[$0] < images[$1] }
    var starts = [Int](repeating: 0, count: images.count)
    var sum = 0
    for word in order {
      starts[word] = sum
      sum += counts[word]
    }
    var sorted = [Int64](repeating: 0, count: words.count)
    var place = starts
    var start = 0
    for (text, end) in ends.enumerated() {
      for word in words[start..<end] {
        sorted[place[Int(word)]] = keys[text]
        place[Int(word)] += 1
      }
      start = end
    }
    var leaves = IndexLeaves(index)
    for word in order {
      for key in sorted[starts[word]..<place[word]] { leaves.add(KeyPair(images[word], key)) }
    }
    leaves.finish()
  }
}
