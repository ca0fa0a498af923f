// PatchedLeaves.swift: the patched leaves of one version, in memory, since the file does not
// hold them as such. Invariants: the leaf of a link is made once and kept as long as its version's
// reader, so views of it are valid as long as those of any node; it was compared with the checksum
// of its link. A version has `Layout.patchedLeafCountMax` of them at most, each of
// `patchedLeafBytesMax` bytes.

import Synchronization

/// The patches of one version found so far, and the leaves made from them.
@safe final class PatchedLeaves: Sendable {
  private struct Leaf {
    let patch: LeafPatch
    var made: NodeInMemory?
  }

  private struct State {
    var leaves: [NodeLink: Leaf] = [:]
    /// Inner nodes whose patches are known.
    var inners: Set<NodeLink> = []
  }

  private let state = Mutex(State())

  /// Takes note of the patches of an inner node.
  func note(_ node: Node, _ link: NodeLink) throws(EngineError) {
    if state.withLock({ $0.inners.contains(link) }) { return }
    let inner = try InnerView(node)
    let patches = try PatchedChild.all(of: inner)
    try state.withLock { state throws(EngineError) in
      // Another thread may have been faster, and made leaves.
      guard !state.inners.contains(link) else { return }
      guard state.leaves.count + patches.count <= Layout.patchedLeafCountMax else {
        throw .corrupted(
          "more than \(Layout.patchedLeafCountMax) leaves have a patch", at: node.ref)
      }
      state.inners.insert(link)
      for patched in patches {
        state.leaves[inner.link(patched.child)] = Leaf(patch: patched.patch)
      }
    }
  }

  /// The patch of a leaf, or nil.
  func patch(_ link: NodeLink) -> LeafPatch? {
    state.withLock { $0.leaves.isEmpty ? nil : $0.leaves[link]?.patch }
  }

  /// The leaf of a link, if it exists already.
  func leaf(_ link: NodeLink) -> RawBytes? { state.withLock { $0.leaves[link]?.made?.bytes } }

  /// Makes the leaf of a link from the one in the file.
  /// - Returns: The leaf.
  /// - Throws: `EngineError` with code `.corrupted`.
  func make(
    _ link: NodeLink, _ patch: LeafPatch, from base: RawBytes
  ) throws(EngineError) -> RawBytes {
    let made = try NodeInMemory(
      link, patch, from: base, sizeBytesMax: Layout.patchedLeafBytesMax)
    return state.withLock { state in
      // Another thread may have made it in the meantime, and views of that one are in use.
      if let other = state.leaves[link]?.made { return other.bytes }
      state.leaves[link, default: Leaf(patch: patch)].made = made
      return made.bytes
    }
  }
}
