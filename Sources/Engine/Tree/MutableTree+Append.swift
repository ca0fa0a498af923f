// MutableTree+Append.swift: appends whole leaves to a tree, for rows that are added in key order.
// Invariant: an appended leaf begins after the last key of the tree.

extension MutableTree {
  /// The greatest key, or nil when there are no rows.
  /// - Complexity: O(log rows).
  func lastKey() throws(EngineError) -> Int64? {
    switch try lastLeaf(writer) {
    case .leaf(let leaf): return leaf.keys.last
    case .stored(let link):
      let leaf = try LeafView(writer.reader.node(link, kind: .leaf, newest: writer.base))
      return leaf.keys[leaf.count - 1]
    case .inner, nil: return nil
    }
  }

  /// Adds a leaf at the end; a small one joins the last one.
  func append(_ leaf: MutableLeaf) throws(EngineError) {
    guard level < Layout.levelMax else {
      throw EngineError(code: .limit, message: "a tree has at most \(Layout.levelMax) levels")
    }
    hot = nil
    let rows = UInt64(leaf.count)
    if root == nil {
      level = 0
      root = .leaf(leaf)
    } else {
      // The greatest key belongs to the last leaf, even if separators are damaged.
      try change(at: KeyPosition(.max), by: 0, writer) { last, _, splits in
        precondition(last.keys[last.count - 1] < leaf.keys[0], "a leaf is appended at the end")
        if last.sizeBytes(with: leaf) > leafSizeBytesMax {
          splits.append(Split(mark: leaf.keys[0], right: .leaf(leaf)))
        } else {
          last.append(leaf)
        }
      }
    }
    rowCount &+= rows
  }
}
