// NodeMover.swift: moves committed nodes that are too close to the end of the file, some at a time.
// A node is copied unchanged except for the links to its moved children; so all kinds of trees are
// moved in the same way, and removed columns in a leaf need not be read. The walk records where it
// stopped as the number of the child on each level, from the table down; if trees have changed
// since, it continues nearby. Invariants: a node is released exactly when its copy has a link that
// leads to it, even when an error ends the walk half-way; the depth is bounded, since levels fall
// by one with each step.

/// A walk over the trees of a transaction, and its remaining budget.
struct NodeMover {
  private let writer: TreeWriter
  /// Nodes from this sector on are to be moved.
  private let target: UInt64
  private var sectorsLeft: Int
  private var visitsLeft: Int
  private(set) var movedSectors = 0
  /// Where the walk resumes, and where it is.
  private let resume: [Int]
  private var path: [Int] = []
  /// Where it stopped; nil when it saw everything.
  private(set) var stopped: [Int]?
  /// The error that ended it.
  private(set) var failure: EngineError?

  init(
    _ writer: TreeWriter, target: UInt64, sectorsLeft: Int, visitsLeft: Int, resume: [Int]
  ) {
    self.writer = writer
    self.target = target
    self.sectorsLeft = sectorsLeft
    self.visitsLeft = visitsLeft
    self.resume = resume
  }

  private var isSpent: Bool { sectorsLeft <= 0 || visitsLeft <= 0 || failure != nil }

  /// Calls `body` with the numbers of the children to visit, until the work is spent.
  mutating func forEachIndex(
    below count: Int, _ body: (inout NodeMover, Int) -> Void
  ) {
    precondition(path.count <= 3 * Layout.levelMax, "the depth of trees is bounded")
    let isOnPath = resume.count > path.count && resume.starts(with: path)
    let first = isOnPath ? resume[path.count] : 0
    for index in first..<max(first, count) {
      if isSpent {
        stopped = path + [index]
        return
      }
      path.append(index)
      body(&self, index)
      path.removeLast()
      if stopped != nil { return }
    }
  }

  /// Moves a committed node and the nodes below it, as far as requested.
  /// - Returns: Where it is now.
  mutating func move(
    _ link: NodeLink, _ role: NodeRole, into sink: inout NodeSink
  ) -> NodeLink {
    visitsLeft -= 1
    let isConcerned = link.ref.sector >= target
    guard isConcerned || Self.canHaveLinks(role) else { return link }
    var children: [ChildLink] = []
    let node: Node
    do throws(EngineError) {
      node = try writer.reader.node(
        link, kind: role.kind, level: role.level, newest: writer.base)
      try NodeLinks.forEach(in: node, role) { children.append($0) }
    } catch {
      failure = error
      return link
    }
    var moves: [(child: Int, offsetBytes: Int, link: NodeLink)] = []
    forEachIndex(below: children.count) { mover, index in
      let child = children[index]
      let moved = mover.move(child.link, child.role, into: &sink)
      if moved != child.link { moves.append((index, child.offsetBytes, moved)) }
    }
    guard isConcerned || !moves.isEmpty else { return link }
    let patches: [PatchedChild]
    do throws(EngineError) {
      patches = try Self.patches(of: node, without: moves.map(\.child))
    } catch {
      failure = error
      return link
    }
    writer.release(node)
    sectorsLeft -= Int(node.header.sectorCount)
    movedSectors += Int(node.header.sectorCount)
    let isInner = node.header.kind == .inner
    let content =
      isInner
      ? node.bytes.part(at: 0, count: InnerView.sizeBytes(childCount: node.header.count))
      : node.bytes
    return sink.add(
      kind: node.header.kind, level: node.header.level,
      sizeBytes: content.count + PatchedChild.sizeBytes(patches), count: node.header.count,
      auxiliary: isInner ? patches.count : node.header.auxiliary
    ) { copy in
      copy.copy(content, to: 0)
      for move in moves {
        copy.set(move.link.ref.offsetBytes, at: move.offsetBytes)
        copy.set(move.link.checksum, at: move.offsetBytes + 8)
      }
      PatchedChild.encode(patches, into: copy)
    }
  }

  /// The patches of leaves that stay where they are: a leaf that moves is written with its patch
  /// applied.
  private static func patches(
    of node: Node, without moved: [Int]
  ) throws(EngineError) -> [PatchedChild] {
    guard node.header.kind == .inner, node.header.auxiliary > 0 else { return [] }
    return try PatchedChild.all(of: InnerView(node)).filter { !moved.contains($0.child) }
  }

  private static func canHaveLinks(_ role: NodeRole) -> Bool {
    switch role {
    case .tree(let shape, let level):
      level > 0 || shape.columns.contains { $0.storage == .strings }
    case .collection(let shape, let level):
      level > 0 || shape.columns.contains { $0.storage == .strings }
    case .index(let level, _): level > 0
    case .longValue: false
    }
  }
}

extension MutableNodeTree {
  /// Moves the committed parts of the tree; `leafBody` moves the external values of a leaf in
  /// memory.
  fileprivate func moveNodes(
    _ mover: inout NodeMover, into sink: inout NodeSink,
    _ leafBody: (Leaf, inout NodeMover, inout NodeSink) -> Void
  ) {
    guard var child = root else { return }
    moveNodes(of: &child, level: level, &mover, into: &sink, leafBody)
    root = child
  }

  private func moveNodes(
    of child: inout Child, level: Int, _ mover: inout NodeMover, into sink: inout NodeSink,
    _ leafBody: (Leaf, inout NodeMover, inout NodeSink) -> Void
  ) {
    switch child {
    case .stored(let link):
      child = .stored(mover.move(link, role(level: level), into: &sink))
    case .inner(let inner):
      mover.forEachIndex(below: inner.children.count) { mover, index in
        moveNodes(of: &inner.children[index], level: level - 1, &mover, into: &sink, leafBody)
      }
    case .leaf(let leaf): leafBody(leaf, &mover, &sink)
    }
  }
}

extension MutableKeyPairTree {
  /// Moves the committed parts of the index.
  func moveNodes(_ mover: inout NodeMover, into sink: inout NodeSink) {
    moveNodes(&mover, into: &sink) { _, _, _ in }
  }
}

extension MutableTree {
  /// Moves the committed parts of the tree.
  func moveNodes(_ mover: inout NodeMover, into sink: inout NodeSink) {
    moveNodes(&mover, into: &sink) { leaf, mover, sink in
      moveExternals(of: leaf, &mover, into: &sink)
    }
  }

  /// Moves the external values of a leaf in memory: long values, and unchanged collections.
  private func moveExternals(
    of leaf: MutableLeaf, _ mover: inout NodeMover, into sink: inout NodeSink
  ) {
    var places: [(column: Int, row: Int)] = []
    for column in leaf.columns.indices where !leaf.columns[column].externals.isEmpty {
      for row in 0..<leaf.count where leaf.columns[column].externals[row] {
        places.append((column, row))
      }
    }
    mover.forEachIndex(below: places.count) { mover, index in
      let (column, row) = places[index]
      let layout = leaf.columns[column].layout
      let entry = ExternalEntry(leaf.columns[column].bytes[leaf.columns[column].range(row)])
      guard !TreeWriter.isUnplaced(entry.link),
        layout.collection == .none || entry.level <= Layout.levelMax
      else { return }
      let role: NodeRole =
        layout.collection == .none
        ? .longValue : .collection(CollectionShape(layout), level: entry.level)
      let moved = mover.move(entry.link, role, into: &sink)
      guard moved != entry.link else { return }
      let changed = ExternalEntry(link: moved, word: entry.word)
      leaf.columns[column].replace(changed.bytes, isExternal: true, at: row)
    }
  }
}
