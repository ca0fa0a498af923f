// InnerNodeView.swift: the common interface of the inner nodes of all trees, read in place: links
// to their children, and a guide to them.

/// An inner node of any tree.
protocol InnerNodeView {
  associatedtype Guide: ChildGuide
  /// The kind in the node's header.
  static var kind: NodeKind { get }
  init(_ node: Node) throws(EngineError)
  var childCount: Int { get }
  func link(_ index: Int) -> NodeLink
  /// How the children are found, checked as far as a writer relies on it; `elementCount` says how
  /// many elements are below, when the parent counts them.
  func guide(_ elementCount: UInt64?) throws(EngineError) -> Guide
  /// Bytes of a node with this many children and nothing after them.
  static func sizeBytes(childCount: Int) -> Int
  /// The offset of the link to a child.
  static func linkOffsetBytes(_ index: Int, childCount: Int) -> Int
  /// Writes the content after the node's header.
  static func encode(_ guide: Guide, links: [NodeLink], into node: MutableBytes)
}

extension MutableBytes {
  /// Writes links one after the other.
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
