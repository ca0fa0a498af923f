// LeafWalk.swift: the leaves of a committed tree one after the other, in key order.
// Invariant: the level falls by one with each step down, and there are no more leaves than sectors,
// so no bytes can make a walk endless.

/// A walk over the leaves of a tree; one array is all that it allocates.
struct LeafWalk {
  let tree: BPlusTree
  private var path: [(inner: InnerView, next: Int)] = []
  private var leavesLeft: Int
  private var isAtStart = true

  init(_ tree: BPlusTree) {
    self.tree = tree
    // Leaves have sectors of their own, so more of them than sectors means one node twice.
    leavesLeft = tree.reader.bytes.count / Layout.sectorSizeBytes
    path.reserveCapacity(tree.level)
  }

  /// The next leaf, or nil behind the last one.
  @inline(__always)
  mutating func next() throws(EngineError) -> LeafView? {
    guard let link = try nextLink() else { return nil }
    guard leavesLeft > 0 else { throw .corrupted("more leaves than sectors", at: link.ref) }
    leavesLeft -= 1
    return try LeafView(tree.reader.node(link, kind: .leaf, newest: tree.newest))
  }

  /// Asks for the cache lines that a scan of one array will read in the next leaf.
  ///
  /// It is probably laid out like the present one; a wrong guess costs nothing but time.
  @inline(__always)
  func prefetchNext(_ part: RawBytes, of leaf: LeafView) {
    guard let last = path.last, last.next < last.inner.childCount else { return }
    let start = last.inner.link(last.next).ref.offsetBytes
    tree.reader.bytes.prefetch(
      at: start, plus: leaf.node.bytes.offset(of: part), count: part.count)
  }

  @inline(__always)
  private mutating func nextLink() throws(EngineError) -> NodeLink? {
    if let last = path.last, last.next < last.inner.childCount, path.count == tree.level {
      path[path.count - 1].next += 1
      if last.next + 2 < last.inner.childCount {
        let start = last.inner.link(last.next + 2).ref.offsetBytes
        tree.reader.bytes.prefetch(at: start, plus: 0, count: tree.shape.arraysOffsetBytes)
      }
      return last.inner.link(last.next)
    }
    return try descend()
  }

  /// Up to the next inner node with a child left, and down to its first leaf.
  @inline(never)
  private mutating func descend() throws(EngineError) -> NodeLink? {
    var link: NodeLink
    if isAtStart {
      isAtStart = false
      guard !tree.root.isNone else { return nil }
      link = tree.root
    } else {
      while let last = path.last, last.next == last.inner.childCount { path.removeLast() }
      guard let last = path.last else { return nil }
      link = last.inner.link(last.next)
      path[path.count - 1].next += 1
    }
    while path.count < tree.level {
      let level = tree.level - path.count
      let inner = try InnerView(
        tree.reader.node(link, kind: .inner, level: level, newest: tree.newest))
      path.append((inner, 1))
      link = inner.link(0)
    }
    return link
  }
}
