// LeafPacker.swift: packs the rows of a table into leaves that fill their sectors, for a copy. A
// leaf that already does so is copied unchanged; the rows of others are gathered until they make a
// full leaf. Remaining rows are packed together with those of the following full leaves, but only a
// few of these are repacked (decision 0462). Invariants: keys ascend from leaf to leaf; no leaf has
// data of a column that the table no longer has, since that may lead to nodes that are not in the
// copy.

/// Takes the leaves of a table in key order and emits packed ones.
struct LeafPacker {
  private let shape: LeafShape
  private let room: NodeRoom
  private var gathered: MutableLeaf?
  /// Consecutive full leaves that were repacked because of remaining rows before them.
  private var denseCount = 0
  private var inner: InnerPacker<InnerView, Int64>
  private var lastKey: Int64?
  private(set) var rowCount: UInt64 = 0

  /// `room` is the space that the emitted leaves have in their sectors besides the seal.
  init(_ shape: LeafShape, _ room: NodeRoom) {
    self.shape = shape
    self.room = room
    inner = InnerPacker(childCountMax: room.childCountMax)
  }

  /// A leaf is cut when it is larger, unless it has one row.
  private var leafSizeBytesMax: Int { shape.leafSizeBytesMax - room.sealBytes }

  /// The most full leaves that are repacked because of a thin one before them.
  private static let denseCountMax = 4

  /// Whether a leaf of this size leaves at most an eighth of its sectors empty.
  private func isDense(_ sizeBytes: Int) -> Bool {
    sizeBytes >= Int(room.sectors(sizeBytes)) * Layout.sectorSizeBytes * 7 / 8
  }

  /// Whether the leaf was written with the columns that the table has now.
  private func isCurrent(_ arrays: NodeArrays) -> Bool {
    guard arrays.descriptorCount == shape.descriptorCount else { return false }
    return shape.columns.allSatisfy { arrays.columnID($0.firstDescriptor) == $0.id }
  }

  /// Adds the rows of the next leaf, with the new links to its external values, in the order of
  /// `NodeLinks`, and their offsets in the leaf.
  mutating func add(
    _ leaf: LeafView, _ links: [(offsetBytes: Int, link: NodeLink)], _ target: inout CopyTarget
  ) throws(EngineError) {
    let firstKey = leaf.keys[0]
    if let lastKey, lastKey >= firstKey {
      throw .corrupted("key \(firstKey) follows \(lastKey)", at: leaf.node.ref)
    }
    lastKey = leaf.keys[leaf.count - 1]
    rowCount += UInt64(leaf.count)
    let isGood = isDense(leaf.node.bytes.count) && isCurrent(leaf.arrays)
    if isGood, canEmit {
      denseCount = 0
      try emitGathered(&target)
      let copied = try target.add(leaf.node, with: links)
      try inner.add(copied, firstKey: firstKey, &target)
      return
    }
    denseCount = isGood ? denseCount + 1 : 0
    let rows = try MutableLeaf(leaf, shape: shape)
    try rows.checkOrder(at: leaf.node.ref)
    try rows.replaceLinks(links.map(\.link), at: leaf.node.ref)
    if let gathered { gathered.append(rows) } else { gathered = rows }
    try emitFull(&target)
  }

  /// Whether the remaining rows may form a separate leaf.
  private var canEmit: Bool {
    guard let gathered else { return true }
    return denseCount >= Self.denseCountMax || isDense(gathered.sizeBytes)
  }

  /// Emits full leaves; the remaining rows wait for more.
  private mutating func emitFull(_ target: inout CopyTarget) throws(EngineError) {
    while let leaf = gathered, leaf.count > 1 {
      let size = leaf.sizeBytes
      guard size > leafSizeBytesMax else { return }
      let rest = split(leaf, size)
      try emitGathered(&target)
      gathered = rest
    }
  }

  /// Splits an oversized leaf after the rows that make a full one.
  private func split(_ leaf: MutableLeaf, _ size: Int) -> MutableLeaf {
    let fixed = shape.arraysOffsetBytes
    let most = leafSizeBytesMax
    var cut = min(leaf.count - 1, max(1, leaf.count * (most - fixed) / (size - fixed)))
    while true {
      let rest = leaf.split(at: cut)
      if cut == 1 || leaf.sizeBytes <= most { return rest }
      leaf.append(rest)
      cut = max(1, cut * 15 / 16)
    }
  }

  private mutating func emitGathered(_ target: inout CopyTarget) throws(EngineError) {
    guard let leaf = gathered else { return }
    gathered = nil
    let plan = LeafPlan(keys: leaf.keys, leaf.columns)
    let link = try target.add(
      kind: .leaf, sizeBytes: plan.sizeBytes, count: plan.rowCount,
      auxiliary: plan.descriptorCount
    ) { plan.encode(into: $0) }
    try inner.add(link, firstKey: leaf.keys[0], &target)
  }

  /// Emits the rest.
  /// - Returns: The root of the new tree and its level.
  mutating func finish(
    _ target: inout CopyTarget
  ) throws(EngineError) -> (root: NodeLink, level: Int) {
    try emitGathered(&target)
    return try inner.finish(&target)
  }
}

extension MutableLeaf {
  /// Rows that are written again must be in order.
  fileprivate func checkOrder(at ref: Ref) throws(EngineError) {
    for index in 1..<max(1, count) where keys[index - 1] >= keys[index] {
      throw .corrupted("key \(keys[index]) follows \(keys[index - 1])", at: ref)
    }
  }

  /// Replaces the links to external values of rows, in the order of `NodeLinks`.
  fileprivate func replaceLinks(_ links: [NodeLink], at ref: Ref) throws(EngineError) {
    var next = 0
    for column in columns.indices where !columns[column].externals.isEmpty {
      for row in 0..<count where columns[column].externals[row] {
        guard next < links.count else { throw .corrupted("more links than \(next)", at: ref) }
        var entry = ExternalEntry(columns[column].bytes[columns[column].range(row)])
        entry.link = links[next]
        next += 1
        columns[column].replace(entry.bytes, isExternal: true, at: row)
      }
    }
    guard next == links.count else {
      throw .corrupted("links=\(next) of a leaf that had \(links.count)", at: ref)
    }
  }
}
