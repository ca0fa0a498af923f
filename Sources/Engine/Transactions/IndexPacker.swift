// IndexPacker.swift: packs the pairs of an index into leaves that fill their sector, for a copy. A
// leaf that already does so is copied unchanged. Invariant: pairs ascend from leaf to leaf.

/// Takes the leaves of an index in order and emits packed ones.
struct IndexPacker {
  private var gathered: MutableKeyPairLeaf
  private var inner = InnerPacker<KeyPairInnerView, KeyPair>(
    childCountMax: Layout.keyPairChildCountMax)
  private var last: KeyPair?
  private(set) var pairCount: UInt64 = 0

  /// A leaf of at least this size is copied unchanged.
  private static let denseBytes = Layout.keyPairLeafSizeBytesMax * 7 / 8

  init(ofWords: Bool) { gathered = MutableKeyPairLeaf(ofWords: ofWords) }

  /// Adds the pairs of the next leaf.
  mutating func add(_ leaf: Node, _ target: inout CopyTarget) throws(EngineError) {
    let view =
      try gathered.ofWords
      ? KeyPairLeaf.changed(MutableKeyPairLeaf(leaf, ofWords: true))
      : .stored(KeyPairLeafView(leaf))
    let first = view[0]
    if let last, last >= first {
      throw .corrupted("\(first) follows \(last)", at: leaf.ref)
    }
    last = view[view.count - 1]
    pairCount += UInt64(view.count)
    if leaf.bytes.count >= Self.denseBytes,
      gathered.count == 0 || gathered.sizeBytes >= Self.denseBytes
    {
      try emitGathered(&target)
      let copied = try target.add(leaf, with: [])
      try inner.add(copied, firstKey: first, &target)
      return
    }
    let pairs = try MutableKeyPairLeaf(leaf, ofWords: gathered.ofWords)
    for index in 0..<pairs.count {
      let multiplicity = pairs.multiplicity(index)
      if !gathered.hasRoom(for: pairs[index], multiplicity: multiplicity) {
        try emitGathered(&target)
      }
      gathered.insert(pairs[index], at: gathered.count, multiplicity: multiplicity)
    }
  }

  private mutating func emitGathered(_ target: inout CopyTarget) throws(EngineError) {
    guard gathered.count > 0 else { return }
    let leaf = gathered
    gathered = MutableKeyPairLeaf(ofWords: leaf.ofWords)
    leaf.tighten()
    let link = try target.add(
      kind: leaf.kind, sizeBytes: leaf.sizeBytes, count: leaf.count, auxiliary: leaf.auxiliary
    ) { leaf.fill($0) }
    try inner.add(link, firstKey: leaf[0], &target)
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
