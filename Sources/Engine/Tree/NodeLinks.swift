// NodeLinks.swift: the links of a node, whatever its kind: for walks that release, verify, move or
// copy whole subtrees. A node's header has its kind and level, but only its parent knows which
// columns a leaf has, so each link comes with the role of its target.

/// The role of a node for its parent.
enum NodeRole: Sendable {
  /// A node of a table's tree: a leaf at level 0.
  case tree(LeafShape, level: Int)
  /// A node of a collection's tree.
  case collection(CollectionShape, level: Int)
  /// A long value.
  case longValue
  /// A node of an index; of words for a full-text index.
  case index(level: Int, ofWords: Bool)

  var kind: NodeKind {
    switch self {
    case .tree(_, let level): level == 0 ? .leaf : .inner
    case .collection(_, let level): level == 0 ? .collectionLeaf : .collectionInner
    case .longValue: .string
    case .index(let level, let ofWords):
      level > 0 ? .indexInner : ofWords ? .wordLeaf : .indexLeaf
    }
  }

  var level: Int {
    switch self {
    case .tree(_, let level), .collection(_, let level), .index(let level, _): level
    case .longValue: 0
    }
  }
}

/// A link and its offset.
struct ChildLink {
  /// Offset of the link's 16 bytes in the node: a copy with another link there, sealed again, is
  /// the same node with another child.
  let offsetBytes: Int
  let link: NodeLink
  let role: NodeRole
}

/// Finds the links of nodes.
enum NodeLinks {
  /// Calls `body` with each link of a node, in order.
  /// - Throws: `EngineError` with code `.corrupted`, or what `body` throws.
  static func forEach(
    in node: Node, _ role: NodeRole, _ body: (ChildLink) throws(EngineError) -> Void
  ) throws(EngineError) {
    precondition(node.header.kind == role.kind && node.header.level == role.level)
    switch role {
    case .tree(let shape, let level):
      if level == 0 {
        try forEach(in: LeafView(node).arrays, shape.columns, body)
        return
      }
      try forEach(in: InnerView(node), .tree(shape, level: level - 1), body)
    case .collection(let shape, let level):
      if level == 0 {
        try forEach(in: NodeArrays(node), shape.columns, body)
        return
      }
      try forEach(in: CollectionInnerView(node), .collection(shape, level: level - 1), body)
    case .index(let level, let ofWords):
      guard level > 0 else { return }
      try forEach(
        in: KeyPairInnerView(node), .index(level: level - 1, ofWords: ofWords), body)
    case .longValue: break
    }
  }

  /// The links of an inner node, whose children have one role.
  private static func forEach<View: InnerNodeView>(
    in inner: View, _ role: NodeRole, _ body: (ChildLink) throws(EngineError) -> Void
  ) throws(EngineError) {
    for index in 0..<inner.childCount {
      let offset = View.linkOffsetBytes(index, childCount: inner.childCount)
      try body(ChildLink(offsetBytes: offset, link: inner.link(index), role: role))
    }
  }

  /// The links of a leaf: long values, and collections that are trees.
  static func forEach(
    in arrays: NodeArrays, _ columns: [ColumnLayout],
    _ body: (ChildLink) throws(EngineError) -> Void
  ) throws(EngineError) {
    for layout in columns where layout.storage == .strings {
      let strings = try arrays.strings(layout)
      guard strings.hasExternals else { continue }
      for row in 0..<arrays.count where strings.flags[row] != 0 {
        let (start, count) = try strings.range(row)
        let entry = ExternalEntry(strings.bytes.part(at: start, count: count))
        guard layout.collection == .none || entry.level <= Layout.levelMax else {
          throw .corrupted("collection of level=\(entry.level)", at: arrays.node.ref)
        }
        try body(
          ChildLink(
            offsetBytes: strings.offsetBytes + start, link: entry.link,
            role: layout.collection == .none
              ? .longValue : .collection(CollectionShape(layout), level: entry.level)))
      }
    }
  }
}
