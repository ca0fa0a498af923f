// EditedNodes.swift: the nodes that a version's root slot edits (SlotEdits.swift), made in memory
// when they are first read. Invariants: a node is made once and kept as long as a version has it,
// so views of it are valid as long as those of any node of their reader; it was compared with the
// checksum of the link that led to it. A node that two versions edit in the same way is shared by
// them.

import Synchronization

/// One node with the edits of a slot.
final class EditedNode: Sendable {
  let edits: NodeEdits
  /// The edits in a slot, behind the node's sector.
  let encoded: [UInt8]
  private let made: Mutex<NodeInMemory?>

  var sector: UInt64 { edits.link.ref.sector }

  /// Whether the node is there as the edits make it: a link led to it, or its commit made it.
  var isMade: Bool { made.withLock { $0 != nil } }

  /// - Parameters:
  ///   - edits: The edits.
  ///   - made: The node after them, if it is known; else it is made when it is read.
  init(_ edits: NodeEdits, made: NodeInMemory? = nil) {
    self.edits = edits
    encoded = edits.encoded
    self.made = Mutex(made)
  }

  /// The node after its edits.
  /// - Parameters:
  ///   - link: Leads to it; its checksum is the one after the edits.
  ///   - base: The node as the base version has it.
  ///   - again: Whether it is made and compared even if it was before.
  /// - Returns: Its bytes, which exist as long as this object.
  /// - Throws: `EngineError` with code `.corrupted`.
  func bytes(_ link: NodeLink, from base: RawBytes, again: Bool) throws(EngineError) -> RawBytes {
    let known = made.withLock { $0 }
    if let known, !again, known.checksum == link.checksum { return known.bytes }
    let patch = LeafPatch(baseChecksum: edits.link.checksum, edits: edits.edits)
    let node = try NodeInMemory(
      link, patch, from: base, sizeBytesMax: Layout.editedNodeBytesMax)
    return made.withLock { made in
      // Another thread may have made it in the meantime, and views of that one are in use.
      if let made { return made.bytes }
      made = node
      return node.bytes
    }
  }
}

/// The edited nodes of a version.
struct EditedNodes: Sendable {
  /// Refs ascending.
  private(set) var all: [EditedNode] = []
  /// Their sectors, one after the other.
  private var sectors: [UInt64] = []

  var isEmpty: Bool { all.isEmpty }

  /// The node that starts in a sector, when it is edited.
  /// - Complexity: O(log nodes).
  func node(in sector: UInt64) -> EditedNode? {
    let index = index(of: sector)
    return index < sectors.count && sectors[index] == sector ? all[index] : nil
  }

  /// The node of a link when it is edited and the link is that of its edited form.
  @inline(never)
  func node(_ link: NodeLink) -> EditedNode? {
    guard let node = node(in: link.ref.sector), node.edits.link.checksum != link.checksum else {
      return nil
    }
    return node
  }

  /// Where a node is, or would be.
  private func index(of sector: UInt64) -> Int {
    var (lower, upper) = (0, sectors.count)
    while lower < upper {
      let middle = (lower + upper) / 2
      if sectors[middle] < sector { lower = middle + 1 } else { upper = middle }
    }
    return lower
  }

  /// No edits.
  init() {}

  /// The nodes of a slot's edits, refs ascending; nodes that a version read before has as well are
  /// taken from it.
  init(_ edits: [NodeEdits], sharing others: EditedNodes? = nil) {
    for edits in edits { set(edits, sharing: others) }
  }

  /// Sets the edits of a node; `made` is the node after them, if it is known.
  mutating func set(_ edits: NodeEdits, made: NodeInMemory? = nil, sharing others: Self? = nil) {
    let sector = edits.link.ref.sector
    let known = (others ?? self).node(in: sector)
    let node =
      if let known, known.edits == edits { known } else { EditedNode(edits, made: made) }
    let index = index(of: sector)
    if index < sectors.count, sectors[index] == sector {
      all[index] = node
    } else {
      all.insert(node, at: index)
      sectors.insert(sector, at: index)
    }
  }

  /// The node is as in the base.
  mutating func remove(_ ref: Ref) {
    let index = index(of: ref.sector)
    guard index < sectors.count, sectors[index] == ref.sector else { return }
    all.remove(at: index)
    sectors.remove(at: index)
  }
}

// MARK: bytes

extension NodeEdits {
  /// What a slot has behind the node's sector.
  /// - Complexity: O(bytes).
  fileprivate var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(edits.count)
    RawBytes.over(edits) { edits in
      var end = Layout.nodeHeaderBytes
      LeafPatch.forEachEdit(in: edits) { start, edit in
        bytes.appendVarint(UInt64(start - end))
        bytes.appendVarint(UInt64(edit.count))
        edit.append(to: &bytes)
        end = start + edit.count
      }
    }
    var all: [UInt8] = []
    all.reserveCapacity(bytes.count + 10)
    if isPatched { all.appendLittleEndian(link.checksum) }
    all.appendVarint(UInt64(bytes.count))
    all += bytes
    return all
  }
}

extension EditedNodes {
  /// The number before a node's edits in a slot.
  private static func step(_ node: EditedNode, behind sector: UInt64) -> UInt64 {
    (node.sector - sector) << 1 | (node.edits.isPatched ? 1 : 0)
  }

  /// Bytes that the edits take in a slot.
  var slotBytes: Int {
    var (size, sector) = (SlotEdits.fixedBytes, UInt64(0))
    for node in all {
      size += (max(1, 64 - Self.step(node, behind: sector).leadingZeroBitCount) + 6) / 7
      size += node.encoded.count
      sector = node.sector
    }
    return size
  }

  /// The bytes for a slot (SlotEdits.swift), or nil when it has no room for them.
  func encoded() -> [UInt8]? {
    let size = slotBytes
    guard size <= Layout.slotEditsBytesMax else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size)
    bytes.appendLittleEndian(UInt16(size))
    bytes.appendLittleEndian(UInt16(all.count))
    bytes.appendLittleEndian(SlotEdits.form)
    var sector: UInt64 = 0
    for node in all {
      bytes.appendVarint(Self.step(node, behind: sector))
      bytes += node.encoded
      sector = node.sector
    }
    return bytes
  }
}
