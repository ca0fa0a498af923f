// MutableTree+Relocate.swift: bringing nodes that stand too far behind into memory, as if they had
// been changed, so that the commit writes them somewhere else.
// Invariant: a node is released exactly when its copy has its place in the tree, also when an error
// ends the walk half-way.

extension MutableTree {
  /// Walks on through the tree until the work is spent.
  /// - Returns: The key to go on from, or nil when the whole tree was seen.
  func relocate(
    _ work: inout Relocation, from start: Int64
  ) throws(EngineError) -> Int64? {
    guard var child = root else { return nil }
    root = nil
    defer { root = child }
    return try relocate(&work, from: start, below: &child, level: level)
  }

  private func relocate(
    _ work: inout Relocation, from start: Int64, below child: inout MutableChild, level: Int
  ) throws(EngineError) -> Int64? {
    work.visit()
    switch child {
    case .leaf(let leaf):
      try moveStrings(of: leaf, &work)
      return nil
    case .inner(let inner):
      return try relocate(
        &work, from: start, in: inner, at: inner.childIndex(for: start), level: level)
    case .stored(let link):
      if level == 0 {
        try relocateLeaf(&work, link, &child)
        return nil
      }
      if work.concerns(link) {
        let inner = try loadInner(link, level: level)
        child = .inner(inner)
        work.moved(sectors: 1)
        return try relocate(
          &work, from: start, in: inner, at: inner.childIndex(for: start), level: level)
      }
      return try relocateStored(&work, from: start, link, &child, level: level)
    }
  }

  /// The children of a node in memory, from one of them on.
  private func relocate(
    _ work: inout Relocation, from start: Int64, in inner: MutableInner, at first: Int, level: Int
  ) throws(EngineError) -> Int64? {
    for index in first..<max(first, inner.children.count) {
      let lower = index == first ? start : inner.separators[index - 1]
      if work.isSpent { return lower }
      if let next = try relocate(
        &work, from: lower, below: &inner.children[index], level: level - 1)
      {
        return next
      }
    }
    return nil
  }

  /// The children of a committed node, which stays as it is unless one of them moves.
  private func relocateStored(
    _ work: inout Relocation, from start: Int64, _ link: NodeLink, _ child: inout MutableChild,
    level: Int
  ) throws(EngineError) -> Int64? {
    let node = try writer.reader.node(link, kind: .inner, level: level, newest: writer.base)
    let view = try InnerView(node)
    let first = view.childIndex(for: start)
    for index in first..<view.childCount {
      let lower = index == first ? start : view.separator(index - 1)
      if work.isSpent { return lower }
      var below = MutableChild.stored(view.link(index))
      var outcome: Result<Int64?, EngineError>
      do throws(EngineError) {
        outcome = .success(
          try relocate(&work, from: lower, below: &below, level: level - 1))
      } catch { outcome = .failure(error) }
      if case .stored = below {
        if let next = try outcome.get() { return next }
        continue
      }
      let inner = MutableInner(
        separators: (0..<view.childCount - 1).map { view.separator($0) },
        children: (0..<view.childCount).map { .stored(view.link($0)) })
      inner.children[index] = below
      writer.release(node)
      work.moved(sectors: 1)
      child = .inner(inner)
      if let next = try outcome.get() { return next }
      return try relocate(
        &work, from: index + 1 < view.childCount ? view.separator(index) : lower, in: inner,
        at: index + 1, level: level)
    }
    return nil
  }

  private func relocateLeaf(
    _ work: inout Relocation, _ link: NodeLink, _ child: inout MutableChild
  ) throws(EngineError) {
    let hasStrings = shape.types.contains(.string)
    guard work.concerns(link) || hasStrings else { return }
    let node = try writer.reader.node(link, kind: .leaf, newest: writer.base)
    if !work.concerns(link) {
      guard try hasStringsToMove(work, node) else { return }
    }
    let leaf = try loadLeaf(link)
    child = .leaf(leaf)
    work.moved(sectors: node.header.sectorCount)
    try moveStrings(of: leaf, &work)
  }

  /// Gives the long strings of a leaf new nodes, as many as may still move.
  private func moveStrings(of leaf: MutableLeaf, _ work: inout Relocation) throws(EngineError) {
    for column in leaf.columns.indices where !leaf.columns[column].externals.isEmpty {
      for row in 0..<leaf.count where leaf.columns[column].externals[row] {
        if work.isSpent { return }
        let entry = leaf.columns[column].bytes[leaf.columns[column].range(row)]
        let (link, size) = RawBytes.over(Array(entry)) { NodeReader.externalLink($0) }
        guard work.concerns(link) else { continue }
        leaf.columns[column].replace(try writer.moveString(entry), isExternal: true, at: row)
        work.moved(sectors: Layout.sectors(Layout.nodeHeaderBytes + Int(clamping: size)))
      }
    }
  }

  private func hasStringsToMove(_ work: Relocation, _ node: Node) throws(EngineError) -> Bool {
    let leaf = try LeafView(node, shape: shape)
    for column in shape.types.indices where shape.types[column] == .string {
      let strings = try leaf.strings(column, shape)
      for index in 0..<leaf.count where strings.flags[index] != 0 {
        let entry = try strings.entry(index)
        if entry.isExternal, work.concerns(NodeReader.externalLink(entry.bytes).link) {
          return true
        }
      }
    }
    return false
  }
}
