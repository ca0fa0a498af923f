// ElementComparison.swift: whether two collections stored as separate trees have equal elements.
// Both have the same number of elements. Subtrees with the same link at the same position are
// skipped.

/// A walk over two collections, position by position.
struct ElementComparison {
  private struct Subtree {
    let link: NodeLink
    let level: Int
    let count: UInt64
    /// The position of the first element.
    let start: UInt64
  }

  private struct Cursor {
    let collection: CollectionReader
    var ahead: [Subtree]
    var leaf: (arrays: NodeArrays, link: NodeLink, index: Int)?
    var nodesLeft: Int

    init(_ collection: CollectionReader) {
      self.collection = collection
      nodesLeft = collection.reader.bytes.count / Layout.sectorSizeBytes
      ahead = [
        Subtree(link: collection.root, level: collection.level, count: collection.count, start: 0)
      ]
    }

    mutating func open(_ comparison: NodeComparison) throws(EngineError) {
      guard leaf == nil, let subtree = ahead.popLast() else { return }
      comparison.count()
      guard nodesLeft > 0 else {
        throw .corrupted("more nodes than sectors", at: subtree.link.ref)
      }
      nodesLeft -= 1
      let (reader, newest) = (collection.reader, collection.newest)
      guard subtree.level > 0 else {
        let node = try reader.node(subtree.link, kind: .collectionLeaf, newest: newest)
        let arrays = try CollectionReader.leaf(node, count: subtree.count)
        leaf = (arrays, subtree.link, 0)
        return
      }
      let node = try reader.node(
        subtree.link, kind: .collectionInner, level: subtree.level, newest: newest)
      let inner = try CollectionInnerView(node, count: subtree.count)
      for child in (0..<inner.childCount).reversed() {
        let range = try inner.range(child)
        ahead.append(
          Subtree(
            link: inner.link(child), level: subtree.level - 1,
            count: range.upperBound - range.lowerBound,
            start: subtree.start + range.lowerBound))
      }
    }
  }

  private let comparison: NodeComparison
  private var left: Cursor
  private var right: Cursor

  init(_ left: CollectionReader, _ right: CollectionReader, _ comparison: NodeComparison) {
    self.left = Cursor(left)
    self.right = Cursor(right)
    self.comparison = comparison
  }

  /// Whether all elements, and all keys of a dictionary, are equal.
  mutating func areEqual() throws(EngineError) -> Bool {
    while true {
      if left.leaf == nil, right.leaf == nil {
        guard let mine = left.ahead.last, let other = right.ahead.last else { return true }
        if mine.start == other.start, mine.level == other.level, mine.count == other.count,
          comparison.isSame(mine.link, other.link)
        {
          left.ahead.removeLast()
          right.ahead.removeLast()
          continue
        }
      }
      guard left.leaf != nil, right.leaf != nil else {
        try open()
        continue
      }
      guard try compareLeaves() else { return false }
    }
  }

  private mutating func open() throws(EngineError) {
    let mine = left.leaf == nil ? left.ahead.last?.level ?? -1 : -1
    let other = right.leaf == nil ? right.ahead.last?.level ?? -1 : -1
    guard mine >= 0 || other >= 0 else {
      throw .corrupted("two collections of \(left.collection.count) elements end apart")
    }
    if mine >= other { try left.open(comparison) }
    if other >= mine { try right.open(comparison) }
  }

  /// Compares the elements of the open leaves until one has no more elements.
  private mutating func compareLeaves() throws(EngineError) -> Bool {
    guard var mine = left.leaf, var other = right.leaf else { return true }
    while mine.index < mine.arrays.count, other.index < other.arrays.count {
      for (layout, otherLayout) in zip(
        left.collection.shape.columns, right.collection.shape.columns)
      {
        let value = try left.collection.reader.value(
          mine.arrays, layout, mine.index, newest: left.collection.newest)
        let otherValue = try right.collection.reader.value(
          other.arrays, otherLayout, other.index, newest: right.collection.newest)
        guard value == otherValue else { return false }
      }
      mine.index += 1
      other.index += 1
    }
    left.leaf = mine.index < mine.arrays.count ? mine : nil
    right.leaf = other.index < other.arrays.count ? other : nil
    return true
  }
}
