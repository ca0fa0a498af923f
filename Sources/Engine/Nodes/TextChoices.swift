// TextChoices.swift: several texts at once, of which a string of a leaf may be any: a table by
// hash, so that a row costs one hash and mostly no comparison, however many texts there are.
// Queries come from strangers, who can choose texts with equal hashes: where too many of them meet,
// there is no table, and the sorted texts are searched.

/// A set of texts, compared byte for byte.
struct TextChoices: Sendable {
  /// The most places of the table that a search looks at.
  private static let stepCountMax = 32

  /// All texts, ascending, one behind the other.
  private let bytes: [UInt8]
  /// Where each begins; one more entry for the end.
  private let starts: [Int]
  /// The number of the text at each place from 1 on, 0 for a free place; empty without a table.
  ///
  /// There are a power of two of them, at least twice as many as texts.
  private let places: [UInt32]
  /// The sizes that texts have: bit 63 for all from 63 on.
  private let sizes: UInt64

  /// - Complexity: O(bytes × log texts).
  init(_ texts: [String]) {
    var bytes: [UInt8] = []
    var starts = [0]
    var sizes: UInt64 = 0
    let sorted = texts.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
    var last: [UInt8]?
    for text in sorted where text != last {
      bytes += text
      starts.append(bytes.count)
      sizes |= Self.bit(text.count)
      last = text
    }
    places = RawBytes.over(bytes) { Self.places($0, starts) }
    (self.bytes, self.starts, self.sizes) = (bytes, starts, sizes)
  }

  /// Whether equal hashes left no table.
  var isSearched: Bool { places.isEmpty }

  private static func places(_ bytes: RawBytes, _ starts: [Int]) -> [UInt32] {
    let textCount = starts.count - 1
    var count = 8
    while count < textCount * 2 { count *= 2 }
    var places = [UInt32](repeating: 0, count: count)
    for number in 0..<textCount {
      let start = starts[number]
      let text = bytes.part(at: start, count: starts[number + 1] - start)
      var place = Int(truncatingIfNeeded: hash(text)) & (count - 1)
      var steps = 1
      while places[place] != 0 {
        guard steps < stepCountMax else { return [] }
        steps += 1
        place = (place + 1) & (count - 1)
      }
      places[place] = UInt32(number + 1)
    }
    return places
  }

  /// Whether any text has that size; true more often for sizes from 63 on.
  @inline(__always)
  func canMatch(sizeBytes: Int) -> Bool { sizes & Self.bit(sizeBytes) != 0 }

  @inline(__always)
  private static func bit(_ sizeBytes: Int) -> UInt64 { 1 << UInt64(min(sizeBytes, 63)) }

  /// Whether a string is one of the texts.
  /// - Complexity: O(bytes), or O(bytes × log texts) without a table.
  func contains(_ text: RawBytes) -> Bool {
    guard canMatch(sizeBytes: text.count) else { return false }
    guard !isSearched else { return search(text) }
    var place = Int(truncatingIfNeeded: Self.hash(text)) & (places.count - 1)
    while places[place] != 0 {
      if order(Int(places[place]) - 1, text) == 0 { return true }
      place = (place + 1) & (places.count - 1)
    }
    return false
  }

  private func search(_ text: RawBytes) -> Bool {
    var (lower, upper) = (0, starts.count - 1)
    while lower < upper {
      let middle = (lower + upper) / 2
      let order = order(middle, text)
      if order == 0 { return true }
      if order < 0 { lower = middle + 1 } else { upper = middle }
    }
    return false
  }

  /// Negative when a text of the set comes before a string, 0 when they are equal.
  private func order(_ number: Int, _ text: RawBytes) -> Int {
    let (start, count) = (starts[number], starts[number + 1] - starts[number])
    for index in 0..<min(count, text.count) {
      let difference = Int(bytes[start + index]) - Int(text.uint8(index))
      if difference != 0 { return difference }
    }
    return count - text.count
  }

  /// A hash of the size and of the bytes, eight at a time; the last eight overlap.
  @inline(__always)
  static func hash(_ text: RawBytes) -> UInt64 {
    var hash = UInt64(text.count) &* 0x9e37_79b9_7f4a_7c15
    func mix(_ word: UInt64) {
      hash = (hash ^ word) &* 0xff51_afd7_ed55_8ccd
      hash ^= hash >> 32
    }
    guard text.count >= 8 else {
      for index in 0..<text.count { mix(UInt64(text.uint8(index))) }
      return hash
    }
    var offset = 0
    while offset <= text.count - 8 {
      mix(text.uint64(offset))
      offset += 8
    }
    mix(text.uint64(text.count - 8))
    return hash
  }
}

extension StringsView {
  /// Calls `body` with the row of each string that is one of the texts, in order.
  /// - Complexity: O(rows), and O(bytes) of the strings that have the size of a text.
  func forEachMatch(
    oneOf choices: TextChoices, _ reader: NodeReader, newest: Version, _ body: (Int) -> Void
  ) throws(EngineError) {
    for row in 0..<ends.count {
      let (entry, isExternal) = try entry(row)
      guard isExternal else {
        if choices.contains(entry) { body(row) }
        continue
      }
      // A string in a node of its own is read only when its size is that of a text.
      guard choices.canMatch(sizeBytes: Int(clamping: ExternalEntry(entry).word)) else { continue }
      if choices.contains(try reader.stringBytes(self, row, newest: newest)) { body(row) }
    }
  }
}
