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
  private static func sorted(_ changes: [WordChange]) -> [WordChange] {
    var order = changes.indices.map { (pair: changes[$0].pair, number: $0) }
    order.sort { $0.pair == $1.pair ? $0.number < $1.number : $0.pair < $1.pair }
    var kept: [WordChange] = []
    kept.reserveCapacity(changes.count)
    var start = 0
    while start < order.count {
      var end = start + 1
      while end < order.count, order[end].pair == order[start].pair { end += 1 }
      if (end - start) % 2 == 1 { kept.append(changes[order[end - 1].number]) }
      start = end
    }
    return kept
  }
}
