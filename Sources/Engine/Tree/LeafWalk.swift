// LeafWalk.swift: iterates over the leaves of a committed tree in key order. Invariants: the level
// falls by one with each step down, and there are no more leaves than sectors, so damaged bytes
// cannot make a walk endless. In an encrypted file no view outlives a step: inner nodes are read
// again and the section is refreshed, so a walk keeps no more in memory than a lookup.

/// A walk over the leaves of a tree; it allocates one array only.
struct LeafWalk {
  private struct Step {
    let link: NodeLink
    let inner: InnerView
    let childCount: Int
    var next: Int
  }

  let tree: BPlusTree
  private let section: ReadSection
  private let isSealed: Bool
  private var path: [Step] = []
  private var leavesLeft: Int
  private var isAtStart = true

  init(_ tree: BPlusTree, _ section: ReadSection = .none) {
    self.tree = tree
    self.section = section
    isSealed = tree.reader.cipher != nil
    // Leaves do not share sectors, so more leaves than sectors means one node twice.
    leavesLeft = tree.reader.bytes.count / Layout.sectorSizeBytes
    path.reserveCapacity(tree.level)
  }

  /// The next leaf, or nil after the last one; views of the previous leaf become invalid.
  @inline(__always)
  mutating func next() throws(EngineError) -> LeafView? {
    guard let link = try nextLink() else { return nil }
    return try leaf(link)
  }

  /// The link of the next leaf, for a caller that need not read it, or nil after the last one.
  @inline(__always)
  mutating func nextLink() throws(EngineError) -> NodeLink? {
    guard let link = try nextChild() else { return nil }
    guard leavesLeft > 0 else { throw .corrupted("more leaves than sectors", at: link.ref) }
    leavesLeft -= 1
    return link
  }

  /// The leaf of a link returned by the walk.
  @inline(__always)
  func leaf(_ link: NodeLink) throws(EngineError) -> LeafView {
    try LeafView(tree.reader.node(link, kind: .leaf, newest: tree.newest))
  }

  /// Prefetches the cache lines that a scan of one array will read in the next leaf.
  ///
  /// The next leaf probably has the same layout; a wrong guess only costs time.
  @inline(__always)
  func prefetchNext(_ part: RawBytes, of leaf: LeafView) {
    guard !isSealed, let last = path.last, last.next < last.childCount else { return }
    let start = last.inner.link(last.next).ref.offsetBytes
    tree.reader.bytes.prefetch(
      at: start, plus: leaf.node.bytes.offset(of: part), count: part.count)
  }

  @inline(__always)
  private mutating func nextChild() throws(EngineError) -> NodeLink? {
    guard !isSealed, let last = path.last, last.next < last.childCount, path.count == tree.level
    else { return try descend() }
    path[path.count - 1].next += 1
    if last.next + 2 < last.childCount {
      let start = last.inner.link(last.next + 2).ref.offsetBytes
      tree.reader.bytes.prefetch(at: start, plus: 0, count: tree.shape.arraysOffsetBytes)
    }
    return last.inner.link(last.next)
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
      section.refresh()
      while let last = path.last, last.next == last.childCount { path.removeLast() }
      guard let last = path.last else { return nil }
      let level = tree.level - path.count + 1
      let inner = isSealed ? try inner(last.link, level: level) : last.inner
      // A node read again is the same node: its checksum is in its link.
      guard last.next < inner.childCount else {
        throw .corrupted("children=\(inner.childCount) != \(last.childCount)", at: last.link.ref)
      }
      link = inner.link(last.next)
      path[path.count - 1].next += 1
    }
    while path.count < tree.level {
      let inner = try inner(link, level: tree.level - path.count)
      path.append(Step(link: link, inner: inner, childCount: inner.childCount, next: 1))
      link = inner.link(0)
    }
    return link
  }

  private func inner(_ link: NodeLink, level: Int) throws(EngineError) -> InnerView {
    try InnerView(tree.reader.node(link, kind: .inner, level: level, newest: tree.newest))
  }
}
