// MutableNodeTree+Edit.swift: changes one leaf of a tree and the nodes above it: splits nodes that
// became too large, drops empty ones, merges those that became too small.

/// A new right neighbour of a node, and what their parent has to record about it.
struct NodeSplit<Leaf: MutableTreeLeaf> {
  let mark: Leaf.Guide.Mark
  let right: MutableNode<Leaf>
}

extension MutableTreeLeaf {
  /// Where to split a leaf after a change at an index: content added in order fills its leaves,
  /// other content is split into halves.
  func cut(after changed: Int) -> Int {
    if changed == count - 1 { return count - 1 }
    return changed == 0 ? 1 : count / 2
  }
}

extension MutableInner {
  /// Splits off about half of the children, or the last one when children are added in order.
  fileprivate func split(after changed: Int) -> NodeSplit<Leaf> {
    let count = children.count
    let cut = changed + 2 >= count ? count - 1 : count / 2
    let (mark, guide) = guide.split(at: cut)
    let right = MutableInner(guide, MutableChildren(children[cut...]))
    children.removeSubrange(cut...)
    return NodeSplit(mark: mark, right: .inner(right))
  }
}

extension MutableNodeTree {
  typealias Split = NodeSplit<Leaf>

  /// Changes the leaf of a position; the tree must have a root.
  ///
  /// An error leaves the content of the tree unchanged: nodes brought into memory are as they were
  /// stored.
  /// - Parameters:
  ///   - position: Where the change is.
  ///   - difference: How many elements `body` adds.
  ///   - writer: Knows the committed nodes.
  ///   - body: Changes the leaf, given its position, and adds the parts it splits off to the
  ///     splits.
  /// - Throws: `EngineError` with code `.corrupted`, or what `body` throws.
  func change(
    at position: Position, by difference: Int, _ writer: TreeWriter,
    _ body: (Leaf, Position, inout [Split]) throws(EngineError) -> Void
  ) throws(EngineError) {
    let (leaf, below) = try mutableLeaf(at: position, writer)
    var splits: [Split] = []
    try body(leaf, below, &splits)
    let isCounted = Leaf.Guide.countsElements && difference != 0
    guard let root, !splits.isEmpty || isCounted else { return }
    insert(&splits, below: root, at: position, by: difference)
    guard !splits.isEmpty else { return }
    let guide = Leaf.Guide(over: position, grownBy: difference, splits.map(\.mark))
    self.root = .inner(MutableInner(guide, MutableChildren([root] + splits.map(\.right))))
    level += 1
  }

  /// Brings the leaf of a position into memory, and the nodes above it.
  private func mutableLeaf(
    at position: Position, _ writer: TreeWriter
  ) throws(EngineError) -> (leaf: Leaf, position: Position) {
    if case .stored(let link) = root {
      var node = Child.stored(link)
      try makeMutable(&node, level: level, elementCount: position.elementCount, writer)
      root = node
    }
    switch root {
    case .leaf(let leaf): return (leaf, position)
    case .inner(let inner): return try mutableLeaf(below: inner, level: level, at: position, writer)
    case .stored, nil: preconditionFailure("a tree without a root has no leaf")
    }
  }

  /// The same below an inner node.
  ///
  /// Recursion retains each node once; a loop would retain every node twice.
  private func mutableLeaf(
    below inner: MutableInner<Leaf>, level: Int, at position: Position, _ writer: TreeWriter
  ) throws(EngineError) -> (leaf: Leaf, position: Position) {
    let (index, below) = inner.guide.step(from: position)
    if case .stored = inner.children[index] {
      try makeMutable(
        &inner.children[index], level: level - 1, elementCount: below.elementCount, writer)
    }
    switch inner.children[index] {
    case .leaf(let leaf): return (leaf, below)
    case .inner(let child):
      return try mutableLeaf(below: child, level: level - 1, at: below, writer)
    case .stored: preconditionFailure("made mutable above")
    }
  }

  /// Inserts new right neighbours of a leaf into the nodes above it; `splits` has those of the
  /// leaf, and at the end those of `node`.
  private func insert(
    _ splits: inout [Split], below node: Child, at position: Position, by difference: Int
  ) {
    guard case .inner(let inner) = node else { return }
    let (index, below) = inner.guide.step(from: position)
    insert(&splits, below: inner.children[index], at: below, by: difference)
    inner.guide.grow(index, by: difference)
    guard !splits.isEmpty else { return }
    inner.guide.insert(splits.map(\.mark), behind: index)
    inner.children.insert(contentsOf: splits.map(\.right), at: index + 1)
    let last = index + splits.count - 1
    splits = inner.children.count > childCountMax ? [inner.split(after: last)] : []
  }

  // MARK: removing

  /// Removes an element from the leaf of a position.
  /// - Parameters:
  ///   - position: Where it is.
  ///   - writer: Knows the committed nodes.
  ///   - body: Removes the element, and returns whether it was present.
  /// - Returns: What `body` returns; false for a tree without a root.
  /// - Throws: `EngineError` with code `.corrupted`, or what `body` throws.
  func remove(
    at position: Position, _ writer: TreeWriter,
    _ body: (Leaf, Position) throws(EngineError) -> Bool
  ) throws(EngineError) -> Bool {
    guard root != nil else { return false }
    let (leaf, below) = try mutableLeaf(at: position, writer)
    guard try body(leaf, below) else { return false }
    // Then the nodes above it do not change, and need not be visited again.
    if !Leaf.Guide.countsElements, leaf.count > 0, !isSmall(leaf) { return true }
    if case .inner(let inner) = root {
      try repair(below: inner, level: level, at: position, writer)
    }
    while case .inner(let inner) = root, inner.children.count == 1 {
      root = inner.children[0]
      level -= 1
    }
    if root?.isEmpty == true {
      root = nil
      level = 0
    }
    return true
  }

  /// Repairs the nodes above a leaf that something was taken out of.
  private func repair(
    below inner: MutableInner<Leaf>, level: Int, at position: Position, _ writer: TreeWriter
  ) throws(EngineError) {
    let (index, below) = inner.guide.step(from: position)
    if case .inner(let child) = inner.children[index] {
      try repair(below: child, level: level - 1, at: below, writer)
    }
    inner.guide.grow(index, by: -1)
    try repair(inner, at: index, level: level, writer)
  }

  /// Drops an empty child, and merges a small one with a neighbour when both fit into one node.
  private func repair(
    _ inner: MutableInner<Leaf>, at index: Int, level: Int, _ writer: TreeWriter
  ) throws(EngineError) {
    if inner.children[index].isEmpty {
      inner.children.remove(at: index)
      inner.guide.remove(index)
      return
    }
    guard isSmall(inner.children[index]), inner.children.count > 1 else { return }
    let left = index > 0 ? index - 1 : 0
    for neighbour in left...left + 1 {
      try makeMutable(
        &inner.children[neighbour], level: level - 1,
        elementCount: inner.guide.elementCount(of: neighbour), writer)
    }
    switch (inner.children[left], inner.children[left + 1]) {
    case (.leaf(let first), .leaf(let second)):
      guard canMerge(first, second) else { return }
      first.append(second)
    case (.inner(let first), .inner(let second)):
      guard first.children.count + second.children.count <= childCountMax * 3 / 4 else { return }
      first.guide.append(second.guide, inner.guide, at: left)
      first.children += second.children
    default: preconditionFailure("children of one node have one level")
    }
    inner.children.remove(at: left + 1)
    inner.guide.join(left)
  }

  private func isSmall(_ node: Child) -> Bool {
    switch node {
    case .stored: false
    case .leaf(let leaf): isSmall(leaf)
    case .inner(let inner): inner.children.count < childCountMin
    }
  }
}
