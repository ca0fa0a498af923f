// EditedNodes.swift: the nodes that a version's root slot edits (SlotEdits.swift), made in memory
// when they are first read. Invariants: a node is made once and kept as long as a version has it,
// so views of it are valid as long as those of any node of their reader; it was compared with the
// checksum of the link that led to it. A node that two versions edit in the same way is shared by
// them.

import Synchronization

/// One node with the edits of a slot.
final class EditedNode: Sendable {
  let edits: NodeEdits
  private let made: Mutex<NodeInMemory?>

  /// - Parameters:
  ///   - edits: The edits.
  ///   - made: The node after them, if it is known; else it is made when it is read.
  init(_ edits: NodeEdits, made: NodeInMemory? = nil) {
    self.edits = edits
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

/// The edited nodes of a version, by their sectors.
struct EditedNodes: Sendable {
  private(set) var nodes: [UInt64: EditedNode] = [:]

  /// The node of a link when it is edited and the link is that of its edited form.
  @inline(never)
  func node(_ link: NodeLink) -> EditedNode? {
    guard let node = nodes[link.ref.sector], node.edits.link.checksum != link.checksum else {
      return nil
    }
    return node
  }

  /// All edits, refs ascending.
  var all: [NodeEdits] {
    nodes.values.map(\.edits).sorted { $0.link.ref.offsetBytes < $1.link.ref.offsetBytes }
  }

  /// Bytes that the edits take in a slot.
  var slotBytes: Int {
    nodes.values.reduce(SlotEdits.fixedBytes) { $0 + SlotEdits.sizeBytes(of: $1.edits) }
  }

  /// No edits.
  init() {}

  /// The nodes of a slot's edits; nodes that a version read before has as well are taken from it.
  init(_ edits: [NodeEdits], sharing others: EditedNodes?) {
    for edits in edits { set(edits, sharing: others) }
  }

  /// Sets the edits of a node; `made` is the node after them, if it is known.
  mutating func set(_ edits: NodeEdits, made: NodeInMemory? = nil, sharing others: Self? = nil) {
    let sector = edits.link.ref.sector
    if let known = (others ?? self).nodes[sector], known.edits == edits {
      nodes[sector] = known
    } else {
      nodes[sector] = EditedNode(edits, made: made)
    }
  }

  /// The node is as in the base.
  mutating func remove(_ ref: Ref) { nodes[ref.sector] = nil }
}
