// MutableKeyPairTree.swift: an index while a writer changes it (MutableNodeTree.swift).
// Invariant: no leaf and no inner node is larger than a sector.

/// An index that can be changed.
final class MutableKeyPairTree: MutableNodeTree, KeyPairSource {
  typealias View = KeyPairInnerView

  let writer: TreeWriter
  var root: MutableNode<MutableKeyPairLeaf>?
  var level: Int
  /// Pairs, equal ones counted once.
  @safe @exclusivity(unchecked) var pairCount: UInt64
  /// Whether it is a full-text index.
  let ofWords: Bool
  /// Pairs of words that were added or removed, in the order of the changes, and are not in the
  /// tree yet (MutableKeyPairTree+Words.swift).
  @safe @exclusivity(unchecked) var waiting: [WordChange] = []
  /// Why they could not be put into the tree, which some of them are missing in.
  var failure: EngineError?

  init(
    writer: TreeWriter, root: NodeLink = .none, level: Int = 0, pairCount: UInt64 = 0,
    ofWords: Bool = false
  ) {
    self.writer = writer
    self.ofWords = ofWords
    self.root = root.isNone ? nil : .stored(root)
    self.level = level
    self.pairCount = pairCount
  }

  /// Leaves of a transaction are bounded by its memory, those of the file by its sectors.
  var leafCountBound: Int { .max }

  var childCountMax: Int { Layout.keyPairChildCountMax }
  var childCountMin: Int { Layout.keyPairChildCountMin }

  func role(level: Int) -> NodeRole { .index(level: level, ofWords: ofWords) }

  func isSmall(_ leaf: MutableKeyPairLeaf) -> Bool {
    leaf.sizeBytes < Layout.keyPairLeafSizeBytesMin
  }

  func canMerge(_ left: MutableKeyPairLeaf, _ right: MutableKeyPairLeaf) -> Bool {
    left.sizeBytes(with: right) <= Layout.keyPairLeafSizeBytesMax * 3 / 4
  }

  func place(of pair: KeyPair) throws(EngineError) -> KeyPairPlace? {
    precondition(waiting.isEmpty, "changes of words go into the tree before it is read")
    var position = KeyPosition(pair)
    guard let (node, depth) = lowest(at: &position) else { return nil }
    switch node {
    case .stored(let link):
      let place = try KeyPairTree(
        reader: writer.reader, root: link, level: depth, newest: writer.base, ofWords: ofWords
      ).place(of: pair)
      return place.map { KeyPairPlace(leaf: $0.leaf, upper: $0.upper ?? position.upper) }
    case .leaf(let leaf): return KeyPairPlace(leaf: .changed(leaf), upper: position.upper)
    case .inner: preconditionFailure("the descent ends below inner nodes")
    }
  }

  /// The greatest pair, or nil when there are none.
  /// - Complexity: O(log pairs).
  func lastPair() throws(EngineError) -> KeyPair? {
    switch try lastLeaf(writer) {
    case .leaf(let leaf): return leaf.count > 0 ? leaf[leaf.count - 1] : nil
    case .stored(let link):
      let leaf = try loadedLeaf(link)
      return leaf.count > 0 ? leaf[leaf.count - 1] : nil
    case .inner, nil: return nil
    }
  }

  func loadLeaf(
    _ link: NodeLink, elementCount: UInt64?, _ writer: TreeWriter
  ) throws(EngineError) -> MutableKeyPairLeaf {
    let node = try writer.reader.node(link, kind: role(level: 0).kind, newest: writer.base)
    let leaf = try MutableKeyPairLeaf(node, ofWords: ofWords)
    writer.release(node)
    return leaf
  }

  private func loadedLeaf(_ link: NodeLink) throws(EngineError) -> MutableKeyPairLeaf {
    try MutableKeyPairLeaf(
      writer.reader.node(link, kind: role(level: 0).kind, newest: writer.base), ofWords: ofWords)
  }

  /// Empties the tree; the new version reaches none of its nodes.
  /// - Complexity: O(nodes): each is read for the version that wrote it.
  func releaseAll() throws(EngineError) {
    try releaseNodes(writer)
    waiting = []
    pairCount = 0
  }

  /// Places and encodes every changed node, children first.
  /// - Returns: The link to the root, or none for a tree without pairs.
  func encode(into sink: inout NodeSink) -> NodeLink {
    precondition(waiting.isEmpty, "changes of words go into the tree before it is written")
    return encode(into: &sink, writer)
  }

  func encode(
    _ leaf: MutableKeyPairLeaf, into sink: inout NodeSink, _ writer: TreeWriter
  ) -> NodeLink {
    leaf.encode(into: &sink)
  }
}
