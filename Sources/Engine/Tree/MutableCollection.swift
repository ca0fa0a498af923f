// MutableCollection.swift: the tree of a collection while a writer changes it
// (MutableNodeTree.swift): elements are found by their positions. Invariants: inner nodes store the
// number of elements of each child; no node is empty.

/// A leaf in memory: the elements, and before them the keys of a dictionary.
final class CollectionLeaf: MutableTreeLeaf {
  typealias Guide = ElementCounts

  var columns: [MutableColumn]
  var stored: NodeLink?

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

  func split(at index: Int) -> CollectionLeaf {
    var right: [MutableColumn] = []
    for column in columns.indices { right.append(columns[column].split(at: index)) }
    return CollectionLeaf(right)
  }

  func append(_ right: CollectionLeaf) {
    for index in columns.indices { columns[index].append(right.columns[index]) }
  }

  func dropExternals(_ writer: TreeWriter) throws(EngineError) {
    for column in columns where !column.externals.isEmpty {
      for row in 0..<column.count { try column.dropExternal(at: row, writer) }
    }
  }
}

/// A collection that is, or will become, a separate tree.
final class MutableCollection: MutableNodeTree {
  typealias View = CollectionInnerView

  let shape: CollectionShape
  var root: MutableNode<CollectionLeaf>?
  var level: Int
  var count: UInt64

  /// An empty collection.
  init(_ shape: CollectionShape) {
    self.shape = shape
    root = nil
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

  var childCountMax: Int { Layout.childCountMax }
  var childCountMin: Int { Layout.childCountMin }

  func role(level: Int) -> NodeRole { .collection(shape, level: level) }

  func isSmall(_ leaf: CollectionLeaf) -> Bool {
    leaf.sizeBytes < Layout.leafSizeBytesMin && leaf.count < Layout.collectionLeafCountMax / 4
  }

  func canMerge(_ left: CollectionLeaf, _ right: CollectionLeaf) -> Bool {
    left.sizeBytes(with: right) <= Layout.leafSizeBytesMax * 3 / 4
      && left.count + right.count <= Layout.collectionLeafCountMax * 3 / 4
  }

  // MARK: reading

  private func value(
    _ column: Int, at index: UInt64, _ writer: TreeWriter
  ) throws(EngineError) -> Value {
    var position = ElementPosition(index: index, count: count)
    guard index < count, let (node, depth) = lowest(at: &position) else {
      preconditionFailure("positions were checked by the caller")
    }
    switch node {
    case .stored(let link):
      let committed = CollectionReader(
        reader: writer.reader, shape: shape, root: link, level: depth, count: position.count,
        newest: writer.base)
      let (leaf, row) = try committed.leaf(at: position.index)
      return try writer.reader.value(leaf, shape.columns[column], row, newest: writer.base)
    case .leaf(let leaf): return try leaf.columns[column].value(at: Int(position.index), writer)
    case .inner: preconditionFailure("the descent ends below inner nodes")
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

  // MARK: nodes

  func loadLeaf(
    _ link: NodeLink, elementCount: UInt64?, _ writer: TreeWriter
  ) throws(EngineError) -> CollectionLeaf {
    let node = try writer.reader.node(link, kind: .collectionLeaf, newest: writer.base)
    let arrays = try CollectionReader.leaf(node, count: elementCount ?? count)
    var columns: [MutableColumn] = []
    for layout in shape.columns { columns.append(try MutableColumn(arrays, layout)) }
    writer.release(node)
    return CollectionLeaf(columns)
  }

  func encode(
    _ leaf: CollectionLeaf, into sink: inout NodeSink, _ writer: TreeWriter
  ) -> NodeLink {
    let plan = LeafPlan(keys: nil, writer.placedColumns(of: &leaf.columns, into: &sink))
    return sink.add(
      kind: .collectionLeaf, sizeBytes: plan.sizeBytes, count: plan.rowCount,
      auxiliary: plan.descriptorCount
    ) { plan.encode(into: $0) }
  }
}
