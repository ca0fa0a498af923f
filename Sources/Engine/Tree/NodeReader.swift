// NodeReader.swift [U]: from a link to a node's bytes, checked on first touch.
// Invariant: a bit of `verified` is set only after the node that starts at that sector passed its
// checksum and matched a link; whoever gives the sector to a new node clears the bit first. So each
// node is hashed once per mapping, and a warm lookup pays for one bit.

import Synchronization

/// Reads nodes of one mapping, up to the logical end of a version.
@safe final class NodeReader: @unchecked Sendable {
  let mapping: MappedFile
  let bytes: RawBytes
  private let identities: SectorIdentities?
  private let bits: VerifiedBits
  // Safety: these are the words of `bits`, which lives as long; only atomic access.
  private let verified: UnsafeMutablePointer<Atomic<UInt64>>
  private let wordCount: Int

  convenience init(_ mapping: MappedFile) {
    self.init(mapping, mapping.bytes, VerifiedBits(sectorsOf: mapping))
  }

  private init(_ mapping: MappedFile, _ bytes: RawBytes, _ bits: VerifiedBits) {
    self.mapping = mapping
    self.bytes = bytes
    self.bits = bits
    identities = mapping.identities
    wordCount = bits.wordCount
    unsafe verified = bits.words
  }

  /// The same mapping for a version of this logical size: no ref, whoever wrote it, leads behind
  /// its end, where the file may be cut off some day.
  func limited(to sizeBytes: UInt64) -> NodeReader {
    let count = min(mapping.count, Int(clamping: sizeBytes))
    return NodeReader(mapping, mapping.bytes.part(at: 0, count: count), bits)
  }

  /// A reader of a new mapping of the same file; what was verified stays so.
  func remapped(_ mapping: MappedFile) -> NodeReader {
    NodeReader(mapping, mapping.bytes, VerifiedBits(sectorsOf: mapping, copying: bits))
  }

  @inline(__always)
  private func isVerified(_ ref: Ref) -> Bool {
    let sector = Int(truncatingIfNeeded: ref.sector)
    guard sector >> 6 < wordCount else { return false }
    let word = unsafe verified[sector >> 6].load(ordering: .acquiring)
    return word & (1 << UInt64(sector & 63)) != 0
  }

  /// Forgets what stood at these sectors, before new nodes are written there.
  func forget(_ ref: Ref) {
    let sector = Int(ref.sector)
    guard sector >> 6 < wordCount else { return }
    unsafe verified[sector >> 6].bitwiseAnd(~(1 << UInt64(sector & 63)), ordering: .releasing)
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
    if again || !isVerified(link.ref) { try verify(node, link) }
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

  /// A node of any kind and level, hashed whatever was seen before.
  func node(fresh link: NodeLink) throws(EngineError) -> Node {
    let header = try NodeHeader(at: link.ref, in: bytes)
    let node = bytes.part(at: Int(link.ref.offsetBytes), count: header.sizeBytes)
    try verify(node, link)
    return Node(ref: link.ref, header: header, bytes: node)
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
    let sector = Int(link.ref.sector)
    unsafe verified[sector >> 6].bitwiseOr(1 << UInt64(sector & 63), ordering: .releasing)
  }
}

/// One bit per sector of a mapping, shared by its readers.
@safe private final class VerifiedBits: @unchecked Sendable {
  // Safety: allocated for `wordCount` words, freed in deinit; only atomic access.
  let words: UnsafeMutablePointer<Atomic<UInt64>>
  let wordCount: Int

  init(sectorsOf mapping: MappedFile, copying other: VerifiedBits? = nil) {
    wordCount = mapping.count / Layout.sectorSizeBytes / 64 + 1
    unsafe words = .allocate(capacity: wordCount)
    for index in 0..<wordCount {
      var word: UInt64 = 0
      if let other, index < other.wordCount {
        word = unsafe other.words[index].load(ordering: .acquiring)
      }
      unsafe (words + index).initialize(to: Atomic(word))
    }
  }

  deinit {
    for index in 0..<wordCount { unsafe (words + index).deinitialize(count: 1) }
    unsafe words.deallocate()
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
