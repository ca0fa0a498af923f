// NodeReader.swift [U]: resolves a link to a node's bytes, checked on first access. Invariant: a
// sector has the mark of a link only after the node that starts there passed its checksum and
// matched a link of that mark. The next node in the sector, from any process, has a link with
// another checksum. So each node is checked once per mapping, and a warm lookup costs one
// comparison. In an encrypted file the marks are those of the plaintext cache, "checked" means
// decrypted as well, and code that assigns a sector to a new node clears its mark.

import Synchronization

/// Reads nodes of one mapping, up to the logical end of a version.
@safe final class NodeReader: @unchecked Sendable {
  let mapping: MappedFile
  /// Those of the mapping; here, so that looking at them counts no reference.
  private let faults: MappingFaults
  /// The file as far as refs may lead into it.
  private let file: RawBytes
  /// Where nodes are read: the mapping, or the cache of its plaintext.
  let bytes: RawBytes
  /// The keys of an encrypted file.
  let cipher: FileCipher?
  let room: NodeRoom
  private let cache: PlaintextCache?
  private let identities: SectorIdentities?
  /// Leaves of the version that have patches; a sealed file has none.
  private let patched = PatchedLeaves()
  /// Nodes that the version's root slot edits; nil for a version that wrote a group.
  let edited: EditedNodes?
  /// The marks of a file that is not encrypted.
  private let ownMarks: SectorMarks?
  // Safety: one word per sector of the mapping, those of `ownMarks` or the cache's, which exist as
  // long; only atomic access, and only below `markCount`. No mark is 0.
  private let marks: UnsafeMutablePointer<Atomic<UInt32>>
  private let markCount: Int

  /// Reads a file that is not encrypted.
  convenience init(_ mapping: MappedFile) {
    self.init(mapping, mapping.bytes, SectorMarks(mapping), nil)
  }

  private init(
    _ mapping: MappedFile, _ file: RawBytes, _ own: SectorMarks, _ edited: EditedNodes?
  ) {
    self.edited = edited
    self.mapping = mapping
    faults = mapping.faults
    self.file = file
    bytes = file
    cipher = nil
    cache = nil
    room = .plain
    identities = mapping.identities
    ownMarks = own
    markCount = own.count
    unsafe marks = own.words
  }

  /// Reads an encrypted file through a cache that may serve other mappings of the file, too.
  private init(
    _ mapping: MappedFile, _ file: RawBytes, _ cipher: FileCipher, _ cache: PlaintextCache
  ) {
    self.mapping = mapping
    faults = mapping.faults
    self.file = file
    ownMarks = nil
    edited = nil
    bytes = cache.bytes(file.count)
    self.cipher = cipher
    self.cache = cache
    room = .sealed
    // The lab's sector identities describe ciphertext.
    identities = nil
    markCount = cache.markCount
    unsafe marks = unsafe cache.marks
  }

  /// Reads a file; encrypted if there is a cipher.
  /// - Throws: `EngineError` with code `.io` when memory for a cache cannot be allocated.
  static func make(
    _ mapping: MappedFile, cipher: FileCipher?, cacheBytesMax: Int,
    capacityBytesMin: Int = PlaintextCache.capacityBytesMin
  ) throws(EngineError) -> NodeReader {
    guard let cipher else { return NodeReader(mapping) }
    let cache = try PlaintextCache(
      sizeBytes: mapping.count, boundBytes: cacheBytesMax, capacityBytesMin: capacityBytesMin)
    return NodeReader(mapping, mapping.bytes, cipher, cache)
  }

  /// The reader of another mapping of the same file, larger or smaller; without edits.
  func remapped(_ mapping: MappedFile) throws(EngineError) -> NodeReader {
    guard let cipher, let cache else {
      return NodeReader(mapping, mapping.bytes, SectorMarks(mapping, copying: ownMarks), nil)
    }
    if mapping.count <= cache.capacityBytes {
      return NodeReader(mapping, mapping.bytes, cipher, cache)
    }
    let larger = try PlaintextCache(sizeBytes: mapping.count, boundBytes: cache.boundBytes)
    cache.shrink()
    return NodeReader(mapping, mapping.bytes, cipher, larger)
  }

  /// The same mapping for a version of this logical size: no ref may lead beyond its end, where the
  /// file may be truncated later.
  /// - Parameters:
  ///   - sizeBytes: The logical size.
  ///   - edited: The nodes that the version's slot edits.
  /// - Returns: The reader.
  func limited(to sizeBytes: UInt64, edited: EditedNodes?) -> NodeReader {
    let count = min(mapping.count, Int(clamping: sizeBytes))
    let part = mapping.bytes.part(at: 0, count: count)
    if let cipher, let cache { return NodeReader(mapping, part, cipher, cache) }
    guard let ownMarks else { preconditionFailure("a reader has a cache or marks of its own") }
    let reader = NodeReader(mapping, part, ownMarks, edited)
    reader.forgetOlderNodes(besides: self.edited)
    return reader
  }

  /// Clears marks that nodes before the present ones left in the sectors of edited nodes.
  ///
  /// A writer gives no edited node the mark of the node in the file; one that another process wrote
  /// over may have it by chance, and then the edits would be left out. Nodes that this mapping's
  /// version before edited, too, have been in their places since.
  private func forgetOlderNodes(besides known: EditedNodes?) {
    guard let edited else { return }
    for node in edited.all where known?.node(in: node.sector)?.edits.link != node.edits.link {
      let sector = node.sector
      guard let inFile = checksumInFile(node.edits.link.ref), sector < UInt64(markCount)
      else { continue }
      let isOfPresentNode =
        unsafe marks[Int(sector)].load(ordering: .acquiring) == Self.mark(inFile)
      if !isOfPresentNode { unsafe marks[Int(sector)].store(0, ordering: .releasing) }
    }
  }

  /// The layout that the file's header names, which was checked when the file was opened.
  var formatVersion: FormatVersion {
    FormatVersion(rawValue: mapping.bytes.uint32(HeaderField.formatVersion))
  }

  /// The mark of a sector for a node whose link has this checksum; never 0.
  @inline(__always)
  static func mark(_ checksum: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: checksum) | 1 }

  /// The checksum in the header of the node that the file has in a place; nil beyond the end.
  func checksumInFile(_ ref: Ref) -> UInt64? { Self.checksum(in: bytes, ref) }

  /// The same for the nodes of a file.
  static func checksum(in file: RawBytes, _ ref: Ref) -> UInt64? {
    guard ref.sector < UInt64(file.count / Layout.sectorSizeBytes) else { return nil }
    return file.uint64(Int(ref.offsetBytes) + NodeField.checksum)
  }

  @inline(__always)
  private func isVerified(_ link: NodeLink) -> Bool {
    let sector = Int(truncatingIfNeeded: link.ref.sector)
    guard sector < markCount else { return false }
    return unsafe marks[sector].load(ordering: .acquiring) == Self.mark(link.checksum)
  }

  /// The mark of the sector in which a node starts; 0 when the cache has evicted it.
  func mark(of node: Node) -> UInt32 {
    let sector = Int(node.ref.sector)
    guard sector < markCount else { return 0 }
    return unsafe marks[sector].load(ordering: .acquiring)
  }

  /// Whether a section can read views of a node without following its link again: the sector still
  /// has the mark that it had when they were made, and a snapshot has kept the version since.
  func holds(_ node: Node, _ mark: UInt32) -> Bool { mark != 0 && self.mark(of: node) == mark }

  /// Clears the marks of these sectors, before new nodes are written there.
  func forget(_ ref: Ref, sectors: UInt64) {
    let first = Int(ref.sector)
    guard first < markCount else { return }
    if let cache {
      cache.forget(first..<first + Int(sectors))
    } else {
      unsafe marks[first].store(0, ordering: .releasing)
    }
  }

  /// Runs an operation that follows links: every node that it reads stays readable until it ends,
  /// and its result is valid only if every page of the file could be read.
  ///
  /// Operations nest.
  /// - Throws: `EngineError` with code `.io` when a page could not be read, now or earlier; else
  ///   what `body` throws.
  @inline(__always)
  func reading<Result>(
    _ body: (ReadSection) throws(EngineError) -> Result
  ) throws(EngineError) -> Result {
    let section = beginReading()
    defer { section.end() }
    // Like `checked`; a closure in a closure would cost a lookup a tenth of its time.
    let result: Result
    do throws(EngineError) { result = try body(section) } catch {
      throw mapping.readError ?? error
    }
    if faults.isAny { try mapping.checkPages() }
    return result
  }

  /// Begins to read: nodes stay readable until the section's end.
  @inline(__always)
  func beginReading() -> ReadSection {
    guard let cache else { return .none }
    return ReadSection(cache)
  }

  /// A section that lasts as long as the returned object; nil when none is needed.
  func holdReading() -> ReadHold? { cache.map { ReadHold($0) } }

  /// Figures of the cache of an encrypted file.
  var plaintextCache: PlaintextCache? { cache }

  /// The node that a link leads to, of the kind and level that the link's position requires.
  /// - Throws: `EngineError` with code `.corrupted`, and in an encrypted file `.swappedNode` or
  ///   `.rolledBackNode`.
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
    if again || !isVerified(link) {
      if edited != nil,
        let node = try editedNode(link, kind, level: level, newest: newest, again: again)
      {
        return node
      }
      if kind == .leaf, let leaf = try patchedLeaf(link, newest: newest, again: again) {
        return leaf
      }
      try admit(link, again: again)
    }
    return try admitted(link, kind: kind, level: level, newest: newest)
  }

  /// A leaf of the file as it is there, without patch and edits.
  func leafInFile(
    _ link: NodeLink, newest: Version, again: Bool = false
  ) throws(EngineError) -> Node {
    if again || !isVerified(link) { try admit(link, again: again) }
    return try admitted(link, kind: .leaf, level: 0, newest: newest)
  }

  @inline(__always)
  private func admitted(
    _ link: NodeLink, kind: NodeKind, level: Int, newest: Version
  ) throws(EngineError) -> Node {
    let header = try NodeHeader(at: link.ref, in: bytes, room: room)
    let node = bytes.part(at: Int(link.ref.offsetBytes), count: header.sizeBytes)
    guard header.kind == kind, header.level == level else {
      throw .corrupted(
        "expected \(kind) of level \(level), found \(header.kind) of level \(header.level)",
        at: link.ref)
    }
    guard header.version <= newest else {
      throw .corrupted("node version=\(header.version) > \(newest)", at: link.ref)
    }
    let found = Node(ref: link.ref, header: header, bytes: node)
    if kind == .inner, header.auxiliary > 0 { try notePatches(of: found, link) }
    return found
  }

  /// The node of a link when the version's slot edits it.
  ///
  /// No sector has the mark of such a link: a node whose mark equals that of its edited form is
  /// written instead.
  @inline(never)
  private func editedNode(
    _ link: NodeLink, _ kind: NodeKind, level: Int, newest: Version, again: Bool
  ) throws(EngineError) -> Node? {
    guard kind.canBeEdited, let found = edited?.node(link) else { return nil }
    // Reading the base of an inner node takes note of its patches, which those below it need.
    let base = try node(
      found.edits.link, kind: kind, level: level, newest: newest, again: again)
    let bytes = try found.bytes(link, from: base.bytes, again: again)
    return Node(ref: link.ref, header: base.header, bytes: bytes)
  }

  /// The link that a node has in the version that wrote a group last.
  func baseLink(_ link: NodeLink) -> NodeLink { edited?.node(link)?.edits.link ?? link }

  /// Following one of the node's links to a leaf finds its patch afterwards.
  @inline(never)
  private func notePatches(of node: Node, _ link: NodeLink) throws(EngineError) {
    guard cipher == nil else {
      throw .corrupted("patches=\(node.header.auxiliary) in an encrypted file", at: link.ref)
    }
    try patched.note(node, link)
  }

  /// The leaf of a link when it has a patch: the leaf in the file, with the edits applied.
  ///
  /// No sector has the mark of such a link: a leaf whose mark equals that of its patched form is
  /// rewritten instead.
  @inline(never)
  private func patchedLeaf(
    _ link: NodeLink, newest: Version, again: Bool
  ) throws(EngineError) -> Node? {
    guard cipher == nil, let patch = patched.patch(link) else { return nil }
    let base = try leafInFile(
      NodeLink(ref: link.ref, checksum: patch.baseChecksum), newest: newest, again: again)
    let made = again ? nil : patched.leaf(link)
    let bytes = if let made { made } else { try patched.make(link, patch, from: base.bytes) }
    return Node(ref: link.ref, header: base.header, bytes: bytes)
  }

  /// The patch that a leaf of the version has, or nil.
  func patch(_ link: NodeLink) -> LeafPatch? { cipher == nil ? patched.patch(link) : nil }

  /// Checks a node that is read for the first time; in an encrypted file, decrypts it.
  @inline(never)
  private func admit(_ link: NodeLink, again: Bool) throws(EngineError) {
    guard let cache, let cipher else {
      let header = try NodeHeader(at: link.ref, in: bytes)
      try verify(bytes.part(at: Int(link.ref.offsetBytes), count: header.sizeBytes), link)
      return
    }
    try cache.load(link, from: file, cipher: cipher, again: again)
    let header = try NodeHeader(at: link.ref, in: bytes, room: room)
    let sealed = Int(mapping.bytes.uint32(Int(link.ref.offsetBytes) + SealField.sectors))
    guard header.sectorCount == UInt64(sealed) else {
      throw .corrupted("node_bytes=\(header.sizeBytes) in \(sealed) sectors", at: link.ref)
    }
  }

  /// The same, with the checksum compared again even if it was checked before.
  func verifiedAgain(
    _ link: NodeLink, kind: NodeKind, level: Int = 0, newest: Version
  ) throws(EngineError) -> Node {
    try node(link, kind: kind, level: level, newest: newest, again: true)
  }

  /// A node of any kind and level, checked even if it was checked before.
  func node(fresh link: NodeLink) throws(EngineError) -> Node {
    try admit(link, again: true)
    let header = try NodeHeader(at: link.ref, in: bytes, room: room)
    let node = bytes.part(at: Int(link.ref.offsetBytes), count: header.sizeBytes)
    return Node(ref: link.ref, header: header, bytes: node)
  }

  /// The cached result for the leaf that a link leads to, and its size; nil when it has to be read.
  ///
  /// The cache keeps only results read under a link with the checksum of the bytes, so a link with
  /// that checksum leads to the same leaf, and that leaf has no patch.
  @inline(__always)
  func knownLeaf(
    _ link: NodeLink, shape: LeafShape, newest: Version
  ) -> (leaf: NodeCache.Leaf, span: Span)? {
    guard let identities, let key = key(link, identities, newest: newest),
      let leaf = identities.cache.leaf(key, checksum: link.checksum, shape: shape.code)
    else { return nil }
    return (leaf, Span(start: key.sector, count: Layout.sectors(key.sizeBytes)))
  }

  /// The sum of the row hashes of a cached leaf, and the number of its rows.
  @inline(__always)
  func knownRowSum(
    _ link: NodeLink, shape: LeafShape, seed: UInt64, newest: Version
  ) -> (sum: UInt64, count: UInt64)? {
    guard let identities, let key = key(link, identities, newest: newest) else { return nil }
    return identities.cache.rowSum(key, checksum: link.checksum, shape: shape.code, seed: seed)
  }

  /// The place of a node in the lab's cache, if it may be one of a version.
  @inline(__always)
  private func key(
    _ link: NodeLink, _ identities: SectorIdentities, newest: Version
  ) -> NodeCache.Key? {
    guard link.ref.sector < UInt64(bytes.count / Layout.sectorSizeBytes) else { return nil }
    let offset = Int(link.ref.offsetBytes)
    let sizeBytes = Int(bytes.uint32(offset + NodeField.sizeBytes))
    guard sizeBytes <= bytes.count - offset,
      bytes.uint64(offset + NodeField.version) <= newest.rawValue
    else { return nil }
    return identities.key(sector: link.ref.sector, sizeBytes: sizeBytes)
  }

  /// The node's place in the lab's cache; nil without one, or when its content is unknown there.
  @inline(__always)
  func cached(_ node: Node) -> (cache: NodeCache, key: NodeCache.Key)? {
    guard let identities, isInFile(node),
      let key = identities.key(sector: node.ref.sector, sizeBytes: node.bytes.count)
    else { return nil }
    return (identities.cache, key)
  }

  /// Whether the node is stored as such in its sectors, and is not a patched leaf.
  private func isInFile(_ node: Node) -> Bool {
    bytes.offset(of: node.bytes) == Int(node.ref.offsetBytes)
  }

  private func checksum(of node: RawBytes, at ref: Ref) -> UInt64 {
    if let identities, let key = identities.key(sector: ref.sector, sizeBytes: node.count) {
      return identities.cache.checksum(key) {
        Checksum.of(node.part(at: 8, count: node.count - 8))
      }
    }
    return Checksum.of(node.part(at: 8, count: node.count - 8))
  }

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
    unsafe marks[Int(link.ref.sector)].store(Self.mark(stored), ordering: .releasing)
  }
}

/// One mark per sector of a mapping, shared by its readers.
@safe private final class SectorMarks: @unchecked Sendable {
  // Safety: `count` words, freed in deinit; only atomic access. Zeros are a valid Atomic<UInt32>.
  let words: UnsafeMutablePointer<Atomic<UInt32>>
  let count: Int

  /// Begins with the marks of another mapping of the same file, if there is one.
  init(_ mapping: MappedFile, copying other: SectorMarks? = nil) {
    count = mapping.count / Layout.sectorSizeBytes + 1
    unsafe words = Syscalls.zeroed(count: count)
    guard let other else { return }
    for index in 0..<min(count, other.count) {
      let mark = unsafe other.words[index].load(ordering: .acquiring)
      unsafe words[index].store(mark, ordering: .relaxed)
    }
  }

  deinit { unsafe Syscalls.free(words) }
}

/// A node read in place; valid as long as its reader exists.
struct Node {
  let ref: Ref
  let header: NodeHeader
  let bytes: RawBytes

  /// The sectors the node occupies.
  var span: Span { Span(start: ref.sector, count: header.sectorCount) }
}
