// CommitWriter.swift: THE PROTOCOL. A commit is the list of steps in `stage` and `seal`.
// Invariants: no step before the root slot touches a sector that a live version reaches; the slot
// written is the one that does not hold the current root; two syncs, and one more with an
// allocation when the file has to grow. A step that fails before the root slot leaves the old
// version current and its space untouched. From the slot write on a failure is final: nobody knows
// then what the slot holds, so the handle is poisoned.

/// Why a commit failed, and whether the handle can go on.
struct CommitFailure: Error {
  let error: EngineError
  let poisons: Bool
}

/// A commit that succeeded.
struct CommitResult {
  let state: VersionState
  let space: SpaceMap
  let fileSizeBytes: UInt64
}

/// Makes a write transaction the newest version.
struct CommitWriter {
  let backend: any StorageBackend
  let base: VersionState
  private let slab: Slab

  init(backend: any StorageBackend, base: VersionState) {
    self.backend = backend
    self.base = base
    slab = Slab(cipher: base.reader.cipher)
  }

  /// Runs the protocol up to the first barrier: a version that nobody can find yet.
  ///
  /// Another commit may be staged on top of it, so that several share the two syncs of `seal`.
  /// - Parameters:
  ///   - tables: The transaction's tables, in their order.
  ///   - writer: Knows the nodes of the base version that the new one does not reach.
  ///   - space: The space map, with everything reclaimed that no live version reaches.
  ///   - fileSizeBytes: The size of the file that is known to be durable.
  /// - Returns: The new version, its space map, and the size of the file.
  /// - Throws: `CommitFailure`; the old version stays current.
  func stage(
    _ tables: [MutableTable], releasing writer: TreeWriter, space: SpaceMap,
    fileSizeBytes: UInt64
  ) throws(CommitFailure) -> CommitResult {
    try failing(poisons: false) { () throws(EngineError) in
      try base.reader.cipher?.beginSession()
    }
    var sink = NodeSink(
      slab: slab, version: base.version.next, reader: base.reader, space: space)
    let records = encodeTrees(tables, into: &sink)
    try releaseOldTop(writer, into: &sink)
    let (group, slot) = try encodeTop(records, writer.nextTableID, into: &sink)
    let grown = try growFile(toHold: sink.space, from: fileSizeBytes)
    try writeNodes()
    return CommitResult(
      state: VersionState(slot: slot, group: group, reader: grown?.reader ?? base.reader),
      space: sink.space, fileSizeBytes: grown?.sizeBytes ?? fileSizeBytes)
  }

  /// Runs the rest: makes a staged version, and those it is built on, durable and current.
  /// - Parameters:
  ///   - slot: The slot of the version staged last.
  ///   - current: The slot of the version that is current on the medium.
  /// - Throws: `CommitFailure`; nobody knows then which of the two the medium has.
  func seal(_ slot: RootSlot, over current: RootSlot) throws(CommitFailure) {
    try syncNodes()
    try writeRootSlot(slot, over: current)
    try syncRootSlot()
  }

  /// Step 1: changed nodes get places that no live version uses, and bytes in memory.
  private func encodeTrees(
    _ tables: [MutableTable], into sink: inout NodeSink
  ) -> [TableRecord] {
    var records: [TableRecord] = []
    for table in tables {
      let root = table.tree.encode(into: &sink)
      table.encodeIndexes(into: &sink)
      records.append(table.record(root: root))
    }
    return records
  }

  /// Step 2: what the new version does not reach becomes pending, the old top included.
  private func releaseOldTop(
    _ writer: TreeWriter, into sink: inout NodeSink
  ) throws(CommitFailure) {
    do throws(EngineError) {
      writer.release(
        try base.reader.node(base.slot.top, kind: .group, newest: base.version))
      if !base.group.freeList.isNone {
        writer.release(
          try base.reader.node(base.group.freeList, kind: .freeList, newest: base.version))
      }
    } catch { throw CommitFailure(error: error, poisons: false) }
    sink.space.release(writer.released)
  }

  /// Step 3: the group and the free list get their places, which fixes the space map; then the
  /// free list gets its bytes, the group that links to it, and the slot that links to that.
  private func encodeTop(
    _ records: [TableRecord], _ nextTableID: UInt32, into sink: inout NodeSink
  ) throws(CommitFailure) -> (Group, RootSlot) {
    var group = Group(freeList: .none, nextTableID: nextTableID, tables: records)
    let groupSize = Layout.nodeHeaderBytes + group.encoded().count
    let groupRef = sink.space.allocate(sectors: slab.room.sectors(groupSize))
    // Taking sectors never adds a span, so the list cannot outgrow the node that is taken now.
    let listSectors = FreeList.sectorCount(of: sink.space, slab.room)
    guard listSectors <= Layout.sectors(Layout.nodeSizeBytesMax) else {
      let error = EngineError(
        code: .limit, message: "the free list needs \(listSectors) sectors; compact the database")
      throw CommitFailure(error: error, poisons: false)
    }
    let listRef = sink.space.allocate(sectors: listSectors)
    sink.space.tidy()
    let space = sink.space
    group.freeList = sink.add(
      at: listRef, kind: .freeList, sizeBytes: slab.room.sizeBytes(filling: listSectors),
      count: space.free.count, auxiliary: space.pending.count
    ) { FreeList.encode(space, into: $0) }
    let content = group.encoded()
    let top = sink.add(
      at: groupRef, kind: .group, sizeBytes: groupSize, count: records.count
    ) { $0.copy(content, to: Layout.nodeHeaderBytes) }
    let logical = space.endSector * UInt64(Layout.sectorSizeBytes)
    return (group, RootSlot(version: base.version.next, top: top, logicalSizeBytes: logical))
  }

  /// Step 4: space behind every byte the new version will have, so that a full disk is an error
  /// here and never a signal in a reader.
  private func growFile(
    toHold space: SpaceMap, from fileSizeBytes: UInt64
  ) throws(CommitFailure) -> (reader: NodeReader, sizeBytes: UInt64)? {
    let needed = space.endSector * UInt64(Layout.sectorSizeBytes)
    guard needed > fileSizeBytes else { return nil }
    try failing(poisons: false) { () throws(EngineError) in
      guard needed <= Layout.fileSizeBytesMax else {
        throw EngineError(
          code: .limit, message: "file_bytes=\(needed) > \(Layout.fileSizeBytesMax)")
      }
      try allocate(needed)
    }
    // Before: the old size and nothing of the commit. After: the new size, with zeros in it.
    try failing(poisons: true) { () throws(EngineError) in try backend.sync() }
    return try failing(poisons: false) { () throws(EngineError) in
      let mapping = try backend.map()
      return (try base.reader.remapped(mapping), UInt64(mapping.count))
    }
  }

  /// Asks for room for later commits too; when the disk has only what this commit needs, for that.
  private func allocate(_ needed: UInt64) throws(EngineError) {
    let present = try backend.sizeBytes()
    let step = min(
      max(present / Layout.growthDivisor, Layout.growthBytesMin), Layout.growthBytesMax)
    let sector = UInt64(Layout.sectorSizeBytes)
    let generous = max(needed, present + step) / sector * sector
    do throws(EngineError) {
      try backend.allocate(upTo: generous)
    } catch {
      let exact = max(needed, present)
      guard error.code == .noSpace, exact < generous else { throw error }
      try backend.allocate(upTo: exact)
    }
  }

  /// Step 5: the nodes go to the file.
  ///
  /// Durability: none. A crash leaves garbage only where no live version has a node.
  private func writeNodes() throws(CommitFailure) {
    try failing(poisons: false) { () throws(EngineError) in try slab.write(to: backend) }
  }

  /// Step 6: first barrier.
  private func syncNodes() throws(CommitFailure) {
    // Before: the old version is durable, any part of the new nodes may be. After: all nodes of the
    // new version are durable, and no slot leads to them yet.
    try failing(poisons: true) { () throws(EngineError) in try backend.sync() }
  }

  /// Step 7: the root slot that does not hold the current root.
  private func writeRootSlot(
    _ slot: RootSlot, over current: RootSlot
  ) throws(CommitFailure) {
    precondition(slot.index != current.index, "the slot of the current root is never written")
    precondition(slot.version > current.version, "versions rise")
    // Before: the old version is current, the new one is durable but unreachable. After: still the
    // old one after a crash, or the new one; a torn slot counts as not written.
    try failing(poisons: true) { () throws(EngineError) in
      try backend.write(
        slot.encoded(sealing: base.reader.cipher), at: Layout.slotOffsetsBytes[slot.index])
    }
  }

  /// Step 8: second barrier; when it returns the commit can be acked.
  private func syncRootSlot() throws(CommitFailure) {
    // Before: a crash decides between the old and the new version. After: the new one, always.
    try failing(poisons: true) { () throws(EngineError) in try backend.sync() }
  }

  private func failing<Result>(
    poisons: Bool, _ step: () throws(EngineError) -> Result
  ) throws(CommitFailure) -> Result {
    do throws(EngineError) { return try step() } catch {
      throw CommitFailure(error: error, poisons: poisons)
    }
  }
}
