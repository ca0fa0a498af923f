// MutableTree+Remove.swift: deleting rows, and merging what got too small.

extension MutableTree {
  /// Deletes a row.
  /// - Throws: `EngineError` with code `.keyNotFound`.
  func remove(_ key: Int64) throws(EngineError) {
    guard var child = root else { throw Self.notFound(key) }
    root = nil
    hot = nil
    defer { root = isEmpty(child) ? nil : child }
    try remove(key, below: &child, level: level)
    while case .inner(let inner) = child, inner.children.count == 1 {
      child = inner.children[0]
      level -= 1
    }
    if isEmpty(child) { level = 0 }
  }

  private func isEmpty(_ child: MutableChild) -> Bool {
    switch child {
    case .stored: false
    case .leaf(let leaf): leaf.count == 0
    case .inner(let inner): inner.children.isEmpty
    }
  }

  private func remove(
    _ key: Int64, below child: inout MutableChild, level: Int
  ) throws(EngineError) {
    try makeMutable(&child, level: level)
    switch child {
    case .stored: preconditionFailure("made mutable above")
    case .leaf(let leaf):
      guard let index = leaf.index(of: key) else { throw Self.notFound(key) }
      try dropStrings(of: leaf, at: index)
      leaf.remove(at: index)
      if rowCount > 0 { rowCount -= 1 }
    case .inner(let inner):
      let index = inner.childIndex(for: key)
      try remove(key, below: &inner.children[index], level: level - 1)
      try repair(inner, at: index, level: level)
    }
  }

  /// Drops an empty child, and merges a small one with a neighbour when both fit into one node.
  private func repair(
    _ inner: MutableInner, at index: Int, level: Int
  ) throws(EngineError) {
    if isEmpty(inner.children[index]) {
      inner.children.remove(at: index)
      if !inner.separators.isEmpty { inner.separators.remove(at: max(0, index - 1)) }
      return
    }
    guard isSmall(inner.children[index]), inner.children.count > 1 else { return }
    let left = index > 0 ? index - 1 : 0
    try makeMutable(&inner.children[left], level: level - 1)
    try makeMutable(&inner.children[left + 1], level: level - 1)
    switch (inner.children[left], inner.children[left + 1]) {
    case (.leaf(let first), .leaf(let second)):
      guard first.sizeBytes(with: second) <= shape.leafSizeBytesMax * 3 / 4 else { return }
      first.append(second)
    case (.inner(let first), .inner(let second)):
      guard first.children.count + second.children.count <= Layout.childCountMax * 3 / 4 else {
        return
      }
      first.separators.append(inner.separators[left])
      first.separators += second.separators
      first.children += second.children
    default: preconditionFailure("children of one node have one level")
    }
    inner.children.remove(at: left + 1)
    inner.separators.remove(at: left)
  }

  private func isSmall(_ child: MutableChild) -> Bool {
    switch child {
    case .stored: false
    case .leaf(let leaf): leaf.sizeBytes < shape.leafSizeBytesMax / 4
    case .inner(let inner): inner.children.count < Layout.childCountMin
    }
  }
}
