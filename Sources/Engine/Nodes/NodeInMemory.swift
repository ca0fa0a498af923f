// NodeInMemory.swift [U]: a node that the file does not hold as such: one of the file with edits.

/// A node with its edits made.
@safe final class NodeInMemory: @unchecked Sendable {
  // Safety: written by init only; freed in deinit, and views are used while the owner is there.
  private let memory: UnsafeMutableRawBufferPointer
  /// The checksum after the edits.
  let checksum: UInt64

  /// Makes the node that a link leads to, whose checksum is the one after the edits.
  /// - Throws: `EngineError` with code `.corrupted`.
  init(
    _ link: NodeLink, _ patch: LeafPatch, from base: RawBytes, sizeBytesMax: Int
  ) throws(EngineError) {
    guard base.count <= sizeBytesMax else {
      throw .corrupted("a node of \(base.count) bytes has a patch", at: link.ref)
    }
    checksum = link.checksum
    unsafe memory = .allocate(byteCount: base.count, alignment: 16)
    guard let start = unsafe memory.baseAddress else { preconditionFailure("a node has bytes") }
    let node = unsafe MutableBytes(base: start, count: base.count)
    node.copy(base, to: 0)
    node.set(link.checksum, at: NodeField.checksum)
    try patch.apply(to: node, at: link.ref)
    let computed = Checksum.of(node.readable.part(at: 8, count: base.count - 8))
    guard computed == link.checksum else {
      throw .corrupted(
        "computed_checksum=\(computed) of a patched node != checksum_in_parent=\(link.checksum)",
        at: link.ref)
    }
  }

  /// Makes the node that would stand in the place of one of the same size: with its header;
  /// `fill` writes what follows.
  init(like base: RawBytes, fill: (MutableBytes) -> Void) {
    unsafe memory = .allocate(byteCount: base.count, alignment: 16)
    guard let start = unsafe memory.baseAddress else { preconditionFailure("a node has bytes") }
    let node = unsafe MutableBytes(base: start, count: base.count)
    fill(node)
    node.copy(base.part(at: 0, count: Layout.nodeHeaderBytes), to: 0)
    checksum = Checksum.of(node.readable.part(at: 8, count: base.count - 8))
    node.set(checksum, at: NodeField.checksum)
  }

  deinit { unsafe memory.deallocate() }

  var bytes: RawBytes { unsafe RawBytes(UnsafeRawBufferPointer(memory)) }
}
