// InnerView.swift: an inner node read in place. With n children:
//   offset_bytes   size  field
//             48  8(n-1)  separators, ascending: child i holds keys in separator[i-1] ..<
//             separator[i]
//      48+8(n-1)    16 n  links: ref 8, checksum 8
//              …       …  patches of leaves (LeafPatch.swift), as many as the header says

/// An inner node.
struct InnerView: InnerNodeView {
  static let kind = NodeKind.inner
  let node: Node
  let childCount: Int

  init(_ node: Node) throws(EngineError) {
    let count = node.header.count
    let size = Self.sizeBytes(childCount: count)
    guard count >= 1, count <= Layout.childCountMax,
      node.bytes.count == size || (node.header.auxiliary > 0 && node.bytes.count > size)
    else {
      throw .corrupted("children=\(count) node_bytes=\(node.bytes.count)", at: node.ref)
    }
    self.node = node
    childCount = count
  }

  static func sizeBytes(childCount: Int) -> Int {
    Layout.nodeHeaderBytes + 8 * (childCount - 1) + 16 * childCount
  }

  @inline(__always)
  static func linkOffsetBytes(_ index: Int, childCount: Int) -> Int {
    Layout.nodeHeaderBytes + 8 * (childCount - 1) + 16 * index
  }

  @inline(__always)
  func separator(_ index: Int) -> Int64 {
    node.bytes.int64(Layout.nodeHeaderBytes + 8 * index)
  }

  @inline(__always)
  func link(_ index: Int) -> NodeLink {
    precondition(index < childCount)
    let offset = Self.linkOffsetBytes(index, childCount: childCount)
    return NodeLink(
      ref: Ref(offsetBytes: node.bytes.uint64(offset)), checksum: node.bytes.uint64(offset + 8))
  }

  /// The child whose range holds the key.
  @inline(__always)
  func childIndex(for key: Int64) -> Int {
    var low = 0
    var length = childCount - 1
    while length > 0 {
      let half = length >> 1
      if separator(low + half) <= key {
        low += half + 1
        length -= half + 1
      } else {
        length = half
      }
    }
    return low
  }

  func guide(_ elementCount: UInt64?) -> Separators<Int64> {
    Separators((0..<childCount - 1).map { separator($0) })
  }

  static func encode(_ guide: Separators<Int64>, links: [NodeLink], into node: MutableBytes) {
    encode(separators: guide.keys, links: links, into: node)
  }

  static func encode(
    separators: [Int64], links: [NodeLink], patches: [PatchedChild] = [], into node: MutableBytes
  ) {
    precondition(separators.count == links.count - 1, "a separator stands between two children")
    PatchedChild.encode(patches, into: node)
    var offset = Layout.nodeHeaderBytes
    for separator in separators {
      node.set(UInt64(bitPattern: separator), at: offset)
      offset += 8
    }
    node.set(links, at: offset)
  }
}
