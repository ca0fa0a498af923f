// TreeWriter.swift: state shared by the trees of one write transaction: the reader of committed
// nodes, the nodes that the new version no longer needs, and long values and collections that have
// no place in the file yet.

/// The shared part of a transaction's trees.
final class TreeWriter {
  let reader: NodeReader
  let base: Version
  /// In the order of their release; a span that was kept after all has no sectors.
  private var releases: [PendingSpan] = []
  /// Leaves that a commit writes as they are read, by their sectors, with the numbers of their
  /// releases.
  private var copies: [UInt64: (node: Node, release: Int)] = [:]
  /// Patches of the inner nodes that were released.
  private var releasedPatchCount = 0
  /// The id of the next new table.
  var nextTableID: UInt32 = 1
  /// The memo of the new version.
  var memo: [UInt8] = []
  /// Long values of this transaction; nil when deleted again before commit.
  private var strings: [[UInt8]?] = []
  /// Collections of this transaction that are trees; nil when deleted again before commit.
  private var collections: [MutableCollection?] = []
  /// Marks the ref of a value that is still in `strings` or `collections`.
  private static let unplaced: UInt64 = 1 << 63

  init(reader: NodeReader, base: Version) {
    self.reader = reader
    self.base = base
  }

  /// The spans that the new version does not reach.
  var released: [PendingSpan] { releases.filter { $0.span.count > 0 } }

  /// The number of nodes that were released.
  var releaseCount: Int { releases.count }

  /// The new version does not reach this committed node.
  /// - Returns: The number with which `keep` undoes this.
  @discardableResult
  func release(_ node: Node) -> Int {
    if !copies.isEmpty, let copy = copies.removeValue(forKey: node.ref.sector) {
      keep(copy.release)
    }
    if node.header.kind == .inner { releasedPatchCount += node.header.auxiliary }
    releases.append(
      PendingSpan(span: node.span, born: node.header.version, released: base.next))
    return releases.count - 1
  }

  /// Keeps a released node that the new version still reaches: as the base of a patch.
  func keep(_ release: Int) { releases[release].span.count = 0 }

  /// A commit writes this leaf as it is read, unless it is released for another reason before.
  func copy(_ leaf: Node) { copies[leaf.ref.sector] = (leaf, release(leaf)) }

  /// The leaf that a commit writes in the place of the one that a link leads to; nil when it stays.
  @inline(__always)
  func copied(_ link: NodeLink) -> Node? {
    copies.isEmpty ? nil : copies[link.ref.sector]?.node
  }

  /// Leaves with a patch in the new version.
  func patchedLeafCount(base count: Int, written: Int) -> Int {
    // Damage can make it negative.
    max(0, count - releasedPatchCount + written)
  }

  /// Keeps a long string until commit; returns its entry for the leaf.
  func addString(_ bytes: [UInt8]) -> [UInt8] {
    strings.append(bytes)
    let ref = Ref(offsetBytes: Self.unplaced | UInt64(strings.count - 1))
    return ExternalEntry(
      link: NodeLink(ref: ref, checksum: 0), word: UInt64(bytes.count)
    ).bytes
  }

  /// Keeps a collection until commit; returns its entry for the leaf of its row.
  func addCollection(_ collection: MutableCollection) -> [UInt8] {
    collections.append(collection)
    let ref = Ref(offsetBytes: Self.unplaced | UInt64(collections.count - 1))
    return ExternalEntry(link: NodeLink(ref: ref, checksum: 0), word: 0).bytes
  }

  /// The bytes of a long value, from this transaction or from the file.
  func string(_ entry: ExternalEntry) throws(EngineError) -> [UInt8] {
    if let index = Self.index(of: entry.link), let bytes = strings[index] { return bytes }
    let node = try reader.stringNode(entry, newest: base).bytes
    return node.part(
      at: Layout.nodeHeaderBytes, count: node.count - Layout.nodeHeaderBytes
    ).array
  }

  /// The collection of this transaction that an entry leads to; nil for a committed one.
  func collection(_ entry: ExternalEntry) -> MutableCollection? {
    Self.index(of: entry.link).flatMap { collections[$0] }
  }

  /// A collection that has become small is moved back into the leaf of its row.
  func forget(_ entry: ExternalEntry) {
    if let index = Self.index(of: entry.link) { collections[index] = nil }
  }

  /// Called when the row that held this long value or collection was removed.
  func drop(_ entry: ExternalEntry, _ layout: ColumnLayout) throws(EngineError) {
    if layout.collection != .none {
      if let index = Self.index(of: entry.link) {
        try collections[index]?.releaseNodes(self)
        collections[index] = nil
      } else {
        try releaseTree(entry.link, .collection(CollectionShape(layout), level: entry.level))
      }
    } else if let index = Self.index(of: entry.link) {
      strings[index] = nil
    } else {
      release(try reader.stringNode(entry, newest: base))
    }
  }

  /// Releases a committed node and everything below it.
  func releaseTree(_ link: NodeLink, _ role: NodeRole) throws(EngineError) {
    guard !link.isNone else { return }
    // Nodes do not share sectors, so more nodes than sectors means one node twice.
    var nodesLeft = reader.bytes.count / Layout.sectorSizeBytes
    var stack = [(link: link, role: role)]
    while let (link, role) = stack.popLast() {
      guard nodesLeft > 0 else { throw .corrupted("more nodes than sectors", at: link.ref) }
      nodesLeft -= 1
      let node = try reader.node(link, kind: role.kind, level: role.level, newest: base)
      try NodeLinks.forEach(in: node, role) { child in stack.append((child.link, child.role)) }
      release(node)
    }
  }

  /// The columns of a leaf with links to their long values and collections, which are placed.
  ///
  /// The leaf keeps the links, unless they are those of a copy.
  func placedColumns(
    of columns: inout [MutableColumn], into sink: inout NodeSink
  ) -> [MutableColumn] {
    if sink.isForCopy {
      var copied = columns
      placeExternals(of: &copied, into: &sink)
      return copied
    }
    placeExternals(of: &columns, into: &sink)
    return columns
  }

  private func placeExternals(of columns: inout [MutableColumn], into sink: inout NodeSink) {
    for column in columns.indices where !columns[column].externals.isEmpty {
      for row in 0..<columns[column].count where columns[column].externals[row] {
        let entry = ExternalEntry(columns[column].bytes[columns[column].range(row)])
        guard let index = Self.index(of: entry.link) else { continue }
        let placed: ExternalEntry
        if columns[column].layout.collection != .none {
          guard let collection = collections[index] else { continue }
          placed = ExternalEntry(
            link: collection.encode(into: &sink, self), count: collection.count,
            level: collection.level)
        } else {
          guard let bytes = strings[index] else { continue }
          let link = sink.add(
            kind: .string, sizeBytes: Layout.nodeHeaderBytes + bytes.count, count: bytes.count
          ) { $0.copy(bytes, to: Layout.nodeHeaderBytes) }
          placed = ExternalEntry(link: link, word: UInt64(bytes.count))
        }
        columns[column].replace(placed.bytes, isExternal: true, at: row)
      }
    }
  }

  /// Whether a link leads to a value that this transaction has in memory.
  static func isUnplaced(_ link: NodeLink) -> Bool { link.ref.offsetBytes & unplaced != 0 }

  private static func index(of link: NodeLink) -> Int? {
    guard isUnplaced(link) else { return nil }
    return Int(link.ref.offsetBytes & ~unplaced)
  }
}

/// How a commit may patch leaves that snapshots hold instead of writing them.
struct Patching {
  /// The newest version that a snapshot holds: it reaches every node that is not newer.
  let newestHeld: Version
  /// The number of further leaves that may get a patch.
  var room: Int
  /// The most bytes of a patch, in eighths of its leaf: with more, the leaf is written.
  let eighthsOfLeafMax: Int
}

/// Takes new nodes: gives each a place that no live version uses, and writes its bytes to the slab.
struct NodeSink {
  let slab: Slab
  let version: Version
  let reader: NodeReader
  var space: SpaceMap
  /// Whether the nodes are for a copy: the transaction continues, so it keeps its nodes in memory.
  var isForCopy = false
  /// nil when leaves are written whole.
  var patching: Patching?
  /// Patches written so far.
  private(set) var patchCount = 0
  /// Links to the nodes of trees, and their bytes, as far as recovery may have to check them.
  private(set) var links: [NodeLink] = []
  private(set) var linkedBytes = 0

  /// Adds a node; `fill` writes everything after its header.
  mutating func add(
    kind: NodeKind, level: Int = 0, sizeBytes: Int, count: Int, auxiliary: Int = 0,
    fill: (MutableBytes) -> Void
  ) -> NodeLink {
    let ref = space.allocate(sectors: slab.room.sectors(sizeBytes), isBrief: level > 0)
    let link = add(
      at: ref, kind: kind, level: level, sizeBytes: sizeBytes, count: count, auxiliary: auxiliary,
      fill: fill)
    if kind == .inner { patchCount += auxiliary }
    if links.count <= Layout.freshLinkCountMax { links.append(link) }
    linkedBytes += sizeBytes
    return link
  }

  /// Adds a node with the content of another one without patches.
  mutating func add(_ node: Node) -> NodeLink {
    let header = node.header
    return add(
      kind: header.kind, level: header.level, sizeBytes: node.bytes.count, count: header.count,
      auxiliary: header.auxiliary
    ) { $0.copy(node.bytes, to: 0) }
  }

  /// Adds a node at a place that was taken before.
  func add(
    at ref: Ref, kind: NodeKind, level: Int = 0, sizeBytes: Int, count: Int, auxiliary: Int = 0,
    fill: (MutableBytes) -> Void
  ) -> NodeLink {
    reader.forget(ref, sectors: slab.room.sectors(sizeBytes))
    let node = slab.makeNode(at: ref, sizeBytes: sizeBytes)
    fill(node)
    let link = NodeHeader.seal(
      node, ref: ref, version: version, kind: kind, level: level, count: count,
      auxiliary: auxiliary)
    return slab.encrypt(link, version: version)
  }
}
