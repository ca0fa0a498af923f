// CollectionReader.swift: a committed collection that is a separate tree, read in place.
// Invariants: the level falls by one with each step down, and every count is compared with the
// parent's, so a position leads to one element or to an error.

/// The tree of a collection in one version.
struct CollectionReader {
  let reader: NodeReader
  let shape: CollectionShape
  let root: NodeLink
  let level: Int
  let count: UInt64
  let newest: Version

  /// - Throws: `EngineError` with code `.corrupted` when no tree can be like that.
  init(
    _ reader: NodeReader, _ shape: CollectionShape, _ entry: ExternalEntry, newest: Version,
    at ref: Ref
  ) throws(EngineError) {
    self.reader = reader
    self.shape = shape
    self.newest = newest
    root = entry.link
    level = entry.level
    count = entry.count
    guard level <= Layout.levelMax, count > 0 else {
      throw .corrupted("collection of level=\(level) elements=\(count)", at: ref)
    }
  }

  init(
    reader: NodeReader, shape: CollectionShape, root: NodeLink, level: Int, count: UInt64,
    newest: Version
  ) {
    self.reader = reader
    self.shape = shape
    self.root = root
    self.level = level
    self.count = count
    self.newest = newest
  }

  /// The arrays of a leaf, which must have the number of elements given by its parent.
  static func leaf(_ node: Node, count: UInt64) throws(EngineError) -> NodeArrays {
    let arrays = try NodeArrays(node)
    guard arrays.count <= Layout.collectionLeafCountMax, UInt64(arrays.count) == count else {
      throw .corrupted(
        "elements=\(arrays.count) of a leaf, count_in_parent=\(count), at most "
          + "\(Layout.collectionLeafCountMax)", at: node.ref)
    }
    return arrays
  }

  /// The leaf that holds a position, and the position in it.
  /// - Complexity: O(log elements).
  func leaf(at position: UInt64) throws(EngineError) -> (leaf: NodeArrays, index: Int) {
    precondition(position < count, "positions were checked by the caller")
    var (link, depth, rest, count) = (root, level, position, count)
    while depth > 0 {
      let node = try reader.node(link, kind: .collectionInner, level: depth, newest: newest)
      let inner = try CollectionInnerView(node, count: count)
      let (child, range) = try inner.childIndex(for: rest)
      link = inner.link(child)
      rest -= range.lowerBound
      count = range.upperBound - range.lowerBound
      depth -= 1
    }
    let node = try reader.node(link, kind: .collectionLeaf, newest: newest)
    return (try Self.leaf(node, count: count), Int(rest))
  }

  /// The element at a position.
  func element(at position: UInt64) throws(EngineError) -> Value {
    let (leaf, index) = try leaf(at: position)
    return try reader.value(leaf, shape.element, index, newest: newest)
  }

  /// The key of a dictionary's entry at a position.
  func key(at position: UInt64) throws(EngineError) -> String {
    let (leaf, index) = try leaf(at: position)
    guard case .string(let key) = try reader.value(leaf, shape.key, index, newest: newest) else {
      preconditionFailure("keys are strings")
    }
    return key
  }

  /// Calls `body` with each leaf, in order.
  func forEachLeaf(_ body: (NodeArrays) throws(EngineError) -> Void) throws(EngineError) {
    // Leaves do not share sectors, so more leaves than sectors means one node twice.
    var leavesLeft = reader.bytes.count / Layout.sectorSizeBytes
    var stack = [(link: root, level: level, count: count)]
    while let (link, level, count) = stack.popLast() {
      guard level > 0 else {
        guard leavesLeft > 0 else { throw .corrupted("more leaves than sectors", at: link.ref) }
        leavesLeft -= 1
        try body(
          Self.leaf(reader.node(link, kind: .collectionLeaf, newest: newest), count: count))
        continue
      }
      let node = try reader.node(link, kind: .collectionInner, level: level, newest: newest)
      let inner = try CollectionInnerView(node, count: count)
      for child in (0..<inner.childCount).reversed() {
        let range = try inner.range(child)
        stack.append((inner.link(child), level - 1, range.upperBound - range.lowerBound))
      }
    }
  }
}
