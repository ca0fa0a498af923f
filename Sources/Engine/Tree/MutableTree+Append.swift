// MutableTree+Append.swift: whole leaves at the end of a tree, for rows that come in key order.
// Invariant: a leaf that is appended begins behind the last key of the tree.

extension MutableTree {
  /// The greatest key, or nil when there are no rows.
  /// - Complexity: O(log rows).
  func lastKey() throws(EngineError) -> Int64? {
    guard var child = root else { return nil }
    var depth = level
    while true {
      switch child {
      case .leaf(let leaf): return leaf.keys.last
      case .inner(let inner):
        guard let last = inner.children.last else { return nil }
        child = last
        depth -= 1
      case .stored(let link) where depth > 0:
        let inner = try InnerView(
          writer.reader.node(link, kind: .inner, level: depth, newest: writer.base))
        child = .stored(inner.link(inner.childCount - 1))
        depth -= 1
      case .stored(let link):
        let leaf = try LeafView(writer.reader.node(link, kind: .leaf, newest: writer.base))
        return leaf.keys[leaf.count - 1]
      }
    }
  }

  /// Adds a leaf at the end; a small one joins the last one.
  func append(_ leaf: MutableLeaf) throws(EngineError) {
    guard level < Layout.levelMax else {
      throw EngineError(code: .limit, message: "a tree has at most \(Layout.levelMax) levels")
    }
    hot = nil
    let rows = UInt64(leaf.count)
    guard var child = root else {
      level = 0
      root = .leaf(leaf)
      rowCount &+= rows
      return
    }
    root = nil
    // An error on the way down leaves a tree of the same content; the root goes back either way.
    defer { root = child }
    if let split = try append(leaf, below: &child, level: level) {
      child = .inner(
        MutableInner(separators: [split.separator], children: [child, split.right]))
      level += 1
    }
    rowCount &+= rows
  }

  private func append(
    _ leaf: MutableLeaf, below child: inout MutableChild, level: Int
  ) throws(EngineError) -> Split? {
    try makeMutable(&child, level: level)
    switch child {
    case .stored: preconditionFailure("made mutable above")
    case .leaf(let last):
      precondition(last.keys[last.count - 1] < leaf.keys[0], "a leaf is appended at the end")
      guard last.sizeBytes(with: leaf) > leafSizeBytesMax else {
        last.append(leaf)
        return nil
      }
      return Split(separator: leaf.keys[0], right: .leaf(leaf))
    case .inner(let inner):
      let index = inner.children.count - 1
      guard let split = try append(leaf, below: &inner.children[index], level: level - 1) else {
        return nil
      }
      inner.separators.append(split.separator)
      inner.children.append(split.right)
      return inner.children.count > Layout.childCountMax ? splitting(inner, after: index) : nil
    }
  }
}
