// SlotEdits.swift: the edits that a root slot carries. A commit that changes few bytes of few nodes
// writes no node: its slot leads to the group of an earlier version, the base, and stores the bytes
// by which the nodes of the new version differ from those of the base. So such a commit is one
// write of one sector and one sync.
//   offset_bytes  size  field        (after the record of a slot's copy)
//              0     2  size of all this
//              2     2  number of edited nodes
//              4     4  0
//              8     …  per node, refs ascending: its ref, whose lower 12 bits have the number of
//                       bytes of its edits, 8; its checksum in the base 8; the edits, as those of a
//                       patch (LeafPatch.swift)
// Edits are always those from the base, not from the version before. Invariants: an edited node
// keeps its place, its header except for the checksum, and its size; its parent is edited, too,
// since a link has the checksum of the node as it is after its edits.

/// The edits of one node.
struct NodeEdits: Equatable, Sendable {
  /// The node as the base version has it.
  let link: NodeLink
  /// At least one edit, encoded.
  let edits: [UInt8]
}

/// The edits that a root slot carries.
enum SlotEdits {
  static let fixedBytes = 8
  private static let entryBytes = 16

  /// Bytes of the edits, encoded.
  static func sizeBytes(_ edits: [NodeEdits]) -> Int {
    edits.reduce(fixedBytes) { $0 + sizeBytes(of: $1) }
  }

  /// Those of one node.
  static func sizeBytes(of node: NodeEdits) -> Int { entryBytes + node.edits.count }

  /// The bytes, or nil when a slot has no room for them; refs ascend.
  static func encoded(_ edits: [NodeEdits]) -> [UInt8]? {
    let size = sizeBytes(edits)
    guard size <= Layout.slotEditsBytesMax else { return nil }
    return [UInt8](zeros: size) { bytes in
      bytes.set(UInt16(size), at: 0)
      bytes.set(UInt16(edits.count), at: 2)
      var offset = fixedBytes
      for node in edits {
        bytes.set(node.link.ref.offsetBytes | UInt64(node.edits.count), at: offset)
        bytes.set(node.link.checksum, at: offset + 8)
        bytes.copy(node.edits, to: offset + entryBytes)
        offset += sizeBytes(of: node)
      }
    }
  }

  /// The bytes at the beginning of a view, when their checksum is this; never called for 0.
  static func stored(in bytes: RawBytes, checksum: UInt64) -> [UInt8]? {
    guard bytes.count >= fixedBytes else { return nil }
    let size = Int(bytes.uint16(0))
    guard size >= fixedBytes, size <= bytes.count else { return nil }
    // Copied first: another process may write the slot of a later version here at any moment.
    let stored = bytes.part(at: 0, count: size).array
    return RawBytes.over(stored) { self.checksum(of: $0) } == checksum ? stored : nil
  }

  /// The checksum of the bytes; 0 stands for a slot without edits.
  static func checksum(of bytes: RawBytes) -> UInt64 { max(1, Checksum.of(bytes)) }

  /// Reads the bytes.
  /// - Throws: `EngineError` with code `.corrupted`; bytes with a right checksum need not be ours.
  static func decode(_ bytes: [UInt8], at top: Ref) throws(EngineError) -> [NodeEdits] {
    try RawBytes.over(bytes) { (bytes) throws(EngineError) in
      guard bytes.count >= fixedBytes, bytes.uint32(4) == 0 else {
        throw .corrupted("slot_edits_bytes=\(bytes.count)", at: top)
      }
      var edits: [NodeEdits] = []
      var offset = fixedBytes
      for _ in 0..<bytes.uint16(2) {
        guard bytes.count - offset > entryBytes else {
          throw .corrupted("the edits of a slot end within a node's", at: top)
        }
        let word = bytes.uint64(offset)
        let count = Int(word & UInt64(Layout.sectorSizeBytes - 1))
        let link = NodeLink(
          ref: Ref(offsetBytes: word - UInt64(count)), checksum: bytes.uint64(offset + 8))
        offset += entryBytes
        guard count > 0, count <= bytes.count - offset,
          link.ref.offsetBytes > edits.last?.link.ref.offsetBytes ?? 0
        else { throw .corrupted("edit_bytes=\(count) of a node in a slot", at: link.ref) }
        edits.append(
          NodeEdits(link: link, edits: bytes.part(at: offset, count: count).array))
        offset += count
      }
      guard offset == bytes.count else {
        throw .corrupted("bytes after the last edit of a slot", at: top)
      }
      return edits
    }
  }
}
