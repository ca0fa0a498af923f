// NodeCopier.swift: copies the nodes that one version reaches, and nothing else, to a new file:
// children before their parents, tables in their order and rows in key order, so that a scan of the
// copy reads ahead. Leaves that fill their sectors are copied unchanged; the rows of others are
// repacked, and so are the pairs of indexes. Inner nodes of both are rebuilt, everything else is
// copied with the new links. Invariants: the checksum of every node is verified on each read, even
// if it was verified before, so damage ends the copy; no more nodes are read than there are
// sectors, so damaged bytes cannot make the copy endless; memory use is one buffer and, per level
// of a tree, the links of one node.

/// Copies one version.
struct NodeCopier {
  private let source: VersionState
  private var target: CopyTarget
  private let section: ReadSection
  private var nodesLeft: UInt64

  private init(
    _ source: VersionState, to target: CopyTarget, _ section: ReadSection
  ) {
    self.source = source
    self.target = target
    self.section = section
    nodesLeft = source.slot.logicalSizeBytes / UInt64(Layout.sectorSizeBytes)
  }

  /// Writes a file that holds a version.
  /// - Parameters:
  ///   - source: The version.
  ///   - file: The file.
  ///   - cipher: Seals the file's nodes, with its own keys; nil for an unencrypted file.
  /// - Throws: `EngineError` with code `.corrupted` when the source is damaged, `.io` or
  ///   `.noSpace`.
  /// - Complexity: O(bytes) time, O(depth × children of a node) memory.
  ///
  /// Durability: none before the file's sync.
  static func copy(
    _ source: VersionState, to file: NewFile, cipher: FileCipher?
  ) throws(EngineError) {
    try cipher?.beginSession()
    try source.reader.reading { section throws(EngineError) in
      let target = CopyTarget(file, version: source.version, cipher: cipher)
      var copier = NodeCopier(source, to: target, section)
      try copier.copy()
    }
  }

  private mutating func copy() throws(EngineError) {
    var group = source.group
    group.freeList = .none
    // Leaves are copied as they have become.
    group.patchedLeafCount = 0
    for index in group.tables.indices { try copy(&group.tables[index]) }
    let content = group.encoded()
    let top = try target.add(
      kind: .group, sizeBytes: Layout.nodeHeaderBytes + content.count,
      count: group.tables.count
    ) { $0.copy(content, to: Layout.nodeHeaderBytes) }
    try target.finish(top)
  }

  private mutating func copy(_ table: inout TableRecord) throws(EngineError) {
    if !table.root.isNone {
      var packer = LeafPacker(table.shape, target.room)
      let shape = table.shape
      try forEachLeaf(below: table.root, .tree(shape, level: table.level)) {
        copier, link, leaf throws(EngineError) in
        try copier.copy(leaf: link, leaf, shape, into: &packer)
      }
      guard packer.rowCount == table.rowCount else {
        throw .corrupted(
          "rows=\(packer.rowCount) != row_count=\(table.rowCount) of \(table.schema.name)")
      }
      (table.root, table.level) = try packer.finish(&target)
    }
    for index in table.columns.indices where !table.columns[index].index.root.isNone {
      try copy(
        &table.columns[index].index, ofWords: table.schema.columns[index].isFullText)
    }
  }

  private mutating func copy(
    _ index: inout IndexRoot, ofWords: Bool
  ) throws(EngineError) {
    var packer = IndexPacker(ofWords: ofWords)
    try forEachLeaf(below: index.root, .index(level: index.level, ofWords: ofWords)) {
      copier, _, leaf throws(EngineError) in
      try packer.add(leaf, &copier.target)
    }
    guard packer.pairCount == index.entryCount else {
      throw .corrupted(
        "index pairs=\(packer.pairCount) != entry_count=\(index.entryCount)", at: index.root.ref)
    }
    (index.root, index.level) = try packer.finish(&target)
  }

  /// Reads a node for the first time.
  private mutating func node(_ link: NodeLink, _ role: NodeRole) throws(EngineError) -> Node {
    guard nodesLeft > 0 else { throw .corrupted("more nodes than sectors", at: link.ref) }
    nodesLeft -= 1
    return try source.reader.verifiedAgain(
      link, kind: role.kind, level: role.level, newest: source.version)
  }

  /// Reads a node again, after others were read.
  private func reread(_ link: NodeLink, _ role: NodeRole) throws(EngineError) -> Node {
    try source.reader.node(link, kind: role.kind, level: role.level, newest: source.version)
  }

  // MARK: tables

  /// Visits the leaves of a table or of an index in order.
  private mutating func forEachLeaf(
    below root: NodeLink, _ role: NodeRole,
    _ body: (inout NodeCopier, NodeLink, Node) throws(EngineError) -> Void
  ) throws(EngineError) {
    var path: [(links: [NodeLink], next: Int)] = [([root], 0)]
    while let step = path.last {
      guard step.next < step.links.count else {
        path.removeLast()
        continue
      }
      path[path.count - 1].next += 1
      let level = role.level - path.count + 1
      let link = step.links[step.next]
      let node = try node(link, role.at(level: level))
      if level > 0 {
        var links: [NodeLink] = []
        try NodeLinks.forEach(in: node, role.at(level: level)) { links.append($0.link) }
        path.append((links, 0))
      } else {
        try body(&self, link, node)
      }
      // No node read so far is used again, so an encrypted file stays within the bound of its
      // cache.
      section.refresh()
    }
  }

  private mutating func copy(
    leaf link: NodeLink, _ node: Node, _ shape: LeafShape, into packer: inout LeafPacker
  ) throws(EngineError) {
    var children: [ChildLink] = []
    try NodeLinks.forEach(in: node, .tree(shape, level: 0)) { children.append($0) }
    var links: [(offsetBytes: Int, link: NodeLink)] = []
    for child in children {
      links.append((child.offsetBytes, try copyTree(child.link, child.role)))
    }
    let again = try children.isEmpty ? node : reread(link, .tree(shape, level: 0))
    try packer.add(LeafView(again), links, &target)
  }

  // MARK: everything else

  /// A node whose children are being copied.
  private struct Frame {
    let link: NodeLink
    let role: NodeRole
    let children: [ChildLink]
    var links: [(offsetBytes: Int, link: NodeLink)] = []
  }

  /// Copies a node and everything below it, children first.
  /// - Returns: The link to the copy.
  private mutating func copyTree(
    _ root: NodeLink, _ role: NodeRole
  ) throws(EngineError) -> NodeLink {
    var stack: [Frame] = []
    var next = (link: root, role: role)
    while true {
      let node = try node(next.link, next.role)
      var children: [ChildLink] = []
      try NodeLinks.forEach(in: node, next.role) { children.append($0) }
      if let first = children.first {
        stack.append(Frame(link: next.link, role: next.role, children: children))
        next = (first.link, first.role)
        continue
      }
      let copied = try target.add(node, with: [])
      section.refresh()
      switch try finishParents(of: copied, &stack) {
      case .root(let link): return link
      case .child(let child): next = (child.link, child.role)
      }
    }
  }

  private enum Following {
    case root(NodeLink)
    case child(ChildLink)
  }

  /// Ascends while the copied node is the last child of its parent.
  private mutating func finishParents(
    of child: NodeLink, _ stack: inout [Frame]
  ) throws(EngineError) -> Following {
    var copied = child
    while var frame = stack.popLast() {
      frame.links.append((frame.children[frame.links.count].offsetBytes, copied))
      if frame.links.count < frame.children.count {
        let next = frame.children[frame.links.count]
        stack.append(frame)
        return .child(next)
      }
      let parent = try reread(frame.link, frame.role)
      copied = try target.add(parent, with: frame.links)
    }
    return .root(copied)
  }
}

extension NodeRole {
  /// The same for a node of another level.
  fileprivate func at(level: Int) -> NodeRole {
    switch self {
    case .tree(let shape, _): .tree(shape, level: level)
    case .collection(let shape, _): .collection(shape, level: level)
    case .index(_, let ofWords): .index(level: level, ofWords: ofWords)
    case .longValue: .longValue
    }
  }
}
