// KeyPairTree.swift: a committed index, read in place.
// Invariant: the level falls by one with each step down.

/// An ordered set of pairs of one version.
struct KeyPairTree: KeyPairSource {
  let reader: NodeReader
  let root: NodeLink
  let level: Int
  let newest: Version

  init(reader: NodeReader, root: NodeLink, level: Int, newest: Version) {
    self.reader = reader
    self.root = root
    self.level = level
    self.newest = newest
  }

  var leafCountBound: Int { reader.bytes.count / Layout.sectorSizeBytes }

  @inline(__always)
  func place(of pair: KeyPair) throws(EngineError) -> KeyPairPlace? {
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
    let leaf = try KeyPairLeafView(reader.node(link, kind: .indexLeaf, newest: newest))
    return KeyPairPlace(leaf: .stored(leaf), upper: upper)
  }
}
