// WordIndex.swift: finding rows by the words of their texts, through a full-text index. The keys of
// each term are read from the index, and compared in their order. Where an image is that of several
// words, the texts of the rows decide.

/// A full-text index of one column, with the rows it leads to.
struct WordIndex<Rows: IndexedRows> {
  let pairs: OpenPairs
  let rows: Rows
  /// The column's position in the schema.
  let column: Int

  /// The keys of the rows that a search matches, ascending; it requires a word.
  /// - Complexity: O(rows that have one of the words), and a row for each of them where a word is
  ///   longer than its image.
  func keys(matching search: WordSearch) throws(EngineError) -> [Int64] {
    var found: [Int64]?
    for term in search.terms where !term.isExcluded {
      let own = try keys(term)
      found = found.map { Self.intersection($0, own) } ?? own
      if found?.isEmpty == true { return [] }
    }
    guard var keys = found else { preconditionFailure("a search by an index requires a word") }
    var isUnsure = search.terms.contains { !$0.isExcluded && !$0.isExact }
    for term in search.terms where term.isExcluded && !keys.isEmpty {
      let own = try self.keys(term)
      if term.isExact {
        keys = Self.difference(keys, own)
      } else if !isUnsure {
        isUnsure = !Self.intersection(keys, own).isEmpty
      }
    }
    guard isUnsure else { return keys }
    var kept: [Int64] = []
    for key in keys {
      guard let value = try rows.value(key, column) else {
        throw .corrupted("a full-text index leads to key \(key), which has no row")
      }
      if case .string(let text) = value, search.matches(text) { kept.append(key) }
    }
    return kept
  }

  /// The keys of the rows that may have a term, ascending.
  private func keys(_ term: WordSearch.Term) throws(EngineError) -> [Int64] {
    var keys: [Int64] = []
    try pairs.appendKeys(in: term.images, to: &keys)
    if term.isPrefix { keys.sortOnce() }
    return keys
  }

  /// The keys that are in both.
  private static func intersection(_ left: [Int64], _ right: [Int64]) -> [Int64] {
    if left.count > right.count { return intersection(right, left) }
    var kept: [Int64] = []
    var place = 0
    for key in left {
      place = advance(right, from: place, to: key)
      if place == right.count { break }
      if right[place] == key { kept.append(key) }
    }
    return kept
  }

  /// The keys of the first that are not in the second.
  private static func difference(_ left: [Int64], _ right: [Int64]) -> [Int64] {
    var place = 0
    return left.filter { key in
      place = advance(right, from: place, to: key)
      return place == right.count || right[place] != key
    }
  }

  /// The first place from `start` on whose key is not below `key`: by steps that double.
  @inline(__always)
  private static func advance(_ keys: [Int64], from start: Int, to key: Int64) -> Int {
    guard start < keys.count, keys[start] < key else { return start }
    var low = start
    var step = 1
    while low + step < keys.count, keys[low + step] < key {
      low += step
      step *= 2
    }
    // keys[low] < key, and keys[high] is not, if it is there.
    var high = min(low + step, keys.count)
    while low + 1 < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle } else { high = middle }
    }
    return high
  }
}

extension KeyPairSource {
  /// Adds the keys of the pairs whose images are in a range, in the order of the pairs.
  func appendKeysOneByOne(
    in images: ClosedRange<UInt64>, to keys: inout [Int64]
  ) throws(EngineError) {
    try forEach(in: images) { _, key, _ throws(EngineError) in
      keys.append(key)
      return true
    }
  }
}

extension KeyPairTree {
  /// Adds the keys of the pairs whose images are in a range, in the order of the pairs.
  func appendKeys(
    in images: ClosedRange<UInt64>, to keys: inout [Int64]
  ) throws(EngineError) {
    precondition(ofWords, "leaves of words are read in place")
    let last = images.upperBound
    var pair = KeyPair.first(images.lowerBound)
    var leavesLeft = leafCountBound
    while let (node, upper) = try leaf(of: pair) {
      guard leavesLeft > 0 else { throw .corrupted("an index has more leaves than sectors") }
      leavesLeft -= 1
      let leaf = try WordLeafView(node)
      var run = leaf.firstRun(notBelow: pair.image)
      while run < leaf.runCount, leaf.image(run) <= last {
        try leaf.appendKeys(of: run, to: &keys)
        run += 1
      }
      guard run == leaf.runCount, let upper, upper.image <= last else { return }
      guard upper > pair else { throw .corrupted("index separators do not ascend") }
      pair = upper
    }
  }
}
