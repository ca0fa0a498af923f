// XRayReader+Patches.swift [U]: reads leaves that are unchanged in the file, with edits next to the
// link.

/// An inner node's entry for a changed leaf.
struct XRayPatch {
  /// The checksum of the leaf in the file.
  let checksum: UInt64
  let edits: XRayBytes
}

extension XRayReader {
  private static let patchedLeafBytesMax = 16_384
  static let patchedLeafCountMax = 1024

  /// The patches of an inner node of a table, by child.
  static func patches(
    _ node: XRayNode, level: Int, children: Int
  ) throws(XRayFault) -> [Int: XRayPatch] {
    guard node.secondCount > 0 else { return [:] }
    guard level == 1, node.secondCount <= children else {
      throw XRayFault(
        "patches=\(node.secondCount) children=\(children) level=\(level)", at: node.refBytes)
    }
    let directory = innerBytes(children: children, separatorBytes: 8)
    var expected = directory + node.secondCount * 16
    var cursor = XRayCursor(node.bytes, at: directory)
    var starts: [(child: Int, start: Int, checksum: UInt64)] = []
    for _ in 0..<node.secondCount {
      let child = Int(try cursor.number(UInt32.self))
      let start = Int(try cursor.number(UInt32.self))
      guard child < children, starts.last.map({ $0.child < child && $0.start <= start }) ?? true
      else { throw XRayFault("patch of child=\(child) at \(start)", at: node.refBytes) }
      starts.append((child, start, try cursor.number(UInt64.self)))
    }
    var patches: [Int: XRayPatch] = [:]
    for (place, entry) in starts.enumerated() {
      guard entry.start == expected else {
        throw XRayFault("edits at \(entry.start), expected \(expected)", at: node.refBytes)
      }
      expected = place + 1 < starts.count ? starts[place + 1].start : node.bytes.count
      patches[entry.child] = XRayPatch(
        checksum: entry.checksum,
        edits: try node.bytes.part(at: entry.start, count: expected - entry.start))
    }
    return patches
  }

  /// Reads the rows of a leaf after its edits.
  mutating func readLeaf(
    _ link: XRayLink, _ patch: XRayPatch, _ table: XRayTable, _ range: XRayRange
  ) throws(XRayFault) {
    found.patchedLeafCount += 1
    let base = try node(
      XRayLink(refBytes: link.refBytes, checksum: patch.checksum), .leaf, level: 0,
      .table(table.id))
    guard base.bytes.count <= Self.patchedLeafBytesMax else {
      throw XRayFault("a leaf of \(base.bytes.count) bytes has a patch", at: link.refBytes)
    }
    var leaf = try Self.edited(base, patch.edits.array)
    if let later = leafEdits[link.refBytes] {
      guard XRayBytes.checksum(of: Array(leaf[8...])) == later.link.checksum else {
        throw XRayFault("the slot edits another leaf", at: link.refBytes)
      }
      leaf = try Self.edited(leaf, later.edits, at: link.refBytes)
    }
    let computed = XRayBytes.checksum(of: Array(leaf[8...]))
    guard computed == link.checksum else {
      throw XRayFault(
        "checksum \(computed) after the edits != \(link.checksum) of the link", at: link.refBytes)
    }
    var fault: XRayFault?
    unsafe leaf.withUnsafeBytes { source in
      // Safety: everything read from the rows is copied; no view outlives the closure.
      let node = unsafe XRayNode(
        bytes: XRayBytes(source), refBytes: base.refBytes, version: base.version,
        count: base.count, secondCount: base.secondCount)
      do throws(XRayFault) { try readRows(of: node, table, range) } catch { fault = error }
    }
    if let fault { throw fault }
  }

  /// The bytes of a node after its edits.
  static func edited(_ base: XRayNode, _ edits: [UInt8]) throws(XRayFault) -> [UInt8] {
    try edited(base.bytes.array, edits, at: base.refBytes)
  }

  private static func edited(
    _ base: [UInt8], _ edits: [UInt8], at ref: UInt64
  ) throws(XRayFault) -> [UInt8] {
    func number(_ place: Int) -> Int { Int(edits[place]) | Int(edits[place + 1]) << 8 }
    var node = base
    var place = 0
    var end = XRayNode.headerBytes
    while place < edits.count {
      guard edits.count - place > 4 else { throw XRayFault("an edit without bytes", at: ref) }
      let (start, count) = (number(place), number(place + 2))
      place += 4
      guard count > 0, count <= edits.count - place, start >= end, count <= node.count - start
      else { throw XRayFault("edit of \(start) + \(count) after \(end)", at: ref) }
      end = start + count
      node.replaceSubrange(start..<end, with: edits[place..<place + count])
      place += count
    }
    return node
  }
}
