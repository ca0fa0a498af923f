// Recovery.swift: from the bytes of a file to its newest version. Writes nothing: the version found
// is whole as it stands, and space that a lost commit wrote to is free in it.
// Invariant: a version whose nodes and slot had one sync is taken only after every node that it
// wrote was found whole; else the crash came before that sync, and the version before it was made
// durable before any of this one was written.

/// One version, ready to be read.
struct VersionState: Sendable {
  let slot: RootSlot
  let group: Group
  let reader: NodeReader

  var version: Version { slot.version }
}

/// What recovery found.
struct RecoveredFile {
  let state: VersionState
  let space: SpaceMap
  /// The version that the medium falls back to when the newest slot, maybe in the cache only, is
  /// lost.
  ///
  /// Its nodes must stay until a sync has succeeded.
  let fallback: Version?
  /// The slot of a version that a crash tore, though the slot itself is whole.
  var staleSlot: Int?
}

enum Recovery {
  /// Finds the newest version, or nil when the bytes are an interrupted creation.
  /// - Throws: `EngineError` with code `.notADatabase`, `.unsupportedFormat` or `.corrupted`.
  static func recover(_ mapping: MappedFile) throws(EngineError) -> RecoveredFile? {
    let bytes = mapping.bytes
    let header: FileHeader
    do throws(EngineError) {
      header = try UnverifiedFileHeader(bytes).verified()
    } catch {
      if CreationImage.isUnfinished(bytes) { return nil }
      throw error
    }
    guard let slot = try newest(header) else {
      if CreationImage.isUnfinished(bytes) { return nil }
      throw .corrupted("both root slots are unusable; restore the file from a copy")
    }
    let older = slots(header).first { $0.version != slot.version }
    do throws(EngineError) {
      return try load(slot, mapping, fallback: older?.version)
    } catch {
      // Only a commit of one sync can be torn behind its slot.
      guard slot.flags.contains(.checksummed), let older else { throw error }
      var recovered = try load(older, mapping, fallback: nil)
      recovered.staleSlot = slot.index
      return recovered
    }
  }

  /// The version that a slot leads to: its group and its free list, and what it wrote if a crash
  /// could have torn that.
  private static func load(
    _ slot: RootSlot, _ mapping: MappedFile, fallback: Version?
  ) throws(EngineError) -> RecoveredFile {
    guard slot.logicalSizeBytes <= UInt64(mapping.count) else {
      throw .corrupted(
        "logical_bytes=\(slot.logicalSizeBytes) > file_bytes=\(mapping.count): the file was "
          + "truncated")
    }
    let reader = NodeReader(mapping).limited(to: slot.logicalSizeBytes)
    let top = try reader.node(slot.top, kind: .group, newest: slot.version)
    guard top.header.version == slot.version else {
      throw .corrupted("top version=\(top.header.version) != \(slot.version)", at: top.ref)
    }
    let state = VersionState(slot: slot, group: try Group(top), reader: reader)
    if slot.flags.contains(.checksummed) { try checkFreshNodes(of: state) }
    return RecoveredFile(state: state, space: try space(of: state), fallback: fallback)
  }

  /// Finds every node whole that a commit of one sync wrote.
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

  /// Makes sure that recovery reads from the medium what a commit of one sync wrote.
  ///
  /// A sync that failed in an earlier process can have left pages that only the cache holds. Pages
  /// that are mapped and were touched stay in the cache, so this has a mapping of its own, which is
  /// gone when it returns. Whatever is wrong is left for recovery to find.
  static func forgetFreshNodes(of backend: any StorageBackend) throws(EngineError) {
    for (ref, count) in freshExtents(try backend.map()) {
      backend.forgetCache(at: ref.offsetBytes, count: count)
    }
  }

  /// Where the nodes stand that recovery has to check; none with two syncs.
  private static func freshExtents(_ mapping: MappedFile) -> [(Ref, UInt64)] {
    var extents: [(Ref, UInt64)] = []
    do throws(EngineError) {
      guard let slot = try newest(UnverifiedFileHeader(mapping.bytes).verified()),
        slot.flags.contains(.checksummed)
      else { return [] }
      let reader = NodeReader(mapping)
      let top = try reader.node(fresh: slot.top)
      extents.append((top.ref, UInt64(top.bytes.count)))
      let group = try Group(top)
      let list = try reader.node(group.freeList, kind: .freeList, newest: slot.version)
      extents.append((list.ref, UInt64(list.bytes.count)))
      for link in try FreeList.links(list) {
        extents.append((link.ref, UInt64(try reader.node(fresh: link).bytes.count)))
      }
    } catch { return extents }
    return extents
  }

  /// The slot to use, by the table.
  static func newest(_ header: FileHeader) throws(EngineError) -> RootSlot? {
    let states = header.slots.map { SlotState($0) }
    let slots = header.slots.map { reading -> RootSlot? in
      if case .valid(let slot) = reading { slot } else { nil }
    }
    switch RecoveryTable.action(states[0], states[1]) {
    case .useSlot0: return slots[0]
    case .useSlot1: return slots[1]
    case .useNewer: return slots.compactMap { $0 }.max { $0.version < $1.version }
    case .recogniseCreation: return nil
    case .reportCorruption:
      throw .corrupted("root slots are \(states[0]) and \(states[1]): \(header.slots)")
    }
  }

  private static func slots(_ header: FileHeader) -> [RootSlot] {
    header.slots.compactMap { if case .valid(let slot) = $0 { slot } else { nil } }
  }

  /// The free and pending spans of a version.
  static func space(of state: VersionState) throws(EngineError) -> SpaceMap {
    let end = state.slot.logicalSizeBytes / UInt64(Layout.sectorSizeBytes)
    guard end > Layout.firstNodeSector else { throw .corrupted("end_sector=\(end)") }
    let link = state.group.freeList
    guard !link.isNone else { return SpaceMap(free: [], endSector: end) }
    let node = try state.reader.node(link, kind: .freeList, newest: state.version)
    return try FreeList.decode(
      node, reader: state.reader, endSector: end, current: state.version)
  }
}
