// NodeReader.swift [U]: from a link to a node's bytes, checked on first touch.
// Invariant: an entry of `verified` holds a part of the checksum of the link whose node, at that
// sector, passed its checksum and matched that link. The sector's next node, whoever writes it in
// whatever process, has a link with another checksum. So each node is hashed once per mapping, and
// a warm lookup pays for one comparison.

import Synchronization

/// Reads nodes of one mapping.
@safe final class NodeReader: @unchecked Sendable {
  let mapping: MappedFile
  let bytes: RawBytes
  private let identities: SectorIdentities?
  // Safety: allocated for one entry per sector of the mapping, freed in deinit; only atomic access.
  // Zeros are a valid Atomic<UInt32>, and an entry of a link is never 0.
  private let verified: UnsafeMutablePointer<Atomic<UInt32>>
  private let sectorCount: Int

  init(_ mapping: MappedFile) {
    self.mapping = mapping
    bytes = mapping.bytes
    identities = mapping.identities
    sectorCount = bytes.count / Layout.sectorSizeBytes + 1
    unsafe verified = Syscalls.zeroed(count: sectorCount)
  }

  deinit {
    unsafe Syscalls.free(verified)
  }

  /// What stands in `verified` for a link.
  @inline(__always)
  private static func entry(_ link: NodeLink) -> UInt32 {
    UInt32(truncatingIfNeeded: link.checksum >> 32) | 1
  }

  @inline(__always)
  private func isVerified(_ link: NodeLink) -> Bool {
    let sector = Int(truncatingIfNeeded: link.ref.sector)
    guard sector < sectorCount else { return false }
    return unsafe verified[sector].load(ordering: .acquiring) == Self.entry(link)
  }

  /// The node that a link leads to, of the kind and level that the place of the link asks for.
  /// - Throws: `EngineError` with code `.corrupted`.
  @inline(__always)
  func node(
    _ link: NodeLink, kind: NodeKind, level: Int = 0, newest: Version
  ) throws(EngineError) -> Node {
    try node(link, kind: kind, level: level, newest: newest, again: false)
  }

  @inline(__always)
  private func node(
    _ link: NodeLink, kind: NodeKind, level: Int, newest: Version, again: Bool
  ) throws(EngineError) -> Node {
    let header = try NodeHeader(at: link.ref, in: bytes)
    let node = bytes.part(at: Int(link.ref.offsetBytes), count: header.sizeBytes)
    if again || !isVerified(link) { try verify(node, link) }
    guard header.kind == kind, header.level == level else {
      throw .corrupted(
        "expected \(kind) of level \(level), found \(header.kind) of level \(header.level)",
        at: link.ref)
    }
    guard header.version <= newest else {
      throw .corrupted("node version=\(header.version) > \(newest)", at: link.ref)
    }
    return Node(ref: link.ref, header: header, bytes: node)
  }

  /// The same, with the checksum compared again whatever was seen before.
  func verifiedAgain(
    _ link: NodeLink, kind: NodeKind, level: Int = 0, newest: Version
  ) throws(EngineError) -> Node {
    try node(link, kind: kind, level: level, newest: newest, again: true)
  }

  /// The node's place in the lab's cache; nil without one, or when its content is unknown there.
  @inline(__always)
  func cached(_ node: Node) -> (cache: NodeCache, key: NodeCache.Key)? {
    guard let identities,
      let key = identities.key(sector: node.ref.sector, sizeBytes: node.bytes.count)
    else { return nil }
    return (identities.cache, key)
  }

  private func checksum(of node: RawBytes, at ref: Ref) -> UInt64 {
    if let identities, let key = identities.key(sector: ref.sector, sizeBytes: node.count) {
      return identities.cache.checksum(key) {
        Checksum.of(node.part(at: 8, count: node.count - 8))
      }
    }
    return Checksum.of(node.part(at: 8, count: node.count - 8))
  }

  @inline(never)
  private func verify(_ node: RawBytes, _ link: NodeLink) throws(EngineError) {
    let stored = node.uint64(NodeField.checksum)
    let computed = checksum(of: node, at: link.ref)
    guard stored == computed else {
      throw .corrupted(
        "stored_checksum=\(stored) != computed_checksum=\(computed)", at: link.ref)
    }
    guard stored == link.checksum else {
      throw .corrupted(
        "node_checksum=\(stored) != checksum_in_parent=\(link.checksum): another version's node",
        at: link.ref)
    }
    unsafe verified[Int(link.ref.sector)].store(Self.entry(link), ordering: .releasing)
  }
}

/// A node read in place; valid while its reader lives.
struct Node {
  let ref: Ref
  let header: NodeHeader
  let bytes: RawBytes

  /// The sectors the node occupies.
  var span: Span { Span(start: ref.sector, count: header.sectorCount) }
}
