// NodeHeader.swift: the header of every node.
//   offset_bytes  size  field
//              0     8  checksum of bytes 8 ..< sizeBytes
//              8     8  ref: the node's own position
//             16     8  version that wrote it
//             24     4  size in bytes; the node occupies whole sectors from ref on
//             28     1  kind
//             29     1  level in the tree; 0 for leaves and for everything that is not in a tree
//             30     2  0
//             32     4  count: rows, elements, children, tables, spans, or bytes of a value
//             36     4  auxiliary: array descriptors of a leaf, segments of a free list, runs of
//                       a leaf of words, else 0
//             40     8  0

/// The kind of content of a node.
package enum NodeKind: UInt8, Sendable {
  /// Tables and the free list of one version.
  case group = 1
  /// Children of a tree.
  case inner = 2
  /// Rows.
  case leaf = 3
  /// A string, binary or mixed value too long for its leaf.
  case string = 4
  /// Free and pending spans, and links to segments with more of them.
  case freeList = 5
  /// Children of the tree of a collection.
  case collectionInner = 6
  /// Elements of a collection.
  case collectionLeaf = 7
  /// Children of the tree of an index.
  case indexInner = 8
  /// Entries of an index.
  case indexLeaf = 9
  /// Spans of the free list that stayed the same for a while.
  case freeListSegment = 10
  /// Words of a full-text index, and the keys of the rows that have them.
  case wordLeaf = 11

  /// Whether a root slot may edit nodes of this kind; the group is read by its slot alone.
  var canBeEdited: Bool {
    switch self {
    case .inner, .leaf, .indexInner, .indexLeaf, .wordLeaf: true
    case .group, .string, .freeList, .freeListSegment, .collectionInner, .collectionLeaf: false
    }
  }
}

/// The header of a node, parsed.
struct NodeHeader {
  let kind: NodeKind
  let level: Int
  let version: Version
  let sizeBytes: Int
  let count: Int
  let auxiliary: Int
  private let room: NodeRoom

  var sectorCount: UInt64 { room.sectors(sizeBytes) }

  /// Parses the header of the node at `ref`; `bytes` are all bytes of the file.
  ///
  /// Sizes are checked against the file before they are used; the checksum is not checked here.
  init(at ref: Ref, in bytes: RawBytes, room: NodeRoom = .plain) throws(EngineError) {
    self.room = room
    let offset = try Self.checkedOffset(ref, in: bytes)
    let size = Int(bytes.uint32(offset + NodeField.sizeBytes))
    guard size >= Layout.nodeHeaderBytes, size <= bytes.count - offset,
      size <= Layout.nodeSizeBytesMax
    else {
      throw .corrupted(
        "node_bytes=\(size) does not fit file_bytes=\(bytes.count)", at: ref)
    }
    let kindNumber = bytes.uint8(offset + NodeField.kind)
    guard let kind = NodeKind(rawValue: kindNumber) else {
      throw .corrupted("node_kind=\(kindNumber) is none of 1...11", at: ref)
    }
    let own = bytes.uint64(offset + NodeField.ref)
    guard own == ref.offsetBytes else {
      throw .corrupted("the node says ref=\(own)", at: ref)
    }
    guard bytes.uint16(offset + NodeField.reserved16) == 0,
      bytes.uint64(offset + NodeField.reserved64) == 0
    else { throw .corrupted("reserved bytes of a node header are not 0", at: ref) }
    self.kind = kind
    self.sizeBytes = size
    level = Int(bytes.uint8(offset + NodeField.level))
    version = Version(rawValue: bytes.uint64(offset + NodeField.version))
    count = Int(bytes.uint32(offset + NodeField.count))
    auxiliary = Int(bytes.uint32(offset + NodeField.auxiliary))
  }

  private static func checkedOffset(_ ref: Ref, in bytes: RawBytes) throws(EngineError) -> Int {
    guard ref.offsetBytes % UInt64(Layout.sectorSizeBytes) == 0,
      ref.sector >= Layout.firstNodeSector, ref.offsetBytes < Layout.fileSizeBytesMax,
      Int(ref.offsetBytes) <= bytes.count - Layout.nodeHeaderBytes
    else { throw .corrupted("no node can start here, file_bytes=\(bytes.count)", at: ref) }
    return Int(ref.offsetBytes)
  }

  /// Fills in the header of a new node and seals it with the checksum.
  /// - Returns: The link by which a parent refers to the node.
  static func seal(
    _ node: MutableBytes, ref: Ref, version: Version, kind: NodeKind, level: Int = 0,
    count: Int, auxiliary: Int = 0
  ) -> NodeLink {
    precondition(node.count <= Layout.nodeSizeBytesMax, "no node is larger than the format allows")
    precondition(ref.sector >= Layout.firstNodeSector, "nodes stand behind the file header")
    node.set(ref.offsetBytes, at: NodeField.ref)
    node.set(version.rawValue, at: NodeField.version)
    node.set(UInt32(node.count), at: NodeField.sizeBytes)
    node.set(kind.rawValue, at: NodeField.kind)
    node.set(UInt8(level), at: NodeField.level)
    node.set(UInt8(0), at: NodeField.reserved16)
    node.set(UInt8(0), at: NodeField.reserved16 + 1)
    node.set(UInt32(count), at: NodeField.count)
    node.set(UInt32(auxiliary), at: NodeField.auxiliary)
    node.set(UInt64(0), at: NodeField.reserved64)
    let sum = Checksum.of(node.readable.part(at: 8, count: node.count - 8))
    node.set(sum, at: NodeField.checksum)
    return NodeLink(ref: ref, checksum: sum)
  }
}
