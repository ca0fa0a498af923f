// KeyPairInnerView.swift: an inner node of an index read in place. With n children:
//   offset_bytes   size  field
//             48 16(n-1)  separators, ascending, image 8 and key 8 each: child i holds the pairs in
//             separator[i-1] ..< separator[i]
//     48+16(n-1)    16 n  links: ref 8, checksum 8

/// An inner node of an index.
struct KeyPairInnerView: InnerNodeView {
  static let kind = NodeKind.indexInner
  private let node: Node
  let childCount: Int

  init(_ node: Node) throws(EngineError) {
    let count = node.header.count
    guard count >= 1, count <= Layout.keyPairChildCountMax, node.header.auxiliary == 0,
      node.bytes.count == Self.sizeBytes(childCount: count)
    else {
      throw .corrupted("index_children=\(count) node_bytes=\(node.bytes.count)", at: node.ref)
    }
    self.node = node
    childCount = count
  }

  static func sizeBytes(childCount: Int) -> Int {
    Layout.nodeHeaderBytes + 16 * (childCount - 1) + 16 * childCount
  }

  @inline(__always)
  func separator(_ index: Int) -> KeyPair {
    precondition(index >= 0 && index < childCount - 1)
    let offset = Layout.nodeHeaderBytes + 16 * index
    return KeyPair(node.bytes.uint64(offset), node.bytes.int64(offset + 8))
  }

  static func linkOffsetBytes(_ index: Int, childCount: Int) -> Int {
    Layout.nodeHeaderBytes + 16 * (childCount - 1) + 16 * index
  }

  @inline(__always)
  func link(_ index: Int) -> NodeLink {
    precondition(index >= 0 && index < childCount)
    let offset = Self.linkOffsetBytes(index, childCount: childCount)
    return NodeLink(
      ref: Ref(offsetBytes: node.bytes.uint64(offset)), checksum: node.bytes.uint64(offset + 8))
  }

  /// The child whose range holds the pair.
  @inline(__always)
  func childIndex(for pair: KeyPair) -> Int {
    var low = 0
    var length = childCount - 1
    while length > 0 {
      let half = length >> 1
      if separator(low + half) <= pair {
        low += half + 1
        length -= half + 1
      } else {
        length = half
      }
    }
    return low
  }

  func guide(_ elementCount: UInt64?) -> Separators<KeyPair> {
    Separators((0..<childCount - 1).map { separator($0) })
  }

  static func encode(_ guide: Separators<KeyPair>, links: [NodeLink], into node: MutableBytes) {
    encode(separators: guide.keys, links: links, into: node)
  }

  static func encode(separators: [KeyPair], links: [NodeLink], into node: MutableBytes) {
    precondition(separators.count == links.count - 1, "a separator stands between two children")
    var offset = Layout.nodeHeaderBytes
    for separator in separators {
      node.set(separator.image, at: offset)
      node.set(UInt64(bitPattern: separator.key), at: offset + 8)
      offset += 16
    }
    node.set(links, at: offset)
  }
}
