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
    guard let leaf = try leaf(of: key), let index = leaf.index(of: key) else { return nil }
    return try reader.row(leaf, index, shape, newest: newest)
  }

  /// The leaf that has the key if any has; nil for a tree without rows.
  @inline(__always)
  func leaf(of key: Int64) throws(EngineError) -> LeafView? {
    guard !root.isNone else { return nil }
    var link = root
    var depth = level
    while depth > 0 {
      let inner = try InnerView(reader.node(link, kind: .inner, level: depth, newest: newest))
      link = inner.link(inner.childIndex(for: key))
      depth -= 1
    }
    // Header and descriptors stand side by side: their lines come together, not one by one.
    reader.bytes.prefetch(at: link.ref.offsetBytes, plus: 0, count: shape.arraysOffsetBytes)
    return try LeafView(reader.node(link, kind: .leaf, newest: newest), shape: shape)
  }

  /// Calls `body` with each leaf, in key order.
  func forEachLeaf(_ body: (LeafView) throws(EngineError) -> Void) throws(EngineError) {
    var walk = LeafWalk(self)
    while let leaf = try walk.next() { try body(leaf) }
  }
}
