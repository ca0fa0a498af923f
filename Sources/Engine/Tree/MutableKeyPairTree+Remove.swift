// MutableKeyPairTree+Remove.swift: taking pairs out, and merging what got too small.

extension MutableKeyPairTree {
  /// Takes a pair out, or counts it once less.
  /// - Returns: Whether it was there.
  @discardableResult
  func remove(_ pair: KeyPair) throws(EngineError) -> Bool { try remove(pair, all: false) }

  /// Takes a pair out, however often it is there.
  /// - Returns: Whether it was there.
  @discardableResult
  func removeAll(_ pair: KeyPair) throws(EngineError) -> Bool { try remove(pair, all: true) }

  private func remove(_ pair: KeyPair, all: Bool) throws(EngineError) -> Bool {
    guard var child = root else { return false }
    root = nil
    defer { root = isEmpty(child) ? nil : child }
    let isRemoved = try remove(pair, all: all, below: &child, level: level)
    while case .inner(let inner) = child, inner.children.count == 1 {
      child = inner.children[0]
      level -= 1
    }
    if isEmpty(child) { level = 0 }
    return isRemoved
  }

  private func isEmpty(_ child: MutableKeyPairChild) -> Bool {
    switch child {
    case .stored: false
    case .leaf(let leaf): leaf.count == 0
    case .inner(let inner): inner.children.isEmpty
    }
  }

  private func remove(
    _ pair: KeyPair, all: Bool, below child: inout MutableKeyPairChild, level: Int
  ) throws(EngineError) -> Bool {
    try makeMutable(&child, level: level)
    switch child {
    case .stored: preconditionFailure("made mutable above")
    case .leaf(let leaf):
      let index = leaf.firstIndex(notBelow: pair)
      guard index < leaf.count, leaf[index] == pair else { return false }
      let multiplicity = leaf.multiplicity(index)
      if multiplicity > 1, !all {
        leaf.setMultiplicity(multiplicity - 1, at: index)
      } else {
        leaf.remove(at: index)
        if pairCount > 0 { pairCount -= 1 }
      }
      return true
    case .inner(let inner):
      let index = inner.childIndex(for: pair)
      guard try remove(pair, all: all, below: &inner.children[index], level: level - 1) else {
        return false
      }
      try repair(inner, at: index, level: level)
      return true
    }
  }

  /// Drops an empty child, and merges a small one with a neighbour when both fit into one node.
  private func repair(
    _ inner: MutableKeyPairInner, at index: Int, level: Int
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
      guard first.sizeBytes(with: second) <= Layout.keyPairLeafSizeBytesMax * 3 / 4 else { return }
      first.append(second)
    case (.inner(let first), .inner(let second)):
      let count = first.children.count + second.children.count
      guard count <= Layout.keyPairChildCountMax * 3 / 4 else { return }
      first.separators.append(inner.separators[left])
      first.separators += second.separators
      first.children += second.children
    default: preconditionFailure("children of one node have one level")
    }
    inner.children.remove(at: left + 1)
    inner.separators.remove(at: left)
  }

  private func isSmall(_ child: MutableKeyPairChild) -> Bool {
    switch child {
    case .stored: false
    case .leaf(let leaf): leaf.sizeBytes < Layout.keyPairLeafSizeBytesMin
    case .inner(let inner): inner.children.count < Layout.keyPairChildCountMin
    }
  }
}
