// BPlusTree.swift: a committed tree, read in place: lookup and ordered iteration (LeafWalk).
// Invariant: the level falls by one with each step down, so no bytes can make a walk endless.

/// The tree of one table in one version.
struct BPlusTree {
  let reader: NodeReader
  let root: NodeLink
  let level: Int
  let shape: LeafShape
  let newest: Version

  /// The values of a key, or nil.
  /// - Complexity: O(log rows).
  func row(_ key: Int64) throws(EngineError) -> [Value]? {
    guard let (leaf, index) = try find(key) else { return nil }
    leaf.arrays.prefetch(row: index)
    return try reader.row(leaf, index, shape, newest: newest)
  }

  /// The leaf of a key and the row's index in it, or nil.
  /// - Complexity: O(log rows).
  @inline(__always)
  func find(_ key: Int64) throws(EngineError) -> (leaf: LeafView, index: Int)? {
    guard !root.isNone else { return nil }
    var link = root
    var depth = level
    // Behind the leaf, or the leaf itself.
    var next = root.ref.offsetBytes
    while depth > 0 {
      let inner = try InnerView(reader.node(link, kind: .inner, level: depth, newest: newest))
      let child = inner.childIndex(for: key)
      link = inner.link(child)
      next = inner.link(min(child + 1, inner.childCount - 1)).ref.offsetBytes
      depth -= 1
    }
    // Header and descriptors are adjacent: their cache lines are fetched together.
    reader.bytes.prefetch(at: link.ref.offsetBytes, plus: 0, count: shape.arraysOffsetBytes)
    let leaf = try LeafView(reader.node(link, kind: .leaf, newest: newest))
    guard let index = leaf.index(of: key) else { return nil }
    // Whoever reads one row after the other comes to the next leaf later.
    if index == 0 {
      reader.bytes.prefetch(at: next, plus: 0, count: shape.arraysOffsetBytes)
    }
    return (leaf, index)
  }

  /// Calls `body` with each leaf, in key order.
  ///
  /// With a section, views of one leaf are invalid when `body` is called with the next: a scan of
  /// an encrypted file keeps no more of it in memory than a lookup does.
  func forEachLeaf(
    section: ReadSection = .none, _ body: (LeafView) throws(EngineError) -> Void
  ) throws(EngineError) {
    var walk = LeafWalk(self, section)
    while let leaf = try walk.next() { try body(leaf) }
  }
}
