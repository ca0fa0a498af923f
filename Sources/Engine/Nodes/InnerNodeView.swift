// InnerNodeView.swift: what the inner nodes of all trees have in common when they are read in
// place: links to their children, and a guide to them.

/// An inner node of any tree.
protocol InnerNodeView {
  associatedtype Guide: ChildGuide
  /// What the node's header says that it is.
  static var kind: NodeKind { get }
  init(_ node: Node) throws(EngineError)
  var childCount: Int { get }
  func link(_ index: Int) -> NodeLink
  /// How the children are found, checked as far as a writer relies on it; `elementCount` says how
  /// many elements are below, when the parent counts them.
  func guide(_ elementCount: UInt64?) throws(EngineError) -> Guide
  /// Bytes of a node with so many children and nothing behind them.
  static func sizeBytes(childCount: Int) -> Int
  /// Where the link to a child stands.
  static func linkOffsetBytes(_ index: Int, childCount: Int) -> Int
  /// Writes what stands behind the node's header.
  static func encode(_ guide: Guide, links: [NodeLink], into node: MutableBytes)
}

extension MutableBytes {
  /// Writes links one behind the other.
  @inline(__always)
  func set(_ links: [NodeLink], at offset: Int) {
    var offset = offset
    for link in links {
      set(link.ref.offsetBytes, at: offset)
      set(link.checksum, at: offset + 8)
      offset += 16
    }
  }
}
