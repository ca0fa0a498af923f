// SubtreeCursor.swift: a position in a table's tree that advances by whole subtrees or by rows.
// Invariants: still to be visited are the open leaf from `index` on, then the subtrees of `ahead`
// from the last to the first; keys ascend strictly over all opened leaves. Nodes of a tree do not
// share sectors, so visiting more nodes than there are sectors means one node twice: damaged bytes
// cannot make the walk endless.

/// A walk over a tree that opens only the nodes that the caller selects.
struct SubtreeCursor {
  /// A node with everything below it.
  struct Subtree {
    let link: NodeLink
    let level: Int
  }

  /// A leaf by its keys; its values are read when they are needed.
  struct OpenLeaf {
    let link: NodeLink
    let keys: [Int64]
    /// The next row of the open leaf.
    var index = 0
  }

  let tree: BPlusTree
  /// The leaf that rows are taken from; nil between two subtrees.
  var leaf: OpenLeaf?
  private var ahead: [Subtree] = []
  private var nodesLeft: Int
  private var lastKey: Int64?
  private let comparison: NodeComparison

  init(_ tree: BPlusTree, _ comparison: NodeComparison) {
    self.tree = tree
    self.comparison = comparison
    nodesLeft = tree.reader.bytes.count / Layout.sectorSizeBytes
    if !tree.root.isNone { ahead.append(Subtree(link: tree.root, level: tree.level)) }
  }

  /// Whether all subtrees and rows were visited.
  var isAtEnd: Bool { leaf == nil && ahead.isEmpty }

  /// The subtree that begins at the cursor; nil in the middle of a leaf, and at the end.
  var next: Subtree? {
    guard let leaf else { return ahead.last }
    return leaf.index == 0 ? Subtree(link: leaf.link, level: 0) : nil
  }

  /// The subtree that has to be opened before rows can be taken.
  var closed: Subtree? { leaf == nil ? ahead.last : nil }

  /// Moves past the next subtree.
  mutating func skip() {
    if leaf == nil { ahead.removeLast() } else { leaf = nil }
  }

  /// Closes a leaf whose rows have all been compared.
  mutating func closeIfDone() {
    if let leaf, leaf.index == leaf.keys.count { self.leaf = nil }
  }

  /// Opens the next subtree: its children or rows are visited next.
  mutating func open() throws(EngineError) {
    guard let subtree = closed else { return }
    guard nodesLeft > 0 else {
      throw .corrupted("more nodes than sectors", at: subtree.link.ref)
    }
    nodesLeft -= 1
    comparison.count()
    ahead.removeLast()
    let reader = tree.reader
    guard subtree.level == 0 else {
      let inner = try InnerView(
        reader.node(subtree.link, kind: .inner, level: subtree.level, newest: tree.newest))
      for child in (0..<inner.childCount).reversed() {
        ahead.append(Subtree(link: inner.link(child), level: subtree.level - 1))
      }
      return
    }
    let view = try LeafView(reader.node(subtree.link, kind: .leaf, newest: tree.newest))
    var keys: [Int64] = []
    view.keys.decode(into: &keys)
    for key in keys {
      if let lastKey, lastKey >= key {
        throw .corrupted("key=\(key) behind key=\(lastKey)", at: subtree.link.ref)
      }
      lastKey = key
    }
    leaf = OpenLeaf(link: subtree.link, keys: keys)
  }

  /// The values of a leaf that was opened.
  func arrays(of leaf: OpenLeaf) throws(EngineError) -> NodeArrays {
    let view = try LeafView(tree.reader.node(leaf.link, kind: .leaf, newest: tree.newest))
    // A node read again is the same node: its checksum is in its link.
    guard view.count == leaf.keys.count else {
      throw .corrupted("rows=\(view.count) != \(leaf.keys.count)", at: leaf.link.ref)
    }
    return view.arrays
  }
}
