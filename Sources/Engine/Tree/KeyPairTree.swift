// KeyPairTree.swift: a committed index, read in place.
// Invariant: the level falls by one with each step down.

/// An ordered set of pairs of one version.
struct KeyPairTree: KeyPairSource {
  let reader: NodeReader
  let root: NodeLink
  let level: Int
  let newest: Version
  /// Whether it is a full-text index.
  let ofWords: Bool

  init(
    reader: NodeReader, root: NodeLink, level: Int, newest: Version, ofWords: Bool = false
  ) {
    self.reader = reader
    self.ofWords = ofWords
    self.root = root
    self.level = level
    self.newest = newest
  }

  var leafCountBound: Int { reader.bytes.count / Layout.sectorSizeBytes }

  @inline(__always)
  func place(of pair: KeyPair) throws(EngineError) -> KeyPairPlace? {
    guard let (node, upper) = try leaf(of: pair) else { return nil }
    // Only lookups of words read a leaf of words in place (WordIndex.swift).
    let leaf =
      try ofWords
      ? KeyPairLeaf.changed(MutableKeyPairLeaf(node, ofWords: true))
      : .stored(KeyPairLeafView(node))
    return KeyPairPlace(leaf: leaf, upper: upper)
  }

  /// The leaf whose range holds a pair, and where the range ends; nil for the last leaf.
  @inline(__always)
  func leaf(of pair: KeyPair) throws(EngineError) -> (node: Node, upper: KeyPair?)? {
    guard !root.isNone else { return nil }
    var link = root
    var depth = level
    var upper: KeyPair?
    while depth > 0 {
      let inner = try KeyPairInnerView(
        reader.node(link, kind: .indexInner, level: depth, newest: newest))
      let index = inner.childIndex(for: pair)
      if index < inner.childCount - 1 { upper = inner.separator(index) }
      link = inner.link(index)
      depth -= 1
    }
    let kind = ofWords ? NodeKind.wordLeaf : .indexLeaf
    return (try reader.node(link, kind: kind, newest: newest), upper)
  }
}
