// EditCollector.swift: tries to express a transaction as edits of the base version's nodes, which
// the root slot carries (SlotEdits.swift). It can when every changed node keeps its place, its size
// and its counts, no node is new or dropped, and the edits since the base are few. Invariant: a
// transaction that cannot be expressed is left as it was, to be encoded as nodes.

/// Collects the edits of one transaction, on top of those that its base version has.
struct EditCollector {
  private let writer: TreeWriter
  private var edited: EditedNodes
  /// Changed nodes found in their places so far.
  private var nodeCount = 0

  init(_ writer: TreeWriter) {
    self.writer = writer
    edited = writer.reader.edited ?? EditedNodes()
  }

  /// A transaction that changed more nodes than this has more edits than a slot has room for.
  private static let nodeCountMax = 64

  /// The edits that make the new version, and its tables; nil when nodes have to be written.
  /// - Throws: `EngineError` with code `.corrupted` when a base node is damaged.
  static func collect(
    _ tables: [MutableTable], _ writer: TreeWriter, base: VersionState
  ) throws(EngineError) -> (edited: EditedNodes, bytes: [UInt8], group: Group)? {
    guard writer.releaseCount <= nodeCountMax else { return nil }
    var collector = EditCollector(writer)
    guard tables.map(\.id) == base.group.tables.map(\.id) else { return nil }
    var changed: [(index: Int, table: TableRecord)] = []
    for (index, table) in tables.enumerated() where table.unchanged == nil {
      guard let record = try collector.record(of: table) else { return nil }
      changed.append((index, record))
    }
    // Nodes in memory are all in their places, and nothing else was released: no node is dropped.
    guard collector.nodeCount == writer.releaseCount else { return nil }
    let isRenamed = changed.contains { index, table in
      table.schema.name != base.group.tables[index].schema.name
    }
    guard !isRenamed else { return nil }
    let group = Group(
      base.group, nextTableID: writer.nextTableID, memo: writer.memo, changed: changed)
    guard try collector.note(group, at: base.slot.top),
      let bytes = collector.edited.encoded()
    else { return nil }
    return (collector.edited, bytes, group)
  }

  private mutating func record(of table: MutableTable) throws(EngineError) -> TableRecord? {
    guard let root = try link(of: table.tree) else { return nil }
    var columns = table.columns
    for column in table.indexedColumns {
      let index = table.index(column)
      guard let root = try link(of: index) else { return nil }
      columns[column].index =
        root.isNone
        ? .none : IndexRoot(root: root, level: index.level, entryCount: index.pairCount)
    }
    return TableRecord(
      id: table.id, nextColumnID: table.nextColumnID, schema: table.schema, columns: columns,
      shape: table.tree.shape, root: root, level: root.isNone ? 0 : table.tree.level,
      rowCount: table.tree.rowCount)
  }

  private mutating func note(_ group: Group, at top: NodeLink) throws(EngineError) -> Bool {
    let base = try writer.reader.node(top, kind: .group, newest: writer.base)
    let content = group.encoded()
    guard base.bytes.count == Layout.nodeHeaderBytes + content.count,
      base.bytes.count <= Layout.editedNodeBytesMax, base.header.count == group.tables.count
    else { return false }
    return note(base, top, isNode: false) { $0.copy(content, to: Layout.nodeHeaderBytes) } != nil
  }

  // MARK: trees

  private mutating func link<Tree: MutableNodeTree>(
    of tree: Tree
  ) throws(EngineError) -> NodeLink? {
    guard let root = tree.root else { return NodeLink.none }
    return try link(of: root, level: tree.level, tree)
  }

  private mutating func link<Tree: MutableNodeTree>(
    of node: MutableNode<Tree.Leaf>, level: Int, _ tree: Tree
  ) throws(EngineError) -> NodeLink? {
    precondition(level >= 0, "the depth of a tree is bounded")
    let stored: NodeLink?
    switch node {
    case .stored(let link): return link
    case .leaf(let leaf): stored = leaf.stored
    case .inner(let inner): stored = inner.stored
    }
    guard let stored else { return nil }
    let link = writer.reader.baseLink(stored)
    let role = tree.role(level: level)
    let base = try writer.reader.node(
      link, kind: role.kind, level: role.level, newest: writer.base)
    guard role.kind.canBeEdited, base.bytes.count <= Layout.editedNodeBytesMax else { return nil }
    nodeCount += 1
    switch node {
    case .inner(let inner): return try self.link(of: inner, base, link, tree)
    case .leaf(let leaf):
      guard let plan = tree.plan(leaf), plan.sizeBytes == base.bytes.count,
        plan.count == base.header.count, plan.auxiliary == base.header.auxiliary
      else { return nil }
      return note(base, link, plan.fill)
    case .stored: preconditionFailure("returned above")
    }
  }

  private mutating func link<Tree: MutableNodeTree>(
    of inner: MutableInner<Tree.Leaf>, _ base: Node, _ link: NodeLink, _ tree: Tree
  ) throws(EngineError) -> NodeLink? {
    let view = try Tree.View(base)
    guard view.childCount == inner.children.count else { return nil }
    var changes: [(offset: Int, checksum: UInt64)] = []
    for index in 0..<view.childCount {
      let before = view.link(index)
      let child: NodeLink?
      if case .stored(let link) = inner.children[index] {
        child = link
      } else {
        child = try self.link(of: inner.children[index], level: base.header.level - 1, tree)
      }
      guard let child, child.ref == before.ref else { return nil }
      guard child != before else { continue }
      let offset = Tree.View.linkOffsetBytes(index, childCount: view.childCount)
      changes.append((offset + 8, child.checksum))
    }
    return note(base, link) { copy in
      copy.copy(base.bytes, to: 0)
      for change in changes { copy.set(change.checksum, at: change.offset) }
    }
  }

  /// Notes the edits that turn a base node into what `fill` makes of it.
  /// - Returns: The link to the node after them; nil when they are too many.
  private mutating func note(
    _ base: Node, _ link: NodeLink, isNode: Bool = true, _ fill: (MutableBytes) -> Void
  ) -> NodeLink? {
    let made = NodeInMemory(like: base.bytes, fill: fill)
    let edits = LeafPatch.edits(
      from: base.bytes, to: made.bytes, sizeBytesMax: Layout.slotEditsBytesMax)
    guard let edits else { return nil }
    guard !edits.isEmpty else {
      edited.remove(link.ref)
      return link
    }
    // A reader tells an edited node from the one in the file, which may have a patch in the base,
    // by the mark of the link.
    guard let inFile = writer.reader.checksumInFile(link.ref),
      !isNode || NodeReader.mark(made.checksum) != NodeReader.mark(inFile)
    else { return nil }
    let isPatched = link.checksum != inFile
    edited.set(NodeEdits(link: link, edits: edits, isPatched: isPatched), made: made)
    return NodeLink(ref: link.ref, checksum: made.checksum)
  }
}

extension TreeWriter {
  /// Has every node that the base version's slot edits written anew: a commit that writes a group
  /// writes them as well.
  /// - Parameters:
  ///   - tables: The transaction's tables.
  ///   - copiesLeaves: Whether leaves are copied as they are read; else they are brought into
  ///     memory like changed ones, which may become patches.
  /// - Throws: `EngineError` with code `.corrupted`; the transaction stays complete.
  func bringEditedNodes(of tables: [MutableTable], copiesLeaves: Bool) throws(EngineError) {
    guard let edited = reader.edited, !edited.isEmpty else { return }
    for table in tables {
      try table.tree.bringEditedNodes(self, copiesLeaves)
      for column in table.indexedColumns {
        try table.index(column).bringEditedNodes(self, copiesLeaves)
      }
    }
  }
}

extension MutableNodeTree {
  fileprivate func bringEditedNodes(
    _ writer: TreeWriter, _ copiesLeaves: Bool
  ) throws(EngineError) {
    guard var root else { return }
    try bringEditedNodes(of: &root, level: level, writer, copiesLeaves)
    self.root = root
  }

  private func bringEditedNodes(
    of child: inout Child, level: Int, _ writer: TreeWriter, _ copiesLeaves: Bool
  ) throws(EngineError) {
    if case .stored(let link) = child {
      // Below a node without edits there are none.
      guard writer.reader.baseLink(link) != link else { return }
      guard level > 0 || !copiesLeaves else {
        let kind = role(level: 0).kind
        return writer.copy(try writer.reader.node(link, kind: kind, newest: writer.base))
      }
      try makeMutable(&child, level: level, elementCount: nil, writer)
    }
    guard case .inner(let inner) = child else { return }
    for index in inner.children.indices {
      try bringEditedNodes(of: &inner.children[index], level: level - 1, writer, copiesLeaves)
    }
  }
}
