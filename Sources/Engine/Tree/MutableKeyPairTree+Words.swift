// MutableKeyPairTree+Words.swift: changes of a full-text index. A row changes one pair for each of
// its words, and each is in another leaf. So the changes of a transaction wait, and go into the
// tree sorted, before it is read or written. Invariant: the changes of one pair alternate between
// adding and removing it, so an even number of them is none.

/// A pair of a full-text index that a row has from now on, or has no more.
struct WordChange {
  let pair: KeyPair
  let isAdded: Bool

  init(_ pair: KeyPair, isAdded: Bool) {
    self.pair = pair
    self.isAdded = isAdded
  }
}

extension MutableKeyPairTree {
  /// So many changes are put into the tree at once, which bounds the memory for them.
  static let waitingCountMax = 1 << 20
  /// So many are sorted sooner than their words are numbered.
  private static let fewChanges = 512

  /// Puts the changes that wait into the tree.
  /// - Throws: `EngineError` with code `.corrupted` when the tree does not agree with the rows.
  func putWaiting() throws(EngineError) {
    // A search may have met the error, which does not end the transaction; its commit does.
    if let failure { throw failure }
    guard !waiting.isEmpty else { return }
    let changes = Self.sorted(waiting)
    waiting = []
    do throws(EngineError) { try put(changes) } catch {
      failure = error
      throw error
    }
  }

  private func put(_ changes: [WordChange]) throws(EngineError) {
    if root == nil, changes.allSatisfy(\.isAdded) {
      var leaves = IndexLeaves(self)
      for change in changes { leaves.add(change.pair) }
      leaves.finish()
      return
    }
    for change in changes {
      let isRight = try change.isAdded ? insert(change.pair) == 1 : remove(change.pair)
      guard isRight else {
        throw .corrupted(
          "a full-text index \(change.isAdded ? "had" : "has not") \(change.pair), unlike its row")
      }
    }
  }

  /// What the changes of each pair come to, in the order of the pairs.
  /// - Complexity: O(changes + distinct words log distinct words) when the rows were changed in the
  ///   order of their keys.
  private static func sorted(_ changes: [WordChange]) -> [WordChange] {
    guard changes.count > fewChanges else { return kept(changes[...]) }
    var (numbers, counts, words) = (WordNumbers(), [Int](), [UInt32]())
    words.reserveCapacity(changes.count)
    for change in changes {
      let word = numbers.number(of: change.pair.image)
      if word == counts.count { counts.append(0) }
      counts[word] += 1
      words.append(UInt32(word))
    }
    let (order, starts) = numbers.places(counts)
    // The changes of each word, in the order in which they came.
    var (sorted, place) = (changes, starts)
    for (number, word) in words.enumerated() {
      sorted[place[Int(word)]] = changes[number]
      place[Int(word)] += 1
    }
    let isAscending = order.allSatisfy { word in
      (starts[word] + 1..<max(place[word], starts[word] + 1)).allSatisfy {
        sorted[$0 - 1].pair.key < sorted[$0].pair.key
      }
    }
    if isAscending { return sorted }
    return order.flatMap { kept(sorted[starts[$0]..<place[$0]]) }
  }

  /// The same for few changes, or those of one word.
  private static func kept(_ changes: ArraySlice<WordChange>) -> [WordChange] {
    let order = changes.indices.sorted {
      let (left, right) = (changes[$0].pair, changes[$1].pair)
      return left == right ? $0 < $1 : left < right
    }
    var kept: [WordChange] = []
    var start = 0
    while start < order.count {
      let pair = changes[order[start]].pair
      let end = order[start...].firstIndex { changes[$0].pair != pair } ?? order.count
      if (end - start) % 2 == 1 { kept.append(changes[order[end - 1]]) }
      start = end
    }
    return kept
  }
}
