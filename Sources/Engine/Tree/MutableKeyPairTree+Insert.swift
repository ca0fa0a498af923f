// MutableKeyPairTree+Insert.swift: adding pairs, one by one or a sorted lot, and splitting what got
// too large. A pair can make a leaf's arrays several times as wide, so a split can make more than
// two leaves of one.

extension MutableKeyPairTree {
  /// A new right neighbour, and the pair it starts with.
  fileprivate struct Split {
    let separator: KeyPair
    let right: MutableKeyPairChild
  }

  /// Adds a pair, or counts it once more.
  /// - Returns: How many equal pairs there are now.
  @discardableResult
  func insert(_ pair: KeyPair) throws(EngineError) -> Int64 {
    guard level < Layout.levelMax else {
      throw EngineError(code: .limit, message: "an index has at most \(Layout.levelMax) levels")
    }
    guard var child = root else {
      let leaf = MutableKeyPairLeaf()
      leaf.insert(pair, at: 0)
      root = .leaf(leaf)
      level = 0
      pairCount = 1
      return 1
    }
    root = nil
    // An error on the way down leaves a tree of the same content; the root goes back either way.
    defer { root = child }
    var multiplicity: Int64 = 0
    let splits = try insert(pair, below: &child, level: level, &multiplicity)
    if !splits.isEmpty {
      child = .inner(
        MutableKeyPairInner(
          separators: splits.map(\.separator), children: [child] + splits.map(\.right)))
      level += 1
    }
    return multiplicity
  }

  private func insert(
    _ pair: KeyPair, below child: inout MutableKeyPairChild, level: Int,
    _ multiplicity: inout Int64
  ) throws(EngineError) -> [Split] {
    try makeMutable(&child, level: level)
    switch child {
    case .stored: preconditionFailure("made mutable above")
    case .leaf(let leaf): return try insert(pair, into: leaf, &multiplicity)
    case .inner(let inner):
      let index = inner.childIndex(for: pair)
      let splits = try insert(
        pair, below: &inner.children[index], level: level - 1, &multiplicity)
      guard !splits.isEmpty else { return [] }
      inner.separators.insert(contentsOf: splits.map(\.separator), at: index)
      inner.children.insert(contentsOf: splits.map(\.right), at: index + 1)
      guard inner.children.count > Layout.keyPairChildCountMax else { return [] }
      return [splitting(inner, after: index + splits.count - 1)]
    }
  }

  private func insert(
    _ pair: KeyPair, into leaf: MutableKeyPairLeaf, _ multiplicity: inout Int64
  ) throws(EngineError) -> [Split] {
    let index = leaf.firstIndex(notBelow: pair)
    if index < leaf.count, leaf[index] == pair {
      let present = leaf.multiplicity(index)
      guard present < Int64.max else { throw .corrupted("count=\(present) of an index entry") }
      multiplicity = present + 1
      leaf.setMultiplicity(multiplicity, at: index)
    } else {
      leaf.insert(pair, at: index)
      pairCount &+= 1
      multiplicity = 1
    }
    guard leaf.sizeBytes > Layout.keyPairLeafSizeBytesMax else { return [] }
    return splitting(leaf, at: index)
  }

  /// Pairs that come in order fill their leaves; others find room in two halves.
  private func splitting(_ leaf: MutableKeyPairLeaf, at changed: Int) -> [Split] {
    var splits: [Split] = []
    let cut: Int
    if changed == leaf.count - 1 {
      cut = leaf.count - 1
    } else if changed == 0 {
      cut = 1
    } else {
      cut = leaf.count / 2
    }
    var waiting = [leaf.split(at: cut), leaf]
    while let left = waiting.popLast() {
      if left.sizeBytes > Layout.keyPairLeafSizeBytesMax {
        waiting.append(left.split(at: left.count / 2))
        waiting.append(left)
      } else if left !== leaf {
        splits.append(Split(separator: left[0], right: .leaf(left)))
      }
    }
    return splits
  }

  private func splitting(_ inner: MutableKeyPairInner, after changed: Int) -> Split {
    let count = inner.children.count
    let cut = changed + 2 >= count ? count - 1 : count / 2
    let separator = inner.separators[cut - 1]
    let right = MutableKeyPairInner(
      separators: Array(inner.separators[cut...]), children: Array(inner.children[cut...]))
    inner.separators.removeSubrange((cut - 1)...)
    inner.children.removeSubrange(cut...)
    return Split(separator: separator, right: .inner(right))
  }

  /// Fills an empty tree with pairs that ascend; equal ones are counted.
  /// - Complexity: O(pairs), full leaves.
  func fill(_ sorted: [KeyPair]) throws(EngineError) {
    precondition(root == nil, "only an empty tree is filled")
    var nodes: [Split] = []
    var leaf = MutableKeyPairLeaf()
    var index = 0
    while index < sorted.count {
      let pair = sorted[index]
      var next = index + 1
      while next < sorted.count, sorted[next] == pair { next += 1 }
      precondition(next == sorted.count || pair < sorted[next], "the pairs ascend")
      let multiplicity = Int64(next - index)
      if !leaf.hasRoom(for: pair, multiplicity: multiplicity) {
        nodes.append(Split(separator: leaf[0], right: .leaf(leaf)))
        leaf = MutableKeyPairLeaf()
      }
      leaf.insert(pair, at: leaf.count, multiplicity: multiplicity)
      pairCount &+= 1
      index = next
    }
    guard leaf.count > 0 else { return }
    nodes.append(Split(separator: leaf[0], right: .leaf(leaf)))
    level = 0
    while nodes.count > 1 {
      nodes = Self.parents(of: nodes)
      level += 1
    }
    root = nodes[0].right
  }

  /// One level of inner nodes, filled evenly.
  private static func parents(of nodes: [Split]) -> [Split] {
    let most = Layout.keyPairChildCountMax
    let parentCount = (nodes.count + most - 1) / most
    var parents: [Split] = []
    parents.reserveCapacity(parentCount)
    for parent in 0..<parentCount {
      let children = nodes[
        parent * nodes.count / parentCount..<(parent + 1) * nodes.count / parentCount]
      let inner = MutableKeyPairInner(
        separators: children.dropFirst().map(\.separator), children: children.map(\.right))
      parents.append(
        Split(separator: children[children.startIndex].separator, right: .inner(inner)))
    }
    return parents
  }
}
