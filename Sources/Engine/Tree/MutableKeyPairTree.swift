// MutableKeyPairTree.swift: an index while a writer changes it. Committed nodes are read until the
// first change below them; then they are copied into memory and their place is released.
// Invariants: children of one inner node have the same level; a tree without pairs has no root; no
// leaf and no inner node is larger than a sector.

/// A child of an index node: committed and untouched, or in memory.
enum MutableKeyPairChild {
  case stored(NodeLink)
  case leaf(MutableKeyPairLeaf)
  case inner(MutableKeyPairInner)
}

/// An inner node of an index in memory.
final class MutableKeyPairInner {
  var separators: [KeyPair]
  var children: [MutableKeyPairChild]

  init(separators: [KeyPair], children: [MutableKeyPairChild]) {
    self.separators = separators
    self.children = children
  }

  func childIndex(for pair: KeyPair) -> Int {
    if let last = separators.last, last <= pair { return separators.count }
    return separators.partitioningIndex { $0 > pair }
  }
}

/// An index that can be changed.
final class MutableKeyPairTree: KeyPairSource {
  let writer: TreeWriter
  var root: MutableKeyPairChild?
  var level: Int
  /// Pairs, equal ones counted once.
  var pairCount: UInt64

  init(writer: TreeWriter, root: NodeLink = .none, level: Int = 0, pairCount: UInt64 = 0) {
    self.writer = writer
    self.root = root.isNone ? nil : .stored(root)
    self.level = level
    self.pairCount = pairCount
  }

  /// Leaves of a transaction are bounded by its memory, those of the file by its sectors.
  var leafCountBound: Int { .max }

  func place(of pair: KeyPair) throws(EngineError) -> KeyPairPlace? {
    guard var child = root else { return nil }
    var depth = level
    var upper: KeyPair?
    while true {
      switch child {
      case .stored(let link):
        let place = try KeyPairTree(
          reader: writer.reader, root: link, level: depth, newest: writer.base
        ).place(of: pair)
        guard let place else { return nil }
        return KeyPairPlace(leaf: place.leaf, upper: place.upper ?? upper)
      case .inner(let inner):
        let index = inner.childIndex(for: pair)
        if index < inner.separators.count { upper = inner.separators[index] }
        child = inner.children[index]
        depth -= 1
      case .leaf(let leaf): return KeyPairPlace(leaf: .changed(leaf), upper: upper)
      }
    }
  }

  /// Brings a child into memory, so that it can be changed.
  func makeMutable(_ child: inout MutableKeyPairChild, level: Int) throws(EngineError) {
    guard case .stored(let link) = child else { return }
    if level == 0 {
      let node = try writer.reader.node(link, kind: .indexLeaf, newest: writer.base)
      child = .leaf(try MutableKeyPairLeaf(KeyPairLeafView(node)))
      writer.release(node)
    } else {
      let node = try writer.reader.node(
        link, kind: .indexInner, level: level, newest: writer.base)
      let view = try KeyPairInnerView(node)
      child = .inner(
        MutableKeyPairInner(
          separators: (0..<view.childCount - 1).map { view.separator($0) },
          children: (0..<view.childCount).map { .stored(view.link($0)) }))
      writer.release(node)
    }
  }

  /// Empties the tree; the new version reaches none of its nodes.
  /// - Complexity: O(nodes): each is read for the version that wrote it.
  func releaseAll() throws(EngineError) {
    guard let root else { return }
    self.root = nil
    var nodesLeft = writer.reader.bytes.count / Layout.sectorSizeBytes
    var stack = [(child: root, level: level)]
    while let (child, level) = stack.popLast() {
      switch child {
      case .leaf: continue
      case .inner(let inner): stack += inner.children.map { ($0, level - 1) }
      case .stored(let link):
        guard nodesLeft > 0 else { throw .corrupted("more index nodes than sectors", at: link.ref) }
        nodesLeft -= 1
        if level == 0 {
          writer.release(try writer.reader.node(link, kind: .indexLeaf, newest: writer.base))
          continue
        }
        let node = try writer.reader.node(
          link, kind: .indexInner, level: level, newest: writer.base)
        let view = try KeyPairInnerView(node)
        for index in 0..<view.childCount { stack.append((.stored(view.link(index)), level - 1)) }
        writer.release(node)
      }
    }
    level = 0
    pairCount = 0
  }

  // MARK: bytes

  /// Gives every changed node its place and its bytes, children first.
  /// - Returns: The link to the root, or none for a tree without pairs.
  func encode(into sink: inout NodeSink) -> NodeLink {
    guard let root else { return .none }
    return encode(root, level: level, into: &sink)
  }

  private func encode(
    _ child: MutableKeyPairChild, level: Int, into sink: inout NodeSink
  ) -> NodeLink {
    precondition(level >= 0 && level <= Layout.levelMax, "the depth of a tree is bounded")
    switch child {
    case .stored(let link): return link
    case .leaf(let leaf): return leaf.encode(into: &sink)
    case .inner(let inner):
      var links: [NodeLink] = []
      links.reserveCapacity(inner.children.count)
      for child in inner.children {
        links.append(encode(child, level: level - 1, into: &sink))
      }
      precondition(links.count <= Layout.keyPairChildCountMax, "a full inner node was split")
      return sink.add(
        kind: .indexInner, level: level,
        sizeBytes: KeyPairInnerView.sizeBytes(childCount: links.count), count: links.count
      ) { KeyPairInnerView.encode(separators: inner.separators, links: links, into: $0) }
    }
  }
}
