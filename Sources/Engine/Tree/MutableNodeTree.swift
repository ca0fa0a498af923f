// MutableNodeTree.swift: the common part of the trees of rows, of index pairs and of a collection's
// elements while a writer changes them: nodes, and descents to a leaf. Committed nodes are read
// until the first change below them; then they are copied into memory and their place is released
// (MutableNodeTree+Edit.swift). Invariants: children of one inner node have the same level; a tree
// without content has no root.

/// A node as its parent holds it: committed and untouched, or in memory.
enum MutableNode<Leaf: MutableTreeLeaf> {
  case stored(NodeLink)
  case leaf(Leaf)
  case inner(MutableInner<Leaf>)

  /// Whether nothing is below the node; committed nodes are never empty.
  var isEmpty: Bool {
    switch self {
    case .stored: false
    case .leaf(let leaf): leaf.count == 0
    case .inner(let inner): inner.children.isEmpty
    }
  }
}

/// An inner node in memory.
final class MutableInner<Leaf: MutableTreeLeaf> {
  var guide: Leaf.Guide
  var children: MutableChildren<Leaf>
  /// The committed node that it was; nil for a new one.
  let stored: NodeLink?

  init(_ guide: Leaf.Guide, _ children: MutableChildren<Leaf>, stored: NodeLink? = nil) {
    self.guide = guide
    self.children = children
    self.stored = stored
  }
}

/// A leaf in memory.
protocol MutableTreeLeaf: AnyObject {
  associatedtype Guide: ChildGuide
  /// The committed node that it was; nil for a new one.
  var stored: NodeLink? { get set }
  /// Rows, pairs or elements.
  var count: Int { get }
  /// At most this many bytes when encoded.
  var sizeBytes: Int { get }
  /// The size bound of this leaf with the content of its right neighbour.
  func sizeBytes(with right: Self) -> Int
  /// Splits off the content from `index` on.
  func split(at index: Int) -> Self
  /// Adds the content of the right neighbour.
  func append(_ right: Self)
  /// Releases the external values of the leaf.
  func dropExternals(_ writer: TreeWriter) throws(EngineError)
}

/// A tree that can be changed.
protocol MutableNodeTree: AnyObject {
  associatedtype Leaf: MutableTreeLeaf
  associatedtype View: InnerNodeView where View.Guide == Leaf.Guide

  var root: MutableNode<Leaf>? { get set }
  /// The level of the root.
  var level: Int { get set }
  /// An inner node with more children is split.
  var childCountMax: Int { get }
  /// An inner node with fewer children is merged with a neighbour.
  var childCountMin: Int { get }
  /// The role of a node of this level.
  func role(level: Int) -> NodeRole
  /// Makes a leaf from a committed node, and releases the node.
  func loadLeaf(
    _ link: NodeLink, elementCount: UInt64?, _ writer: TreeWriter
  ) throws(EngineError) -> Leaf
  /// Whether a leaf is to be merged with a neighbour.
  func isSmall(_ leaf: Leaf) -> Bool
  /// Whether the content of two neighbours should be merged into one leaf.
  func canMerge(_ left: Leaf, _ right: Leaf) -> Bool
  /// The bytes that a leaf would have in its present place; nil when it cannot have one.
  func plan(_ leaf: Leaf) -> LeafImage?
  /// Places and encodes a leaf.
  func encode(_ leaf: Leaf, into sink: inout NodeSink, _ writer: TreeWriter) -> NodeLink
  /// Places and encodes an inner node, children first.
  func encode(
    _ inner: MutableInner<Leaf>, level: Int, into sink: inout NodeSink, _ writer: TreeWriter
  ) -> NodeLink
}

extension MutableNodeTree {
  typealias Child = MutableNode<Leaf>
  typealias Position = Leaf.Guide.Position

  // MARK: ways down

  /// The leaf in memory that a position is in, or the committed node with everything around it.
  ///
  /// The position becomes that of the node found.
  @inline(__always)
  func lowest(at position: inout Position) -> (node: Child, level: Int)? {
    guard var node = root else { return nil }
    var depth = level
    while case .inner(let inner) = node {
      let step = inner.guide.step(from: position)
      node = inner.children[step.child]
      position = step.position
      depth -= 1
    }
    return (node, depth)
  }

  /// The last leaf: in memory, or the link to a committed one.
  /// - Complexity: O(level).
  func lastLeaf(_ writer: TreeWriter) throws(EngineError) -> Child? {
    guard var node = root else { return nil }
    var depth = level
    while true {
      switch node {
      case .leaf: return node
      case .inner(let inner):
        guard let last = inner.children.last else { return nil }
        node = last
      case .stored(let link):
        guard depth > 0 else { return node }
        let inner = try View(
          writer.reader.node(link, kind: View.kind, level: depth, newest: writer.base))
        node = .stored(inner.link(inner.childCount - 1))
      }
      depth -= 1
    }
  }

  // MARK: committed nodes

  /// Brings a child into memory, so that it can be changed.
  func makeMutable(
    _ child: inout Child, level: Int, elementCount: UInt64?, _ writer: TreeWriter
  ) throws(EngineError) {
    guard case .stored(let link) = child else { return }
    guard level > 0 else {
      let leaf = try loadLeaf(link, elementCount: elementCount, writer)
      leaf.stored = link
      child = .leaf(leaf)
      return
    }
    let node = try writer.reader.node(link, kind: View.kind, level: level, newest: writer.base)
    let view = try View(node)
    let children = MutableChildren<Leaf>(storedCount: view.childCount) { view.link($0) }
    child = .inner(MutableInner(try view.guide(elementCount), children, stored: link))
    writer.release(node)
  }

  /// Releases every node of the tree, and all external values of its leaves.
  func releaseNodes(_ writer: TreeWriter) throws(EngineError) {
    if let root { try release(root, level: level, writer) }
    root = nil
    level = 0
  }

  private func release(
    _ node: Child, level: Int, _ writer: TreeWriter
  ) throws(EngineError) {
    precondition(level >= 0, "the depth of a tree is bounded")
    switch node {
    case .stored(let link): try writer.releaseTree(link, role(level: level))
    case .leaf(let leaf): try leaf.dropExternals(writer)
    case .inner(let inner):
      for child in inner.children { try release(child, level: level - 1, writer) }
    }
  }

  // MARK: new nodes

  /// Places and encodes every changed node, children first.
  /// - Returns: The link to the root, or none for a tree without content.
  func encode(into sink: inout NodeSink, _ writer: TreeWriter) -> NodeLink {
    guard let root else { return .none }
    return encode(root, level: level, into: &sink, writer)
  }

  func encode(
    _ node: Child, level: Int, into sink: inout NodeSink, _ writer: TreeWriter
  ) -> NodeLink {
    precondition(level >= 0 && level <= Layout.levelMax, "the depth of a tree is bounded")
    switch node {
    case .stored(let link):
      guard level == 0, let leaf = writer.copied(link) else { return link }
      return sink.add(leaf)
    case .leaf(let leaf): return encode(leaf, into: &sink, writer)
    case .inner(let inner): return encode(inner, level: level, into: &sink, writer)
    }
  }

  func encode(
    _ inner: MutableInner<Leaf>, level: Int, into sink: inout NodeSink, _ writer: TreeWriter
  ) -> NodeLink {
    precondition(inner.children.count <= childCountMax, "a full inner node was split")
    var links: [NodeLink] = []
    links.reserveCapacity(inner.children.count)
    for child in inner.children {
      links.append(encode(child, level: level - 1, into: &sink, writer))
    }
    return sink.add(
      kind: View.kind, level: level, sizeBytes: View.sizeBytes(childCount: links.count),
      count: links.count
    ) { View.encode(inner.guide, links: links, into: $0) }
  }
}
