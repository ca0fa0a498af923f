// CollectionInnerView.swift: an inner node of a collection's tree read in place. With n children:
//   offset_bytes   size  field
//             48    8 n  ends: child i holds the elements at positions end[i-1] ..< end[i] of the
//             node, ascending from 0 (for i = 0) on; no child is empty
//         48+8 n   16 n  links: ref 8, checksum 8

/// An inner node of a collection.
struct CollectionInnerView: InnerNodeView {
  static let kind = NodeKind.collectionInner
  private let node: Node
  let childCount: Int

  init(_ node: Node) throws(EngineError) {
    let children = node.header.count
    guard children >= 1, children <= Layout.childCountMax,
      node.bytes.count == Self.sizeBytes(childCount: children)
    else {
      throw .corrupted("children=\(children) node_bytes=\(node.bytes.count)", at: node.ref)
    }
    self.node = node
    childCount = children
  }

  /// The same, with the number of elements below taken from the parent or the row.
  init(_ node: Node, count: UInt64) throws(EngineError) {
    try self.init(node)
    try check(count)
  }

  private func check(_ count: UInt64) throws(EngineError) {
    guard end(childCount - 1) == count else {
      throw .corrupted(
        "elements=\(end(childCount - 1)) != count_in_parent=\(count)", at: node.ref)
    }
  }

  static func sizeBytes(childCount: Int) -> Int { Layout.nodeHeaderBytes + 24 * childCount }

  @inline(__always)
  private func end(_ index: Int) -> UInt64 { node.bytes.uint64(Layout.nodeHeaderBytes + 8 * index) }

  static func linkOffsetBytes(_ index: Int, childCount: Int) -> Int {
    Layout.nodeHeaderBytes + 8 * childCount + 16 * index
  }

  func link(_ index: Int) -> NodeLink {
    precondition(index < childCount)
    let offset = Self.linkOffsetBytes(index, childCount: childCount)
    return NodeLink(
      ref: Ref(offsetBytes: node.bytes.uint64(offset)), checksum: node.bytes.uint64(offset + 8))
  }

  /// The positions of a child's elements.
  func range(_ index: Int) throws(EngineError) -> Range<UInt64> {
    let start = index == 0 ? 0 : end(index - 1)
    let end = end(index)
    guard start < end, end <= self.end(childCount - 1) else {
      throw .corrupted(
        "child \(index) ends at \(end), not in \(start) ..< \(self.end(childCount - 1))",
        at: node.ref)
    }
    return start..<end
  }

  /// The child that holds a position.
  func childIndex(for position: UInt64) throws(EngineError) -> (index: Int, range: Range<UInt64>) {
    var low = 0
    var high = childCount - 1
    while low < high {
      let middle = (low + high) / 2
      if end(middle) > position { high = middle } else { low = middle + 1 }
    }
    let range = try range(low)
    guard range.contains(position) else {
      throw .corrupted("ends descend around position \(position)", at: node.ref)
    }
    return (low, range)
  }

  func guide(_ elementCount: UInt64?) throws(EngineError) -> ElementCounts {
    if let elementCount { try check(elementCount) }
    var counts: [UInt64] = []
    for index in 0..<childCount { counts.append(UInt64(try range(index).count)) }
    return ElementCounts(counts)
  }

  static func encode(_ guide: ElementCounts, links: [NodeLink], into node: MutableBytes) {
    precondition(guide.counts.count == links.count, "every child has a count")
    var offset = Layout.nodeHeaderBytes
    var end: UInt64 = 0
    for count in guide.counts {
      end += count
      node.set(end, at: offset)
      offset += 8
    }
    node.set(links, at: offset)
  }
}
