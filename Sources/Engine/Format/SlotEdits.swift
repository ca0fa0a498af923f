// SlotEdits.swift: the edits that a root slot carries. A commit that changes few bytes of few nodes
// writes no node: its slot leads to the group of an earlier version, the base, and stores the bytes
// by which the nodes of the new version differ from those of the base. So such a commit is one
// write of one sector and one sync.
//   offset_bytes  size  field        (after the record of a slot's copy)
//              0     2  size of all this
//              2     2  number of edited nodes
//              4     4  form: 1
//              8     …  per node, sectors ascending: how much higher its sector is than the one
//                       before, times 2, plus 1 if its checksum follows; its checksum in the base
//                       8, only for a leaf with a patch, since the file has that of any other node;
//                       bytes of its edits; these, each: where it begins, from the end of the one
//                       before or of the node's header; number of bytes; the bytes
// Numbers without a size are varints. Form 0, which is read only, has instead, per node: its ref,
// whose lower 12 bits have the number of bytes of its edits, 8; its checksum in the base 8; the
// edits, as those of a patch (LeafPatch.swift).
// Edits are always those from the base, not from the version before. Invariants: an edited node
// keeps its place, its header except for the checksum, and its size; its parent is edited, too,
// since a link has the checksum of the node as it is after its edits. So a node in the file that is
// not the one that the edits were made of is noticed when they are made.

/// The edits of one node.
struct NodeEdits: Equatable, Sendable {
  /// The node as the base version has it.
  let link: NodeLink
  /// At least one edit, encoded as those of a patch.
  let edits: [UInt8]
  /// Whether the edits are of a leaf after its patch, so that the file has another checksum.
  let isPatched: Bool

  init(link: NodeLink, edits: [UInt8], isPatched: Bool = false) {
    self.link = link
    self.edits = edits
    self.isPatched = isPatched
  }
}

/// The edits that a root slot carries.
enum SlotEdits {
  static let fixedBytes = 8
  /// The form that is written.
  static let form: UInt32 = 1

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
  /// - Parameters:
  ///   - bytes: The edits.
  ///   - top: The group's place, for errors.
  ///   - checksumInFile: The checksum in the header of the node at a place.
  /// - Returns: The edits, refs ascending.
  /// - Throws: `EngineError` with code `.corrupted`; bytes with a right checksum need not be ours.
  static func decode(
    _ bytes: [UInt8], at top: Ref, checksumInFile: (Ref) throws(EngineError) -> UInt64
  ) throws(EngineError) -> [NodeEdits] {
    try RawBytes.over(bytes) { (bytes) throws(EngineError) in
      var cursor = ByteCursor(bytes, ref: top)
      _ = try cursor.uint16()
      let count = try cursor.uint16()
      let form = try cursor.uint32()
      guard form <= Self.form else {
        throw .corrupted("edits of a slot in form \(form) > \(Self.form)", at: top)
      }
      var edits: [NodeEdits] = []
      for _ in 0..<count {
        let last = edits.last?.link.ref ?? .none
        let node =
          form == 0
          ? try oldNode(&cursor) : try node(&cursor, behind: last.sector, checksumInFile)
        guard !node.edits.isEmpty, node.link.ref.offsetBytes > last.offsetBytes else {
          throw .corrupted("edit_bytes=\(node.edits.count) of a node in a slot", at: node.link.ref)
        }
        edits.append(node)
      }
      guard cursor.isAtEnd else {
        throw .corrupted("bytes after the last edit of a slot", at: top)
      }
      return edits
    }
  }

  /// Reads the next node's in form 0.
  private static func oldNode(_ cursor: inout ByteCursor) throws(EngineError) -> NodeEdits {
    let word = try cursor.uint64()
    let count = word & UInt64(Layout.sectorSizeBytes - 1)
    let link = NodeLink(ref: Ref(offsetBytes: word - count), checksum: try cursor.uint64())
    return NodeEdits(link: link, edits: try cursor.part(Int(count)).array)
  }

  private static func node(
    _ cursor: inout ByteCursor, behind sector: UInt64,
    _ checksumInFile: (Ref) throws(EngineError) -> UInt64
  ) throws(EngineError) -> NodeEdits {
    let step = try cursor.varint()
    let next = sector + step >> 1
    guard next < Layout.fileSizeBytesMax / UInt64(Layout.sectorSizeBytes) else {
      throw .corrupted("a slot edits a node in sector \(next)", at: cursor.ref)
    }
    let (ref, isPatched) = (Ref(sector: next), step & 1 == 1)
    let checksum = isPatched ? try cursor.uint64() : try checksumInFile(ref)
    let bytes = try cursor.part(Int(clamping: try cursor.varint()))
    return NodeEdits(
      link: NodeLink(ref: ref, checksum: checksum), edits: try edits(bytes, at: ref),
      isPatched: isPatched)
  }

  /// A node's edits as those of a patch.
  private static func edits(_ bytes: RawBytes, at ref: Ref) throws(EngineError) -> [UInt8] {
    var cursor = ByteCursor(bytes, ref: ref)
    var edits: [UInt8] = []
    edits.reserveCapacity(bytes.count * 2)
    var end = Layout.nodeHeaderBytes
    while !cursor.isAtEnd {
      let (gap, count) = (Int(clamping: try cursor.varint()), Int(clamping: try cursor.varint()))
      guard gap <= Layout.editedNodeBytesMax - end, count > 0,
        count <= Layout.editedNodeBytesMax - end - gap
      else {
        throw .corrupted("edit of \(count) bytes, \(gap) behind \(end), in a slot", at: ref)
      }
      edits.appendLittleEndian(UInt16(end + gap))
      edits.appendLittleEndian(UInt16(count))
      try cursor.part(count).append(to: &edits)
      end += gap + count
    }
    return edits
  }
}
