// MutableKeyPairTree+Insert.swift: adds pairs, singly or in sorted bulk. A pair can make a leaf's
// arrays several times as wide, so a split can produce more than two leaves.

extension MutableKeyPairTree {
  /// Adds a pair, or increments its count.
  /// - Returns: How many equal pairs there are now.
  @discardableResult
  func insert(_ pair: KeyPair) throws(EngineError) -> Int64 {
    guard level < Layout.levelMax else {
      throw EngineError(code: .limit, message: "an index has at most \(Layout.levelMax) levels")
    }
    if root == nil {
      root = .leaf(MutableKeyPairLeaf(ofWords: ofWords))
      level = 0
      pairCount = 0
    }
    var multiplicity: Int64 = 0
    try change(at: KeyPosition(pair), by: 0, writer) { leaf, _, splits throws(EngineError) in
      multiplicity = try insert(pair, into: leaf, &splits)
    }
    return multiplicity
  }

  private func insert(
    _ pair: KeyPair, into leaf: MutableKeyPairLeaf, _ splits: inout [Split]
  ) throws(EngineError) -> Int64 {
    let index = leaf.firstIndex(notBelow: pair)
    var multiplicity: Int64 = 1
    if index < leaf.count, leaf[index] == pair {
      let present = leaf.multiplicity(index)
      guard present < Int64.max else { throw .corrupted("count=\(present) of an index entry") }
      multiplicity = present + 1
      leaf.setMultiplicity(multiplicity, at: index)
    } else {
      leaf.insert(pair, at: index)
      pairCount &+= 1
    }
    if leaf.sizeBytes > Layout.keyPairLeafSizeBytesMax {
      split(leaf, at: leaf.cut(after: index), &splits)
    }
    return multiplicity
  }

  /// Splits a leaf, and its parts as long as they are too large.
  private func split(_ leaf: MutableKeyPairLeaf, at cut: Int, _ splits: inout [Split]) {
    var waiting = [leaf.split(at: cut), leaf]
    while let left = waiting.popLast() {
      if left.sizeBytes > Layout.keyPairLeafSizeBytesMax {
        waiting.append(left.split(at: left.count / 2))
        waiting.append(left)
      } else if left !== leaf {
        splits.append(Split(mark: left[0], right: .leaf(left)))
      }
    }
  }

  /// Fills an empty tree with pairs that ascend; equal pairs are counted.
  /// - Complexity: O(pairs), full leaves.
  func fill(_ sorted: [KeyPair]) throws(EngineError) {
    var leaves = IndexLeaves(self)
    var index = 0
    while index < sorted.count {
      let pair = sorted[index]
      var next = index + 1
      while next < sorted.count, sorted[next] == pair { next += 1 }
      leaves.add(pair, multiplicity: Int64(next - index))
      index = next
    }
    leaves.finish()
  }

  /// One level of inner nodes, filled evenly.
  fileprivate static func parents(of nodes: [Split]) -> [Split] {
    let most = Layout.keyPairChildCountMax
    let parentCount = (nodes.count + most - 1) / most
    var parents: [Split] = []
    parents.reserveCapacity(parentCount)
    for parent in 0..<parentCount {
      let children = nodes[
        parent * nodes.count / parentCount..<(parent + 1) * nodes.count / parentCount]
      let inner = MutableInner<MutableKeyPairLeaf>(
        Separators(children.dropFirst().map(\.mark)), MutableChildren(children.map(\.right)))
      parents.append(
        Split(mark: children[children.startIndex].mark, right: .inner(inner)))
    }
    return parents
  }
}

/// Fills an empty tree with full leaves.
struct IndexLeaves {
  private let tree: MutableKeyPairTree
  private var nodes: [MutableKeyPairTree.Split] = []
  private var leaf: MutableKeyPairLeaf

  init(_ tree: MutableKeyPairTree) {
    precondition(tree.root == nil, "only an empty tree is filled")
    self.tree = tree
    leaf = MutableKeyPairLeaf(ofWords: tree.ofWords)
    tree.pairCount = 0
  }

  /// Adds a pair after all others.
  @inline(__always)
  mutating func add(_ pair: KeyPair, multiplicity: Int64 = 1) {
    precondition(leaf.count == 0 || leaf[leaf.count - 1] < pair, "the pairs ascend")
    if !leaf.hasRoom(for: pair, multiplicity: multiplicity) {
      nodes.append(.init(mark: leaf[0], right: .leaf(leaf)))
      leaf = MutableKeyPairLeaf(ofWords: tree.ofWords)
    }
    leaf.insert(pair, at: leaf.count, multiplicity: multiplicity)
    tree.pairCount &+= 1
  }

  /// Gives the tree its nodes.
  mutating func finish() {
    guard leaf.count > 0 else { return }
    nodes.append(.init(mark: leaf[0], right: .leaf(leaf)))
    tree.level = 0
    while nodes.count > 1 {
      nodes = MutableKeyPairTree.parents(of: nodes)
      tree.level += 1
    }
    tree.root = nodes[0].right
  }
}
