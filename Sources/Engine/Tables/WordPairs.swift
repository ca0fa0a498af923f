// WordPairs.swift: gathers the pairs of a full-text index from many texts, and sorts them by
// counting: the distinct words are sorted, the rows of each come in the order of their keys.
// Invariant: texts come with ascending keys, so the keys of each word ascend; if a damaged file has
// others, `areAscending` is false, and nothing may be filled.

/// The words of many texts.
struct WordPairs {
  private var numbers = WordNumbers()
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

  /// How many words of texts there are, each once for each text.
  var wordCount: Int { words.count }

  /// Takes the words of a text.
  mutating func add(_ text: RawBytes, _ key: Int64) {
    addWords(of: text)
    endText(key)
  }

  /// Takes the words of the next text, whose key follows; without one they do not count.
  mutating func addWords(of text: RawBytes) {
    Words.forEachImage(in: text) { addWord($0) }
  }

  /// Takes a word of the next text.
  @inline(__always)
  mutating func addWord(_ image: UInt64) {
    let word = numbers.number(of: image)
    if word == counts.count {
      counts.append(0)
      lastText.append(-1)
    }
    guard lastText[word] != keys.count else { return }
    lastText[word] = keys.count
    counts[word] += 1
    words.append(UInt32(word))
  }

  /// Ends the text whose words were taken.
  mutating func endText(_ key: Int64) {
    guard words.count > ends.last ?? 0 else { return }
    if let last = keys.last, last >= key { areAscending = false }
    keys.append(key)
    ends.append(words.count)
  }

  /// Calls `body` with all pairs, those of one text after the other.
  func forEachPair(_ body: (KeyPair) throws(EngineError) -> Void) throws(EngineError) {
    var start = 0
    for (text, end) in ends.enumerated() {
      for word in words[start..<end] {
        try body(KeyPair(numbers.images[Int(word)], keys[text]))
      }
      start = end
    }
  }

  /// Puts all pairs into an empty tree.
  /// - Complexity: O(pairs + distinct words log distinct words).
  func fill(_ index: MutableKeyPairTree) {
    let (order, starts) = numbers.places(counts)
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
      let image = numbers.images[word]
      for key in sorted[starts[word]..<place[word]] { leaves.add(KeyPair(image, key)) }
    }
    leaves.finish()
  }
}
