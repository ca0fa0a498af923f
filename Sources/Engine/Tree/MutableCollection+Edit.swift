// MutableCollection+Edit.swift: putting elements in and taking them out.

extension MutableCollection {
  /// Inserts an element before the one at the position.
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
    if root == nil {
      root = .leaf(CollectionLeaf(shape.columns.map { MutableColumn($0) }))
      level = 0
    }
    try change(at: position, by: 1, writer) { leaf, index throws(EngineError) in
      for column in values.indices {
        try leaf.columns[column].insert(values[column], at: index, writer)
      }
    }
  }

  /// Replaces an element.
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
    at index: UInt64, by difference: Int, _ writer: TreeWriter,
    _ body: (CollectionLeaf, Int) throws(EngineError) -> Void
  ) throws(EngineError) {
    let position = ElementPosition(index: index, count: count)
    try change(at: position, by: difference, writer) { leaf, below, splits throws(EngineError) in
      let row = Int(below.index)
      try body(leaf, row)
      guard leaf.count > 1,
        leaf.count > Layout.collectionLeafCountMax || leaf.sizeBytes > Layout.leafSizeBytesMax
      else { return }
      let right = leaf.split(at: leaf.cut(after: row))
      splits.append(Split(mark: UInt64(right.count), right: .leaf(right)))
    }
    count += UInt64(difference)
  }

  /// Takes an element out.
  func remove(at index: UInt64, _ writer: TreeWriter) throws(EngineError) {
    precondition(index < count, "positions were checked by the caller")
    let position = ElementPosition(index: index, count: count)
    let isRemoved = try remove(at: position, writer) { leaf, below throws(EngineError) in
      let row = Int(below.index)
      for column in leaf.columns.indices {
        try leaf.columns[column].dropExternal(at: row, writer)
        leaf.columns[column].remove(at: row)
      }
      return true
    }
    precondition(isRemoved, "a collection with elements has a root")
    count -= 1
  }
}
