// MutableTree.swift: a table's tree while a writer changes it (MutableNodeTree.swift), with its
// rows and columns, and with patches for leaves that snapshots hold.

/// A tree of rows that can be changed.
final class MutableTree: MutableNodeTree {
  typealias View = InnerView

  @safe @exclusivity(unchecked) private(set) var shape: LeafShape
  let writer: TreeWriter
  var root: MutableNode<MutableLeaf>?
  /// The leaf changed last, and its range of keys; nil when the structure of the tree may have
  /// changed since.
  @safe @exclusivity(unchecked) var hot: (leaf: MutableLeaf, lower: Int64, upper: Int64)?
  var level: Int
  var rowCount: UInt64

  /// A leaf is split when its encoding would be larger, unless it holds one row.
  var leafSizeBytesMax: Int { shape.leafSizeBytesMax - writer.reader.room.sealBytes }
  var childCountMax: Int { writer.reader.room.childCountMax }
  var childCountMin: Int { Layout.childCountMin }

  func role(level: Int) -> NodeRole { .tree(shape, level: level) }

  func isSmall(_ leaf: MutableLeaf) -> Bool { leaf.sizeBytes < shape.leafSizeBytesMax / 4 }

  func canMerge(_ left: MutableLeaf, _ right: MutableLeaf) -> Bool {
    left.sizeBytes(with: right) <= shape.leafSizeBytesMax * 3 / 4
  }

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

  /// The place of a row: in a committed leaf, or in one in memory.
  enum Place {
    case stored(LeafView, Int)
    case memory(MutableLeaf, Int)
  }

  /// Finds a row, or nil; the leaf changed last is tried first.
  func find(_ key: Int64) throws(EngineError) -> Place? {
    if let hot, hot.lower <= key, key <= hot.upper {
      return hot.leaf.index(of: key).map { .memory(hot.leaf, $0) }
    }
    var position = KeyPosition(key)
    guard let (node, depth) = lowest(at: &position) else { return nil }
    switch node {
    case .stored(let link): return try committed(link, depth).find(key).map { .stored($0, $1) }
    case .leaf(let leaf): return leaf.index(of: key).map { .memory(leaf, $0) }
    case .inner: preconditionFailure("the descent ends below inner nodes")
    }
  }

  /// The committed tree below a link.
  func committed(_ link: NodeLink, _ level: Int) -> BPlusTree {
    BPlusTree(
      reader: writer.reader, root: link, level: level, shape: shape, newest: writer.base)
  }

  /// The values of a key, or nil.
  func row(_ key: Int64) throws(EngineError) -> [Value]? {
    guard let place = try find(key) else { return nil }
    switch place {
    case .stored(let leaf, let index):
      return try writer.reader.row(leaf, index, shape, newest: writer.base)
    case .memory(let leaf, let index):
      var values: [Value] = []
      for column in leaf.columns { values.append(try column.value(at: index, writer)) }
      return values
    }
  }

  /// One value of a row, or nil when there is no such row.
  func value(_ key: Int64, _ column: Int) throws(EngineError) -> Value? {
    guard let place = try find(key) else { return nil }
    switch place {
    case .stored(let leaf, let index):
      return try writer.reader.value(
        leaf.arrays, shape.columns[column], index, newest: writer.base)
    case .memory(let leaf, let index): return try leaf.columns[column].value(at: index, writer)
    }
  }

  /// The collection of a row, or nil when there is no such row.
  func collection(_ key: Int64, _ column: Int) throws(EngineError) -> CollectionContent? {
    guard let place = try find(key) else { return nil }
    switch place {
    case .stored(let leaf, let index):
      return try CollectionContent(
        writer.reader, shape.columns[column], leaf.strings(column, shape), index,
        newest: writer.base)
    case .memory(let leaf, let index):
      return try CollectionContent(leaf.columns[column], at: index, writer)
    }
  }

  func loadLeaf(
    _ link: NodeLink, elementCount: UInt64?, _ writer: TreeWriter
  ) throws(EngineError) -> MutableLeaf {
    let node = try writer.reader.node(link, kind: .leaf, newest: writer.base)
    let leaf = try MutableLeaf(LeafView(node), shape: shape)
    // A slot's edits are of the leaf after its patch.
    let base = writer.reader.baseLink(link)
    let patch = writer.reader.patch(base)
    leaf.origin = LeafOrigin(
      link: NodeLink(ref: link.ref, checksum: patch?.baseChecksum ?? base.checksum),
      born: node.header.version, isPatched: patch != nil, release: writer.release(node))
    return leaf
  }

  /// Places and encodes every changed node, children first.
  /// - Returns: The link to the root, or none for a tree without rows.
  func encode(into sink: inout NodeSink) -> NodeLink { encode(into: &sink, writer) }

  func encode(
    _ leaf: MutableLeaf, into sink: inout NodeSink, _ writer: TreeWriter
  ) -> NodeLink {
    encode(leaf.plan(writer, &sink), into: &sink)
  }

  private func encode(_ plan: LeafPlan, into sink: inout NodeSink) -> NodeLink {
    sink.add(
      kind: .leaf, sizeBytes: plan.sizeBytes, count: plan.rowCount,
      auxiliary: plan.descriptorCount
    ) { plan.encode(into: $0) }
  }

  /// Leaves right below the node may become patches, which it holds.
  func encode(
    _ inner: MutableInner<MutableLeaf>, level: Int, into sink: inout NodeSink,
    _ writer: TreeWriter
  ) -> NodeLink {
    precondition(inner.children.count <= Layout.childCountMax, "a full inner node was split")
    var patches = level == 1 ? storedPatches(of: inner) : []
    var patchBytes = PatchedChild.sizeBytes(patches)
    var links: [NodeLink] = []
    links.reserveCapacity(inner.children.count)
    for (index, child) in inner.children.enumerated() {
      guard level == 1, case .leaf(let leaf) = child else {
        links.append(encode(child, level: level - 1, into: &sink, writer))
        continue
      }
      let plan = leaf.plan(writer, &sink)
      if let (link, patch) = patched(leaf, plan, bytesBefore: patchBytes, &sink) {
        let patched = PatchedChild(child: index, patch: patch)
        patchBytes += PatchedChild.sizeBytes([patched])
        patches.append(patched)
        links.append(link)
      } else {
        links.append(encode(plan, into: &sink))
      }
    }
    patches.sort { $0.child < $1.child }
    return sink.add(
      kind: .inner, level: level,
      sizeBytes: InnerView.sizeBytes(childCount: links.count) + patchBytes, count: links.count,
      auxiliary: patches.count
    ) {
      InnerView.encode(separators: inner.guide.keys, links: links, patches: patches, into: $0)
    }
  }
}

// MARK: leaves that snapshots hold

extension MutableTree {
  /// The patches of the unchanged children.
  private func storedPatches(of inner: MutableInner<MutableLeaf>) -> [PatchedChild] {
    var patches: [PatchedChild] = []
    for (index, child) in inner.children.enumerated() {
      guard case .stored(let link) = child, let patch = writer.reader.patch(link) else { continue }
      patches.append(PatchedChild(child: index, patch: patch))
    }
    return patches
  }

  /// A changed leaf as a patch of the one in the file, when a snapshot holds that and the patch is
  /// short.
  /// - Returns: The link to the leaf and its patch; nil when the leaf is to be written.
  private func patched(
    _ leaf: MutableLeaf, _ plan: LeafPlan, bytesBefore: Int, _ sink: inout NodeSink
  ) -> (link: NodeLink, patch: LeafPatch)? {
    guard let patching = sink.patching, let origin = leaf.origin,
      origin.born <= patching.newestHeld, origin.isPatched || patching.room > 0
    else { return nil }
    let base: Node
    do throws(EngineError) {
      base = try writer.reader.leafInFile(origin.link, newest: writer.base)
    } catch { return nil }
    guard base.bytes.count == plan.sizeBytes, plan.sizeBytes <= Layout.patchedLeafBytesMax,
      base.header.count == plan.rowCount, base.header.auxiliary == plan.descriptorCount
    else { return nil }
    let room = Layout.patchBytesMax - bytesBefore - PatchedChild.directoryBytes
    let most = min(room, plan.sizeBytes * patching.eighthsOfLeafMax / 8)
    guard
      let (checksum, edits) = plan.edits(of: base.bytes, sizeBytesMax: most),
      NodeReader.mark(checksum) != NodeReader.mark(origin.link.checksum)
    else { return nil }
    writer.keep(origin.release)
    if !origin.isPatched { sink.patching?.room -= 1 }
    return (
      NodeLink(ref: origin.link.ref, checksum: checksum),
      LeafPatch(baseChecksum: origin.link.checksum, edits: edits)
    )
  }
}

extension MutableLeaf {
  /// Plans the node of its arrays; the external values are placed.
  fileprivate func plan(_ writer: TreeWriter, _ sink: inout NodeSink) -> LeafPlan {
    LeafPlan(keys: keys, writer.placedColumns(of: &columns, into: &sink))
  }
}

// MARK: changes of the columns

extension MutableTree {
  /// Adds a column after the others: committed leaves do not have it until they are rewritten.
  /// - Complexity: O(leaves in memory).
  func addColumn(_ layout: ColumnLayout, shape newShape: LeafShape) {
    forEachLeafInMemory { leaf in
      leaf.columns.append(MutableColumn(layout, absentRows: leaf.count))
    }
    shape = newShape
  }

  /// Removes a column: committed leaves keep it until they are rewritten, but it is not read.
  ///
  /// External values of the column are released now, so a walk is needed only for columns that can
  /// have them.
  func removeColumn(at index: Int, shape newShape: LeafShape) throws(EngineError) {
    let layout = shape.columns[index]
    if layout.storage == .strings, let root {
      try releaseExternals(of: layout, at: index, below: root, level: level)
    }
    forEachLeafInMemory { $0.columns.remove(at: index) }
    shape = newShape
  }

  /// Releases every node of the tree, and everything that its rows have outside of it.
  func release() throws(EngineError) {
    hot = nil
    try releaseNodes(writer)
    rowCount = 0
  }

  private func forEachLeafInMemory(_ body: (MutableLeaf) -> Void) {
    var stack: [Child] = []
    if let root { stack.append(root) }
    while let child = stack.popLast() {
      switch child {
      case .stored: break
      case .leaf(let leaf): body(leaf)
      case .inner(let inner): stack += inner.children
      }
    }
  }

  private func releaseExternals(
    of layout: ColumnLayout, at index: Int, below child: Child, level: Int
  ) throws(EngineError) {
    precondition(level >= 0, "the depth of a tree is bounded")
    switch child {
    case .stored(let link):
      try committed(link, level).forEachLeaf { leaf throws(EngineError) in
        try NodeLinks.forEach(in: leaf.arrays, [layout]) { child throws(EngineError) in
          try writer.releaseTree(child.link, child.role)
        }
      }
    case .leaf(let leaf):
      for row in 0..<leaf.count { try leaf.columns[index].dropExternal(at: row, writer) }
    case .inner(let inner):
      for child in inner.children {
        try releaseExternals(of: layout, at: index, below: child, level: level - 1)
      }
    }
  }
}
