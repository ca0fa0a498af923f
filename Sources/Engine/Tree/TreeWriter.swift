// TreeWriter.swift: what the trees of one write transaction share: where to read committed nodes,
// which of them the new version no longer needs, and strings that have no place in the file yet.

/// The shared part of a transaction's trees.
final class TreeWriter {
  let reader: NodeReader
  let base: Version
  private(set) var released: [PendingSpan] = []
  /// Long strings of this transaction; nil when deleted again before commit.
  private var strings: [[UInt8]?] = []
  /// Marks the ref of a string that is still in `strings`.
  private static let unplaced: UInt64 = 1 << 63

  init(reader: NodeReader, base: Version) {
    self.reader = reader
    self.base = base
  }

  /// The new version does not reach this committed node.
  func release(_ node: Node) {
    released.append(
      PendingSpan(span: node.span, born: node.header.version, released: base.next))
  }

  /// Keeps a long string until commit; returns what the leaf holds for it.
  func addString(_ bytes: [UInt8]) -> [UInt8] {
    strings.append(bytes)
    return Self.entry(
      NodeLink(
        ref: Ref(offsetBytes: Self.unplaced | UInt64(strings.count - 1)), checksum: 0),
      sizeBytes: bytes.count)
  }

  private static func entry(_ link: NodeLink, sizeBytes: Int) -> [UInt8] {
    var entry: [UInt8] = []
    entry.appendLittleEndian(link.ref.offsetBytes)
    entry.appendLittleEndian(link.checksum)
    entry.appendLittleEndian(UInt64(sizeBytes))
    return entry
  }

  /// The bytes of a long string, from this transaction or from the file.
  func string(_ entry: ArraySlice<UInt8>) throws(EngineError) -> [UInt8] {
    try RawBytes.over(Array(entry)) { view throws(EngineError) -> [UInt8] in
      let (link, _) = NodeReader.externalLink(view)
      if let index = Self.index(of: link), let bytes = strings[index] { return bytes }
      let node = try reader.stringNode(view, newest: base).bytes
      return node.part(
        at: Layout.nodeHeaderBytes, count: node.count - Layout.nodeHeaderBytes
      ).array
    }
  }

  /// The row that held this long string is gone.
  func dropString(_ entry: ArraySlice<UInt8>) throws(EngineError) {
    try RawBytes.over(Array(entry)) { view throws(EngineError) in
      let (link, _) = NodeReader.externalLink(view)
      if let index = Self.index(of: link) {
        strings[index] = nil
      } else {
        release(try reader.stringNode(view, newest: base))
      }
    }
  }

  /// Gives the long strings of a leaf their nodes, and the leaf their links.
  func placeStrings(of leaf: MutableLeaf, into sink: inout NodeSink) {
    for column in leaf.columns.indices where !leaf.columns[column].externals.isEmpty {
      for row in 0..<leaf.count where leaf.columns[column].externals[row] {
        let entry = Array(leaf.columns[column].bytes[leaf.columns[column].range(row)])
        let link = RawBytes.over(entry) { NodeReader.externalLink($0).link }
        guard let index = Self.index(of: link), let bytes = strings[index] else { continue }
        let placed = sink.add(
          kind: .string, sizeBytes: Layout.nodeHeaderBytes + bytes.count, count: bytes.count
        ) { $0.copy(bytes, to: Layout.nodeHeaderBytes) }
        leaf.columns[column].replace(
          Self.entry(placed, sizeBytes: bytes.count), isExternal: true, at: row)
      }
    }
  }

  private static func index(of link: NodeLink) -> Int? {
    guard link.ref.offsetBytes & unplaced != 0 else { return nil }
    return Int(link.ref.offsetBytes & ~unplaced)
  }
}

/// Takes new nodes: gives each a place that no live version uses, and its bytes to the slab.
struct NodeSink {
  let slab: Slab
  let version: Version
  let reader: NodeReader
  var space: SpaceMap

  /// Adds a node; `fill` writes everything behind its header.
  mutating func add(
    kind: NodeKind, level: Int = 0, sizeBytes: Int, count: Int, auxiliary: Int = 0,
    fill: (MutableBytes) -> Void
  ) -> NodeLink {
    let ref = space.allocate(sectors: slab.room.sectors(sizeBytes))
    return add(
      at: ref, kind: kind, level: level, sizeBytes: sizeBytes, count: count, auxiliary: auxiliary,
      fill: fill)
  }

  /// Adds a node at a place that was taken before.
  func add(
    at ref: Ref, kind: NodeKind, level: Int = 0, sizeBytes: Int, count: Int, auxiliary: Int = 0,
    fill: (MutableBytes) -> Void
  ) -> NodeLink {
    reader.forget(ref, sectors: slab.room.sectors(sizeBytes))
    let node = slab.makeNode(at: ref, sizeBytes: sizeBytes)
    fill(node)
    let link = NodeHeader.seal(
      node, ref: ref, version: version, kind: kind, level: level, count: count,
      auxiliary: auxiliary)
    return slab.encrypt(link, version: version)
  }
}
