// MutableCollection+Edit.swift: putting elements in and taking them out, splitting what got too
// large and merging what got too small. Each edit changes one leaf and the nodes above it.

extension MutableCollection {
  /// A new right neighbour and its elements.
  fileprivate struct Split {
    let right: CollectionChild
    let count: UInt64
  }

  /// Puts an element in, before the one that is at the position now.
  /// - Parameters:
  ///   - values: The element; of a dictionary the key and the element.
  ///   - position: At most the count.
  ///   - writer: Knows the committed nodes.
  /// - Throws: `EngineError` with code `.limit` or `.corrupted`.
  /// - Complexity: O(log elements + elements of a leaf).
  func insert(
    _ values: [Value], at position: UInt64, _ writer: TreeWriter
  ) throws(EngineError) {
    precondition(position <= count, "positions were checked by the caller")
    guard level < Layout.levelMax, count < Layout.elementCountMax else {
      throw EngineError(
        code: .limit,
        message: "a collection of \(count) elements and level \(level) cannot grow; at most "
          + "\(Layout.elementCountMax) and \(Layout.levelMax)")
    }
    try change(at: position, by: 1, writer) { leaf, index throws(EngineError) in
      for column in values.indices {
        try leaf.columns[column].insert(values[column], at: index, writer)
      }
    }
  }

  /// Puts an element in the place of another.
  func replace(
    at position: UInt64, with value: Value, _ writer: TreeWriter
  ) throws(EngineError) {
    precondition(position < count, "positions were checked by the caller")
    let column = shape.isDictionary ? 1 : 0
    try change(at: position, by: 0, writer) { leaf, index throws(EngineError) in
      try leaf.columns[column].replace(value, at: index, writer)
    }
  }

  private func change(
    at position: UInt64, by difference: UInt64, _ writer: TreeWriter,
    _ body: (CollectionLeaf, Int) throws(EngineError) -> Void
  ) throws(EngineError) {
    let split = try change(
      &root, level: level, count: count, position, difference, body, writer)
    count += difference
    if let split {
      root = .inner(
        CollectionInner(
          counts: [count - split.count, split.count], children: [root, split.right]))
      level += 1
    }
  }

  private func change(
    _ child: inout CollectionChild, level: Int, count: UInt64, _ position: UInt64,
    _ difference: UInt64, _ body: (CollectionLeaf, Int) throws(EngineError) -> Void,
    _ writer: TreeWriter
  ) throws(EngineError) -> Split? {
    try makeMutable(&child, level: level, count: count, writer)
    switch child {
    case .stored: preconditionFailure("made mutable above")
    case .leaf(let leaf):
      try body(leaf, Int(position))
      return splitting(leaf, at: Int(position))
    case .inner(let inner):
      let (index, start) = inner.childIndex(for: position)
      let split = try change(
        &inner.children[index], level: level - 1, count: inner.counts[index], position - start,
        difference, body, writer)
      inner.counts[index] += difference
      guard let split else { return nil }
      inner.counts[index] -= split.count
      inner.counts.insert(split.count, at: index + 1)
      inner.children.insert(split.right, at: index + 1)
      return inner.children.count > Layout.childCountMax ? splitting(inner, after: index) : nil
    }
  }

  /// Elements that come in order fill their leaves; others find room in two halves.
  private func splitting(_ leaf: CollectionLeaf, at changed: Int) -> Split? {
    let count = leaf.count
    guard count > 1,
      count > Layout.collectionLeafCountMax || leaf.sizeBytes > Layout.leafSizeBytesMax
    else { return nil }
    let cut = changed == count - 1 ? count - 1 : changed == 0 ? 1 : count / 2
    var right: [MutableColumn] = []
    for column in leaf.columns.indices { right.append(leaf.columns[column].split(at: cut)) }
    return Split(right: .leaf(CollectionLeaf(right)), count: UInt64(count - cut))
  }

  private func splitting(_ inner: CollectionInner, after changed: Int) -> Split {
    let count = inner.children.count
    let cut = changed + 2 >= count ? count - 1 : count / 2
    let right = CollectionInner(
      counts: Array(inner.counts[cut...]), children: Array(inner.children[cut...]))
    inner.counts.removeSubrange(cut...)
    inner.children.removeSubrange(cut...)
    return Split(right: .inner(right), count: right.counts.reduce(0, +))
  }

  // MARK: removing

  /// Takes an element out.
  func remove(at position: UInt64, _ writer: TreeWriter) throws(EngineError) {
    precondition(position < count, "positions were checked by the caller")
    try remove(&root, level: level, count: count, position, writer)
    count -= 1
    while case .inner(let inner) = root, inner.children.count == 1 {
      root = inner.children[0]
      level -= 1
    }
  }

  private func remove(
    _ child: inout CollectionChild, level: Int, count: UInt64, _ position: UInt64,
    _ writer: TreeWriter
  ) throws(EngineError) {
    try makeMutable(&child, level: level, count: count, writer)
    switch child {
    case .stored: preconditionFailure("made mutable above")
    case .leaf(let leaf):
      for column in leaf.columns.indices {
        try leaf.columns[column].dropExternal(at: Int(position), writer)
        leaf.columns[column].remove(at: Int(position))
      }
    case .inner(let inner):
      let (index, start) = inner.childIndex(for: position)
      try remove(
        &inner.children[index], level: level - 1, count: inner.counts[index], position - start,
        writer)
      inner.counts[index] -= 1
      try repair(inner, at: index, level: level, writer)
    }
  }

  /// Drops an empty child, and merges a small one with a neighbour when both fit into one node.
  private func repair(
    _ inner: CollectionInner, at index: Int, level: Int, _ writer: TreeWriter
  ) throws(EngineError) {
    if inner.counts[index] == 0 {
      inner.counts.remove(at: index)
      inner.children.remove(at: index)
      return
    }
    guard isSmall(inner.children[index]), inner.children.count > 1 else { return }
    let left = index > 0 ? index - 1 : 0
    for neighbour in [left, left + 1] {
      try makeMutable(
        &inner.children[neighbour], level: level - 1, count: inner.counts[neighbour], writer)
    }
    switch (inner.children[left], inner.children[left + 1]) {
    case (.leaf(let first), .leaf(let second)):
      guard first.sizeBytes(with: second) <= Layout.leafSizeBytesMax * 3 / 4,
        first.count + second.count <= Layout.collectionLeafCountMax * 3 / 4
      else { return }
      for column in first.columns.indices { first.columns[column].append(second.columns[column]) }
    case (.inner(let first), .inner(let second)):
      guard first.children.count + second.children.count <= Layout.childCountMax * 3 / 4 else {
        return
      }
      first.counts += second.counts
      first.children += second.children
    default: preconditionFailure("children of one node have one level")
    }
    inner.counts[left] += inner.counts[left + 1]
    inner.counts.remove(at: left + 1)
    inner.children.remove(at: left + 1)
  }

  private func isSmall(_ child: CollectionChild) -> Bool {
    switch child {
    case .stored: false
    case .leaf(let leaf):
      leaf.sizeBytes < Layout.leafSizeBytesMin
        && leaf.count < Layout.collectionLeafCountMax / 4
    case .inner(let inner): inner.children.count < Layout.childCountMin
    }
  }
}
