// Recovery.swift [U]: finds the newest version in the bytes of a file. It writes nothing: the
// version found is complete, and the space that a lost commit wrote to is free in it. Invariant: a
// version whose nodes and slot had one sync is chosen only if every node that it wrote is intact;
// otherwise the crash came before that sync, and the version before it was made durable before any
// of this one was written.

/// One version, ready to be read.
struct VersionState: Sendable {
  let slot: RootSlot
  let group: Group
  let reader: NodeReader

  var version: Version { slot.version }

  /// The same version without a mapping.
  var unmapped: VersionState {
    // Safety: the buffer is empty.
    let nothing = unsafe MappedFile(borrowing: UnsafeRawBufferPointer(start: nil, count: 0))
    return VersionState(slot: slot, group: group, reader: NodeReader(nothing))
  }
}

extension VersionState {
  /// Reads the top node that a slot leads to, and the slot's edits.
  /// - Parameters:
  ///   - slot: The slot, with its edits.
  ///   - reader: A reader of the file.
  ///   - known: A version whose edited nodes may be those of this one.
  /// - Throws: `EngineError` with code `.truncated` or `.corrupted`.
  init(
    slot: RootSlot, reader: NodeReader, known: EditedNodes? = nil
  ) throws(EngineError) {
    let fileBytes = reader.mapping.count
    guard slot.logicalSizeBytes <= UInt64(fileBytes) else {
      throw EngineError(
        code: .truncated,
        message: "logical_bytes=\(slot.logicalSizeBytes) > file_bytes=\(fileBytes): the file was "
          + "truncated; restore it from a copy")
    }
    let edited = try Self.edited(slot, reader, known)
    let reader = reader.limited(to: slot.logicalSizeBytes, edited: edited)
    let group = try reader.reading { _ throws(EngineError) in
      let group = try Self.group(slot, reader)
      guard group.memo.isEmpty || reader.formatVersion.hasMemo else {
        throw .corrupted(
          "memo_bytes=\(group.memo.count) in a file of format version "
            + "\(reader.formatVersion.rawValue)", at: slot.top.ref)
      }
      guard group.patchedLeafCount == 0 || reader.formatVersion.hasPatches else {
        throw .corrupted(
          "patched_leaves=\(group.patchedLeafCount) in a file of format version "
            + "\(reader.formatVersion.rawValue)", at: slot.top.ref)
      }
      return group
    }
    self.init(slot: slot, group: group, reader: reader)
  }

  private static func edited(
    _ slot: RootSlot, _ reader: NodeReader, _ known: EditedNodes?
  ) throws(EngineError) -> EditedNodes? {
    guard slot.hasEdits else { return nil }
    guard reader.formatVersion.hasSlotEdits, reader.cipher == nil else {
      throw .corrupted(
        "a slot has edits in a file of format version \(reader.formatVersion.rawValue), "
          + "encrypted: \(reader.cipher != nil)", at: slot.top.ref)
    }
    // The reader may be one of an earlier version, which ends sooner.
    let file = reader.mapping.bytes.part(at: 0, count: Int(slot.logicalSizeBytes))
    let edits = try SlotEdits.decode(slot.edits, at: slot.top.ref) { ref throws(EngineError) in
      guard let checksum = NodeReader.checksum(in: file, ref) else {
        throw .corrupted("a slot edits a node beyond the end of the file", at: ref)
      }
      return checksum
    }
    return EditedNodes(edits, sharing: known ?? EditedNodes())
  }

  /// The top node of a version, which its own commit wrote, or, with edits, an earlier one.
  static func top(_ slot: RootSlot, _ reader: NodeReader) throws(EngineError) -> Node {
    let top = try reader.node(slot.top, kind: .group, newest: slot.version)
    guard slot.hasEdits ? top.header.version < slot.version : top.header.version == slot.version
    else {
      throw .corrupted(
        "top version=\(top.header.version) of version=\(slot.version), edits: \(slot.hasEdits)",
        at: top.ref)
    }
    return top
  }

  private static func group(_ slot: RootSlot, _ reader: NodeReader) throws(EngineError) -> Group {
    let top = try top(slot, reader)
    guard let edits = reader.edited?.node(in: top.ref.sector)?.edits else { return try Group(top) }
    guard edits.link == slot.top, top.bytes.count <= Layout.editedNodeBytesMax else {
      throw .corrupted("a slot edits another group than its own", at: top.ref)
    }
    let patch = LeafPatch(baseChecksum: slot.top.checksum, edits: edits.edits)
    return try MutableBytes.withScratch(count: top.bytes.count) {
      (copy) throws(EngineError) -> Group in
      copy.copy(top.bytes, to: 0)
      try patch.apply(to: copy, at: top.ref)
      return try Group(Node(ref: top.ref, header: top.header, bytes: copy.readable))
    }
  }

  /// The same version through a reader of another mapping.
  func read(by reader: NodeReader) -> VersionState {
    VersionState(
      slot: slot, group: group,
      reader: reader.limited(to: slot.logicalSizeBytes, edited: self.reader.edited))
  }
}

/// The result of recovery.
struct RecoveredFile {
  let state: VersionState
  let space: SpaceMap
  /// The version that the medium falls back to when the newest slot, maybe in the cache only, is
  /// lost.
  ///
  /// Its nodes must stay until a sync has succeeded.
  let fallback: Version?
}

/// The free list of a version, as stored in the file.
struct ReadFreeList: Sendable {
  /// The sectors of its node; nil for the first version, which has none.
  let span: Span?
  let map: SpaceMap
}

/// How a file is unlocked and read.
struct FileAccess: Sendable {
  var key: EncryptionKey?
  var entropy = EntropySource.system
  var cacheBytesMax = Database.Options().pageCacheBytesMax
  /// Whether an empty file, or the result of an interrupted creation, becomes the empty database.
  var createsMissing = true
  /// Whether a creation has a temporary name.
  var createsTemporary = false

  /// A file that is not encrypted.
  static let plain = FileAccess()

  private init() {}

  /// As in the options.
  /// - Throws: `EngineError` with code `.invalidKey`.
  init(_ options: Database.Options) throws(EngineError) {
    if let bytes = options.encryptionKey { key = try EncryptionKey(bytes) }
    entropy = options.entropy
    cacheBytesMax = options.pageCacheBytesMax
    createsMissing = options.createsMissing
    createsTemporary = options.createsTemporary
  }
}

enum Recovery {
  /// Finds the newest version, or nil when the bytes are an interrupted creation.
  /// - Throws: `EngineError` with code `.notADatabase`, `.unsupportedFormat`, `.corrupted` or
  ///   `.truncated`; with a key or an encrypted file also `.keyNeeded`, `.notEncrypted`,
  ///   `.wrongKey`, `.forgedSlot`, `.swappedNode` or `.rolledBackNode`; `.io` when the medium
  ///   cannot deliver a page that recovery needs: an older version is not a remedy for that.
  static func recover(
    _ mapping: MappedFile, _ access: FileAccess = .plain
  ) throws(EngineError) -> RecoveredFile? {
    try mapping.checked { () throws(EngineError) in try newestVersion(mapping, access) }
  }

  private static func newestVersion(
    _ mapping: MappedFile, _ access: FileAccess
  ) throws(EngineError) -> RecoveredFile? {
    let bytes = mapping.bytes
    let unverified: UnverifiedFileHeader
    let header: FileHeader
    do throws(EngineError) {
      unverified = try UnverifiedFileHeader(bytes)
      header = try unverified.verified()
    } catch {
      if CreationImage.isUnfinished(bytes) { return nil }
      throw error
    }
    let cipher = try header.cipher(access.key, entropy: access.entropy)
    let slots = unverified.slots(cipher)
    guard let slot = try newest(slots) else {
      if CreationImage.isUnfinished(bytes) { return nil }
      throw .corrupted("both root slots are unusable; restore the file from a copy")
    }
    let reader = try NodeReader.make(
      mapping, cipher: cipher, cacheBytesMax: access.cacheBytesMax)
    let older = Self.valid(slots).first { $0.version != slot.version }
    return try reader.reading { _ throws(EngineError) in
      do throws(EngineError) {
        return try load(slot, reader, fallback: older?.version)
      } catch {
        // Only a commit of one sync can be torn behind its slot.
        guard slot.flags.contains(.checksummed), let older else { throw error }
        return try load(older, reader, fallback: nil)
      }
    }
  }

  /// The version that a slot leads to: its group and its free list, and the nodes it wrote, if a
  /// crash could have torn them.
  private static func load(
    _ slot: RootSlot, _ reader: NodeReader, fallback: Version?
  ) throws(EngineError) -> RecoveredFile {
    let state = try VersionState(slot: slot, reader: reader)
    if slot.flags.contains(.checksummed) { try checkFreshNodes(of: state) }
    return RecoveredFile(state: state, space: try space(of: state), fallback: fallback)
  }

  /// Checks that every node written by a commit of one sync is intact.
  /// - Complexity: O(bytes of those nodes), at most `Layout.freshBytesMax`.
  private static func checkFreshNodes(of state: VersionState) throws(EngineError) {
    let list = try state.reader.node(
      state.group.freeList, kind: .freeList, newest: state.version)
    var bytes = 0
    for link in try FreeList.freshLinks(list) {
      let node = try state.reader.node(fresh: link)
      guard node.header.version == state.version else {
        throw .corrupted(
          "fresh node of version \(node.header.version) in version \(state.version)",
          at: link.ref)
      }
      bytes += node.bytes.count
      guard bytes <= Layout.freshBytesMax else {
        throw .corrupted("fresh_bytes=\(bytes) > \(Layout.freshBytesMax)", at: link.ref)
      }
    }
  }

  /// The slot of a version that recovery refused: intact, and later than the one it chose.
  static func staleSlot(beside state: VersionState) throws(EngineError) -> Int? {
    try state.reader.reading { _ throws(EngineError) in
      let readings = try UnverifiedFileHeader(state.reader.mapping.bytes)
        .slots(state.reader.cipher)
      guard let newer = valid(readings).first(where: { $0.version > state.version }) else {
        return nil
      }
      guard newer.index != state.slot.index else {
        throw .corrupted(
          "slot \(newer.index) holds version=\(newer.version.rawValue) over version="
            + "\(state.version.rawValue): another program writes this file (`fuser` shows which)")
      }
      return newer.index
    }
  }

  /// Makes sure that recovery reads from the medium the nodes that a commit of one sync wrote.
  ///
  /// A sync that failed in an earlier process can have left pages that only the cache holds. Pages
  /// that are mapped and were touched stay in the cache, so this uses a separate mapping, which is
  /// released when it returns. Errors are left for recovery to find.
  static func forgetFreshNodes(
    of backend: any StorageBackend, _ access: FileAccess
  ) throws(EngineError) {
    for extent in freshExtents(try backend.map(), access) {
      backend.forgetCache(
        at: extent.start * UInt64(Layout.sectorSizeBytes),
        count: extent.count * UInt64(Layout.sectorSizeBytes))
    }
  }

  /// The places of the nodes that recovery has to check; none with two syncs.
  private static func freshExtents(_ mapping: MappedFile, _ access: FileAccess) -> [Span] {
    var extents: [Span] = []
    do throws(EngineError) {
      let unverified = try UnverifiedFileHeader(mapping.bytes)
      let cipher = try unverified.verified().cipher(access.key, entropy: access.entropy)
      guard let slot = try newest(unverified.slots(cipher)), slot.flags.contains(.checksummed)
      else { return [] }
      let reader = try NodeReader.make(
        mapping, cipher: cipher, cacheBytesMax: access.cacheBytesMax)
      try reader.reading { _ throws(EngineError) in
        let top = try reader.node(fresh: slot.top)
        extents.append(top.span)
        let list = try reader.node(
          Group(top).freeList, kind: .freeList, newest: slot.version)
        extents.append(list.span)
        for link in try FreeList.links(list) {
          extents.append(try reader.node(fresh: link).span)
        }
      }
    } catch { return extents }
    return extents
  }

  /// The slot to use, by the table.
  ///
  /// A forged slot is not a row of it: a crash leaves none, so it means that the file was tampered
  /// with, whatever the other slot holds.
  static func newest(_ readings: [SlotReading]) throws(EngineError) -> RootSlot? {
    for (index, reading) in readings.enumerated() {
      guard case .forged(let reason) = reading else { continue }
      throw EngineError(
        code: .forgedSlot,
        message: "root slot \(index) was not written with the key of this file (\(reason)); "
          + "restore the file from a copy")
    }
    let states = readings.map { SlotState($0) }
    let slots = readings.map { reading -> RootSlot? in
      if case .valid(let slot) = reading { slot } else { nil }
    }
    switch RecoveryTable.action(states[0], states[1]) {
    case .useSlot0: return slots[0]
    case .useSlot1: return slots[1]
    case .useNewer: return slots.compactMap { $0 }.max { $0.version < $1.version }
    case .recogniseCreation: return nil
    case .reportCorruption:
      throw .corrupted("root slots are \(states[0]) and \(states[1]): \(readings)")
    }
  }

  private static func valid(_ readings: [SlotReading]) -> [RootSlot] {
    readings.compactMap { if case .valid(let slot) = $0 { slot } else { nil } }
  }

  /// The free and pending spans of a version.
  static func space(of state: VersionState) throws(EngineError) -> SpaceMap {
    try freeList(of: state, again: false).map
  }

  /// The free list of a version; `again` verifies its nodes even if they were verified before.
  static func freeList(
    of state: VersionState, again: Bool
  ) throws(EngineError) -> ReadFreeList {
    let end = state.slot.logicalSizeBytes / UInt64(Layout.sectorSizeBytes)
    guard end > Layout.firstNodeSector else { throw .corrupted("end_sector=\(end)") }
    let link = state.group.freeList
    guard !link.isNone else {
      return ReadFreeList(span: nil, map: SpaceMap(free: [], endSector: end))
    }
    return try state.reader.reading { _ throws(EngineError) in
      let node =
        again
        ? try state.reader.verifiedAgain(link, kind: .freeList, newest: state.version)
        : try state.reader.node(link, kind: .freeList, newest: state.version)
      let map = try FreeList.decode(
        node, reader: state.reader, endSector: end, current: state.version, again: again)
      return ReadFreeList(span: node.span, map: map)
    }
  }
}
