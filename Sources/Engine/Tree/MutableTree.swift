// MutableTree.swift: a table's tree while a writer changes it. Committed nodes are read until the
// first change below them; then they are copied into memory and their place is released.
// Invariant: children of one inner node have the same level; a tree without rows has no root.

/// A child: committed and untouched, or in memory.
enum MutableChild {
  case stored(NodeLink)
  case leaf(MutableLeaf)
  case inner(MutableInner)
}

/// An inner node in memory.
final class MutableInner {
  var separators: [Int64]
  var children: [MutableChild]

  init(separators: [Int64], children: [MutableChild]) {
    self.separators = separators
    self.children = children
  }

  func childIndex(for key: Int64) -> Int {
    if let last = separators.last, last <= key { return separators.count }
    return separators.partitioningIndex { $0 > key }
  }
}

/// A tree that can be changed.
final class MutableTree {
  let shape: LeafShape
  let writer: TreeWriter
  var root: MutableChild?
  var level: Int
  var rowCount: UInt64

  init(
    shape: LeafShape, writer: TreeWriter, root: NodeLink = .none, level: Int = 0,
    rowCount: UInt64 = 0
  ) {
    self.shape = shape
    self.writer = writer
    self.root = root.isNone ? nil : .stored(root)
    self.level = level
    self.rowCount = rowCount
  }

  /// The values of a key, or nil.
  func row(_ key: Int64) throws(EngineError) -> [Value]? {
    guard var child = root else { return nil }
    var depth = level
    while true {
      switch child {
      case .stored(let link):
        return try BPlusTree(
          reader: writer.reader, root: link, level: depth, shape: shape, newest: writer.base
        ).row(key)
      case .inner(let inner):
        child = inner.children[inner.childIndex(for: key)]
        depth -= 1
      case .leaf(let leaf):
        guard let index = leaf.index(of: key) else { return nil }
        return try values(of: leaf, at: index)
      }
    }
  }

  private func values(of leaf: MutableLeaf, at index: Int) throws(EngineError) -> [Value] {
    var values: [Value] = []
    for column in leaf.columns {
      switch column.type {
      case .int: values.append(.int(column.numbers[index]))
      case .string:
        let entry = column.bytes[column.range(index)]
        let bytes = column.isExternal(index) ? try writer.string(entry)[...] : entry
        values.append(.string(String(decoding: bytes, as: UTF8.self)))
      }
    }
    return values
  }

  /// The leaf of a committed node, in memory from now on.
  func loadLeaf(_ link: NodeLink) throws(EngineError) -> MutableLeaf {
    let node = try writer.reader.node(link, kind: .leaf, newest: writer.base)
    let leaf = try MutableLeaf(LeafView(node, shape: shape), shape: shape)
    writer.release(node)
    return leaf
  }

  /// The inner node of a committed node, in memory from now on.
  func loadInner(_ link: NodeLink, level: Int) throws(EngineError) -> MutableInner {
    let node = try writer.reader.node(link, kind: .inner, level: level, newest: writer.base)
    let view = try InnerView(node)
    let inner = MutableInner(
      separators: (0..<view.childCount - 1).map { view.separator($0) },
      children: (0..<view.childCount).map { .stored(view.link($0)) })
    writer.release(node)
    return inner
  }

  /// Brings a child into memory, so that it can be changed.
  func makeMutable(_ child: inout MutableChild, level: Int) throws(EngineError) {
    guard case .stored(let link) = child else { return }
    if level == 0 {
      child = .leaf(try loadLeaf(link))
    } else {
      child = .inner(try loadInner(link, level: level))
    }
  }

  /// Gives every changed node its place and its bytes, children first.
  /// - Returns: The link to the root, or none for a tree without rows.
  func encode(into sink: inout NodeSink) -> NodeLink {
    guard let root else { return .none }
    return encode(root, level: level, into: &sink)
  }

  private func encode(
    _ child: MutableChild, level: Int, into sink: inout NodeSink
  ) -> NodeLink {
    precondition(level >= 0 && level <= Layout.levelMax, "the depth of a tree is bounded")
    switch child {
    case .stored(let link): return link
    case .leaf(let leaf):
      writer.placeStrings(of: leaf, into: &sink)
      let plan = LeafPlan(leaf, shape: shape)
      return sink.add(
        kind: .leaf, sizeBytes: plan.sizeBytes, count: plan.rowCount,
        auxiliary: plan.descriptorCount
      ) { plan.encode(into: $0) }
    case .inner(let inner):
      var links: [NodeLink] = []
      links.reserveCapacity(inner.children.count)
      for child in inner.children {
        links.append(encode(child, level: level - 1, into: &sink))
      }
      precondition(links.count <= Layout.childCountMax, "a full inner node was split")
      return sink.add(
        kind: .inner, level: level, sizeBytes: InnerView.sizeBytes(childCount: links.count),
        count: links.count
      ) { InnerView.encode(separators: inner.separators, links: links, into: $0) }
    }
  }
}
