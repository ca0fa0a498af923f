// LeafPatch.swift: the changes to a leaf, stored next to its link in the parent instead of as a new
// leaf. While snapshots hold a leaf, its replacement would cost 8 KiB that cannot be reclaimed;
// most commits change about 30 bytes of it. So the inner node above stores the bytes that differ.
// The links of an inner node of level 1 with p patches (its header's auxiliary number) are followed
// by
//   offset_bytes  size  field
//              0  16 p  per patch, children ascending: child 4, place of its edits in the node 4,
//                       checksum of the leaf that they are of 8
//           16 p     …  edits, in the same order: where in the leaf 2, number of bytes 2, the bytes
// The link holds the ref of that leaf and the checksum after the edits. So it is the link of a node
// that exists nowhere in the file: a reader that ignores the patch cannot mistake the leaf for it,
// and two versions have the same link exactly when they have the same rows. Invariants: edits
// ascend, do not touch and leave the header unchanged; a leaf keeps its size.

/// The difference between a leaf in the file and its current content.
struct LeafPatch {
  /// The checksum of the leaf in the file.
  let baseChecksum: UInt64
  /// The edits, encoded.
  let edits: [UInt8]

  private static let runHeaderBytes = 4
  /// Fewer equal bytes than this between two edits are part of one; so are up to 6 of 8 bytes that
  /// are compared at once.
  private static let gapBytesMin = 5

  /// The edits that turn one leaf into another of the same size.
  /// - Returns: nil when there would be more than `sizeBytesMax` of them.
  /// - Complexity: O(bytes of the leaf).
  static func edits(
    from base: RawBytes, to changed: RawBytes, sizeBytesMax: Int
  ) -> [UInt8]? {
    precondition(base.count == changed.count, "a patch leaves the size as it is")
    precondition(base.count <= Layout.editedNodeBytesMax, "offsets have two bytes")
    // Between two runs are more equal bytes than a run's header has.
    let room = max(1, min(sizeBytesMax, 2 * base.count))
    return MutableBytes.withScratch(count: room) { (edits) -> [UInt8]? in
      var size = 0
      var offset = Layout.nodeHeaderBytes
      while let start = base.firstDifference(from: changed, at: offset) {
        offset = endOfEdit(base, changed, from: start)
        guard size + runHeaderBytes + offset - start <= sizeBytesMax else { return nil }
        edits.set(UInt16(start), at: size)
        edits.set(UInt16(offset - start), at: size + 2)
        size += runHeaderBytes
        edits.copy(changed.part(at: start, count: offset - start), to: size)
        size += offset - start
      }
      return edits.readable.part(at: 0, count: size).array
    }
  }

  /// The end of an edit: enough equal bytes follow it.
  private static func endOfEdit(
    _ base: RawBytes, _ changed: RawBytes, from start: Int
  ) -> Int {
    var end = start + 1
    var next = end
    while next <= base.count - 8 {
      let difference = base.uint64(next) ^ changed.uint64(next)
      guard difference != 0, next + difference.trailingZeroBitCount / 8 - end < gapBytesMin else {
        return end
      }
      end = next + 8 - difference.leadingZeroBitCount / 8
      next += 8
    }
    while next < base.count, next - end < gapBytesMin {
      if base.uint8(next) != changed.uint8(next) { end = next + 1 }
      next += 1
    }
    return end
  }

  /// Calls `body` with each of a writer's own edits: where it begins, and its bytes.
  static func forEachEdit(in edits: RawBytes, _ body: (Int, RawBytes) -> Void) {
    var offset = 0
    while offset < edits.count {
      let count = Int(edits.uint16(offset + 2))
      body(Int(edits.uint16(offset)), edits.part(at: offset + runHeaderBytes, count: count))
      offset += runHeaderBytes + count
    }
  }

  /// Makes the edits in a copy of the leaf.
  func apply(to leaf: MutableBytes, at ref: Ref) throws(EngineError) {
    try RawBytes.over(edits) { (edits) throws(EngineError) in
      var offset = 0
      var last = Layout.nodeHeaderBytes
      while offset < edits.count {
        guard edits.count - offset > Self.runHeaderBytes else {
          throw .corrupted("an edit of a leaf has no bytes", at: ref)
        }
        let start = Int(edits.uint16(offset))
        let count = Int(edits.uint16(offset + 2))
        offset += Self.runHeaderBytes
        guard count > 0, start >= last, count <= edits.count - offset,
          count <= leaf.count - start
        else {
          throw .corrupted(
            "edit of bytes \(start) + \(count) behind \(last) of leaf_bytes=\(leaf.count)",
            at: ref)
        }
        leaf.copy(edits.part(at: offset, count: count), to: start)
        offset += count
        last = start + count
      }
    }
  }
}

/// A child of an inner node with its patch.
struct PatchedChild {
  /// The number of the child.
  let child: Int
  let patch: LeafPatch

  /// Size of a patch without its edits.
  static let directoryBytes = 16

  /// Size of the patches in their node.
  static func sizeBytes(_ patches: [PatchedChild]) -> Int {
    patches.reduce(0) { $0 + directoryBytes + $1.patch.edits.count }
  }

  /// Writes patches at the end of an inner node.
  static func encode(_ patches: [PatchedChild], into node: MutableBytes) {
    var entry = node.count - sizeBytes(patches)
    var edits = entry + directoryBytes * patches.count
    for patched in patches {
      node.set(UInt32(patched.child), at: entry)
      node.set(UInt32(edits), at: entry + 4)
      node.set(patched.patch.baseChecksum, at: entry + 8)
      node.copy(patched.patch.edits, to: edits)
      entry += directoryBytes
      edits += patched.patch.edits.count
    }
    precondition(edits == node.count, "the size was that of the patches")
  }

  /// The patches of an inner node; the view has already checked that a node without patches ends
  /// after its children.
  static func all(of inner: InnerView) throws(EngineError) -> [PatchedChild] {
    let node = inner.node
    let count = node.header.auxiliary
    let start = InnerView.sizeBytes(childCount: inner.childCount)
    guard node.header.level == 1 || count == 0, count <= inner.childCount,
      count * directoryBytes <= node.bytes.count - start
    else {
      throw .corrupted(
        "patches=\(count) of \(inner.childCount) children at level \(node.header.level)",
        at: node.ref)
    }
    var patches: [PatchedChild] = []
    patches.reserveCapacity(count)
    var edits = start + count * directoryBytes
    for index in 0..<count {
      let entry = start + index * directoryBytes
      let child = Int(node.bytes.uint32(entry))
      let isLast = index == count - 1
      let end = isLast ? node.bytes.count : Int(node.bytes.uint32(entry + directoryBytes + 4))
      guard child < inner.childCount, child > patches.last?.child ?? -1,
        Int(node.bytes.uint32(entry + 4)) == edits, edits <= end, end <= node.bytes.count
      else {
        throw .corrupted("patch \(index) of child \(child) at \(edits)..<\(end)", at: node.ref)
      }
      let patch = LeafPatch(
        baseChecksum: node.bytes.uint64(entry + 8),
        edits: node.bytes.part(at: edits, count: end - edits).array)
      patches.append(PatchedChild(child: child, patch: patch))
      edits = end
    }
    return patches
  }
}
