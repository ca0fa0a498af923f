// MutableCollection.swift: the tree of a collection while a writer changes it. Committed nodes are
// read until the first change below them; then they are copied into memory and their place is
// released.
// Invariants: `counts` says how many elements each child has; no child is empty; children of one
// node have the same level; only a root leaf may be empty, and never when it is encoded.

/// A child: committed and untouched, or in memory.
enum CollectionChild {
  case stored(NodeLink)
  case leaf(CollectionLeaf)
  case inner(CollectionInner)
}

/// An inner node in memory.
final class CollectionInner {
  var counts: [UInt64]
  var children: [CollectionChild]

  init(counts: [UInt64], children: [CollectionChild]) {
    self.counts = counts
    self.children = children
  }

  /// The child of a position, and the positions before that child.
  ///
  /// The position behind the last element belongs to the last child, so that one can append there.
  func childIndex(for position: UInt64) -> (index: Int, start: UInt64) {
    var start: UInt64 = 0
    for index in counts.indices.dropLast() {
      if position < start + counts[index] { return (index, start) }
      start += counts[index]
    }
    return (counts.count - 1, start)
  }
}

/// A leaf in memory: the elements, and before them the keys of a dictionary.
final class CollectionLeaf {
  var columns: [MutableColumn]

  init(_ columns: [MutableColumn]) {
    self.columns = columns
  }

  var count: Int { columns[columns.count - 1].count }

  var sizeBytes: Int {
    columns.reduce(Layout.nodeHeaderBytes) {
      $0 + $1.sizeBytes + Layout.descriptorBytes * $1.layout.descriptorCount
    }
  }

  func sizeBytes(with right: CollectionLeaf) -> Int {
    var size = Layout.nodeHeaderBytes
    for index in columns.indices {
      size += columns[index].sizeBytes(with: right.columns[index])
      size += Layout.descriptorBytes * columns[index].layout.descriptorCount
    }
    return size
  }
}

/// A collection that is, or is going to be, a tree of its own.
final class MutableCollection {
  let shape: CollectionShape
  var root: CollectionChild
  var level: Int
  var count: UInt64

  /// An empty collection.
  init(_ shape: CollectionShape) {
    self.shape = shape
    root = .leaf(CollectionLeaf(shape.columns.map { MutableColumn($0) }))
    level = 0
    count = 0
  }

  /// A committed collection.
  init(_ committed: CollectionReader) {
    shape = committed.shape
    root = .stored(committed.root)
    level = committed.level
    count = committed.count
  }

  // MARK: reading

  /// The leaf in memory or in the file that holds a position, and the position in it.
  private func value(
    _ column: Int, at position: UInt64, _ writer: TreeWriter
  ) throws(EngineError) -> Value {
    precondition(position < count, "positions were checked by the caller")
    var (child, depth, rest, below) = (root, level, position, count)
    while true {
      switch child {
      case .stored(let link):
        let committed = CollectionReader(
          reader: writer.reader, shape: shape, root: link, level: depth, count: below,
          newest: writer.base)
        let (leaf, index) = try committed.leaf(at: rest)
        return try writer.reader.value(leaf, shape.columns[column], index, newest: writer.base)
      case .leaf(let leaf): return try leaf.columns[column].value(at: Int(rest), writer)
      case .inner(let inner):
        let (index, start) = inner.childIndex(for: rest)
        child = inner.children[index]
        below = inner.counts[index]
        rest -= start
        depth -= 1
      }
    }
  }

  /// The element at a position.
  /// - Complexity: O(log elements) nodes.
  func element(at position: UInt64, _ writer: TreeWriter) throws(EngineError) -> Value {
    try value(shape.isDictionary ? 1 : 0, at: position, writer)
  }

  /// The key of a dictionary's entry at a position.
  func key(at position: UInt64, _ writer: TreeWriter) throws(EngineError) -> String {
    guard case .string(let key) = try value(0, at: position, writer) else {
      preconditionFailure("keys are strings")
    }
    return key
  }

  // MARK: committed nodes

  /// Brings a child into memory, so that it can be changed.
  func makeMutable(
    _ child: inout CollectionChild, level: Int, count: UInt64, _ writer: TreeWriter
  ) throws(EngineError) {
    guard case .stored(let link) = child else { return }
    let node: Node
    if level == 0 {
      node = try writer.reader.node(link, kind: .collectionLeaf, newest: writer.base)
      let arrays = try CollectionReader.leaf(node, count: count)
      var columns: [MutableColumn] = []
      for layout in shape.columns { columns.append(try MutableColumn(arrays, layout)) }
      child = .leaf(CollectionLeaf(columns))
    } else {
      node = try writer.reader.node(
        link, kind: .collectionInner, level: level, newest: writer.base)
      let view = try CollectionInnerView(node, count: count)
      var counts: [UInt64] = []
      for index in 0..<view.childCount { counts.append(UInt64(try view.range(index).count)) }
      child = .inner(
        CollectionInner(
          counts: counts, children: (0..<view.childCount).map { .stored(view.link($0)) }))
    }
    writer.release(node)
  }

  /// Releases all committed nodes below, and drops what is in memory only.
  func release(_ writer: TreeWriter) throws(EngineError) {
    try release(root, level: level, writer)
  }

  private func release(
    _ child: CollectionChild, level: Int, _ writer: TreeWriter
  ) throws(EngineError) {
    precondition(level >= 0, "the depth of a tree is bounded")
    switch child {
    case .stored(let link): try writer.releaseTree(link, .collection(shape, level: level))
    case .leaf(let leaf):
      for column in leaf.columns where !column.externals.isEmpty {
        for row in 0..<column.count { try column.dropExternal(at: row, writer) }
      }
    case .inner(let inner):
      for child in inner.children { try release(child, level: level - 1, writer) }
    }
  }

  // MARK: new nodes

  /// Gives every changed node its place and its bytes, children first.
  func encode(into sink: inout NodeSink, _ writer: TreeWriter) -> NodeLink {
    precondition(count > 0, "an empty collection has no tree")
    let link = encode(root, level: level, into: &sink, writer)
    return link
  }

  private func encode(
    _ child: CollectionChild, level: Int, into sink: inout NodeSink, _ writer: TreeWriter
  ) -> NodeLink {
    precondition(level >= 0 && level <= Layout.levelMax, "the depth of a tree is bounded")
    switch child {
    case .stored(let link): return link
    case .leaf(let leaf):
      let plan = LeafPlan(keys: nil, writer.placedColumns(of: &leaf.columns, into: &sink))
      return sink.add(
        kind: .collectionLeaf, sizeBytes: plan.sizeBytes, count: plan.rowCount,
        auxiliary: plan.descriptorCount
      ) { plan.encode(into: $0) }
    case .inner(let inner):
      var links: [NodeLink] = []
      for child in inner.children {
        links.append(encode(child, level: level - 1, into: &sink, writer))
      }
      precondition(links.count <= Layout.childCountMax, "a full inner node was split")
      return sink.add(
        kind: .collectionInner, level: level,
        sizeBytes: CollectionInnerView.sizeBytes(childCount: links.count), count: links.count
      ) { CollectionInnerView.encode(counts: inner.counts, links: links, into: $0) }
    }
  }
}
