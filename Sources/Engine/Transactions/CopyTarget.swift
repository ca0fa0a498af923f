// CopyTarget.swift: the file that a copy of one version is written to: nodes one after the other
// from the first sector on, then the header. It uses one buffer, whatever the size of the file.
// Invariants: every sector up to the logical end belongs to a node, so the file needs no free list;
// the logical end is the end of the file; the header is written last. Such a file is never mistaken
// for an interrupted creation: that has 64 KiB with zeros in it, or only zeros.

/// Takes the nodes of a copy.
struct CopyTarget {
  let file: NewFile
  let version: Version
  private let cipher: FileCipher?
  private let slab: Slab
  private var nextSector = Layout.firstNodeSector
  private var bufferedSectors: UInt64 = 0

  /// Size of one write.
  private static let bufferSectors: UInt64 = (1 << 20) / UInt64(Layout.sectorSizeBytes)

  /// The cipher, whose session has begun, seals the nodes; nil for an unencrypted file.
  init(_ file: NewFile, version: Version, cipher: FileCipher?) {
    self.file = file
    self.version = version
    self.cipher = cipher
    slab = Slab(cipher: cipher)
  }

  /// How nodes share their sectors with the seal.
  var room: NodeRoom { slab.room }

  /// Adds a node; `fill` writes everything after its header.
  mutating func add(
    kind: NodeKind, level: Int = 0, sizeBytes: Int, count: Int, auxiliary: Int = 0,
    fill: (MutableBytes) -> Void
  ) throws(EngineError) -> NodeLink {
    let sectors = room.sectors(sizeBytes)
    let end = (nextSector + sectors) * UInt64(Layout.sectorSizeBytes)
    guard end <= Layout.fileSizeBytesMax else {
      throw EngineError(code: .limit, message: "file_bytes=\(end) > \(Layout.fileSizeBytesMax)")
    }
    let ref = Ref(sector: nextSector)
    let node = slab.makeNode(at: ref, sizeBytes: sizeBytes)
    fill(node)
    let plain = NodeHeader.seal(
      node, ref: ref, version: version, kind: kind, level: level, count: count,
      auxiliary: auxiliary)
    let link = slab.encrypt(plain, version: version)
    nextSector += sectors
    bufferedSectors += sectors
    if bufferedSectors >= Self.bufferSectors { try flush() }
    return link
  }

  private mutating func flush() throws(EngineError) {
    try file.write(slab)
    slab.reuse()
    bufferedSectors = 0
  }

  /// Adds a copy of a node with new links, given with their offsets in the node.
  mutating func add(
    _ node: Node, with links: [(offsetBytes: Int, link: NodeLink)]
  ) throws(EngineError) -> NodeLink {
    try add(
      kind: node.header.kind, level: node.header.level, sizeBytes: node.bytes.count,
      count: node.header.count, auxiliary: node.header.auxiliary
    ) { copy in
      copy.copy(node.bytes, to: 0)
      for (offset, link) in links {
        copy.set(link.ref.offsetBytes, at: offset)
        copy.set(link.checksum, at: offset + 8)
      }
    }
  }

  /// Writes the rest of the buffer, and the header that leads to the top node.
  ///
  /// Durability: none before the file's sync.
  mutating func finish(_ top: NodeLink) throws(EngineError) {
    try flush()
    let slot = RootSlot(
      version: version, top: top,
      logicalSizeBytes: nextSector * UInt64(Layout.sectorSizeBytes))
    // The other slot is written as zeros and not left as a hole: a commit must not need space to
    // write it.
    var header = FileHeader.encodedSector(cipher)
    let empty = [UInt8](repeating: 0, count: Layout.sectorSizeBytes)
    for index in 0...1 { header += index == slot.index ? slot.encoded(sealing: cipher) : empty }
    try file.write(header, at: 0)
  }
}
