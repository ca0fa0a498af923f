// CommitWriter.swift: THE PROTOCOL. A commit is the list of steps in `stage` and `seal`, in order.
// Invariants: no step before the root slot touches a sector that a live version reaches; the slot
// written is the one that does not hold the current root, and only when the current root is known
// to be durable or a sync has just made it so; two syncs, or one. A step that fails before the root
// slot leaves the old version current and its space untouched. From the slot write on a failure is
// final: the content of the slot is unknown, so the handle is poisoned.

/// Why a commit failed, and whether the handle stays usable.
struct CommitFailure: Error {
  let error: EngineError
  let poisons: Bool
}

/// A commit that succeeded.
struct CommitResult {
  let state: VersionState
  let space: SpaceMap
  let fileSizeBytes: UInt64
  let evacuation: Evacuation
}

/// Makes a write transaction the newest version.
struct CommitWriter {
  let backend: any StorageBackend
  let base: VersionState
  let settings: CommitSettings
  let slab: Slab

  init(backend: any StorageBackend, base: VersionState, settings: CommitSettings = .init()) {
    self.backend = backend
    self.base = base
    self.settings = settings
    slab = Slab(cipher: base.reader.cipher)
  }

  /// Runs the protocol up to the first barrier: a version that no reader can find yet.
  ///
  /// Another commit may be staged on top of it, so that several share the syncs of `seal`.
  /// - Parameters:
  ///   - tables: The transaction's tables, in their order.
  ///   - writer: Knows the nodes of the base version that the new one does not reach.
  ///   - space: The space map, after reclaiming everything that no live version reaches.
  ///   - fileSizeBytes: The size of the file that is known to be durable.
  /// - Returns: The new version, its space map, and the size of the file.
  /// - Throws: `CommitFailure`; the old version stays current.
  func stage(
    _ tables: [MutableTable], releasing writer: TreeWriter, space: SpaceMap,
    fileSizeBytes: UInt64
  ) throws(CommitFailure) -> CommitResult {
    do throws(EngineError) { try base.reader.cipher?.beginSession() } catch {
      throw CommitFailure(error: error, poisons: false)
    }
    try clearStaleSlot()
    if let edited = try editNodes(tables, writer, space, fileSizeBytes) { return edited }
    var sink = NodeSink(
      slab: slab, version: base.version.next, reader: base.reader, space: space)
    prepareForPins(&sink)
    try bringEditedNodes(tables, writer, copiesLeaves: sink.patching == nil)
    let evacuation = try moveOutOfTail(tables, writer, into: &sink)
    let records = try encodeTrees(tables, into: &sink)
    try releaseOldTop(writer, into: &sink)
    let (group, slot) = try encodeTop(records, writer, into: &sink)
    let grown = try growFile(toHold: sink.space, from: fileSizeBytes)
    try checkPages()
    try writeNodes()
    let reader = grown?.reader ?? base.reader
    return CommitResult(
      state: VersionState(
        slot: slot, group: group, reader: reader.limited(to: slot.logicalSizeBytes, edited: nil)),
      space: sink.space, fileSizeBytes: grown?.sizeBytes ?? fileSizeBytes, evacuation: evacuation)
  }

  /// Instead of steps 1 to 7: few edits of the base's nodes go into the slot.
  ///
  /// The slot is then the only sector that the commit writes. All nodes of the version are durable.
  private func editNodes(
    _ tables: [MutableTable], _ writer: TreeWriter, _ space: SpaceMap, _ fileSizeBytes: UInt64
  ) throws(CommitFailure) -> CommitResult? {
    guard settings.editsInSlots, settings.isBaseDurable, settings.durability == .full,
      base.reader.cipher == nil, base.reader.formatVersion.hasSlotEdits
    else { return nil }
    var (evacuation, space) = (settings.evacuation, space)
    guard !evacuation.isWorthwhile(&space), !hasLongTail(space) else { return nil }
    let found: (edited: EditedNodes, bytes: [UInt8], group: Group)?
    do throws(EngineError) {
      found = try EditCollector.collect(tables, writer, base: base)
    } catch { throw CommitFailure(error: error, poisons: false) }
    guard let found else { return nil }
    try reach(.encodeTrees)
    try checkPages()
    let slot = RootSlot(version: base.version.next, editing: base.slot, found.bytes)
    return CommitResult(
      state: VersionState(
        slot: slot, group: found.group,
        reader: base.reader.limited(to: slot.logicalSizeBytes, edited: found.edited)),
      space: space, fileSizeBytes: fileSizeBytes, evacuation: evacuation)
  }

  /// Whether the version can end much earlier when commits write a group, now or after one that
  /// moves it to the front: then the tail of the file can be given back.
  private func hasLongTail(_ space: SpaceMap) -> Bool {
    let end = base.slot.logicalSizeBytes / UInt64(Layout.sectorSizeBytes)
    return end - min(end, space.endSector) > end / Layout.shrinkDivisor
      || space.prefersLowest && base.slot.top.ref.sector > space.endSector / 2
  }

  /// Before the steps of a commit that writes nodes: those that the base's slot edits are among
  /// them.
  private func bringEditedNodes(
    _ tables: [MutableTable], _ writer: TreeWriter, copiesLeaves: Bool
  ) throws(CommitFailure) {
    do throws(EngineError) {
      try writer.bringEditedNodes(of: tables, copiesLeaves: copiesLeaves)
    } catch {
      throw CommitFailure(error: error, poisons: false)
    }
  }

  /// Runs the rest: makes a staged version, and those it is built on, durable and current.
  /// - Parameters:
  ///   - slot: The slot of the version staged last.
  ///   - current: The slot of the version that is current on the medium.
  /// - Throws: `CommitFailure`; nobody knows then which of the two the medium has.
  func seal(_ slot: RootSlot, over current: RootSlot) throws(CommitFailure) {
    try syncNodes(before: slot)
    try writeRootSlot(slot, over: current)
    try syncRootSlot()
  }

  /// Zeros in place of a page that could not be read must not become content.
  private func checkPages() throws(CommitFailure) {
    do throws(EngineError) { try base.reader.mapping.checkPages() } catch {
      throw CommitFailure(error: error, poisons: false)
    }
  }

  /// Step 0, once after a recovery that refused a slot: it must not be read again, since the places
  /// of its nodes can now be reused.
  private func clearStaleSlot() throws(CommitFailure) {
    guard let index = settings.staleSlot else { return }
    precondition(index != base.slot.index, "the slot of the current root is never written")
    try step(.clearStaleSlot) { () throws(EngineError) in
      let zeros = [UInt8](repeating: 0, count: Layout.sectorSizeBytes)
      try backend.write(zeros, at: Layout.slotOffsetsBytes[index])
      // Before: a slot that recovery refuses. After: an empty one, or a torn one, the same to it.
      try sync()
    }
  }

  /// Step 1: nodes in a tail that is mostly empty are treated as changed, some at a time.
  private func moveOutOfTail(
    _ tables: [MutableTable], _ writer: TreeWriter, into sink: inout NodeSink
  ) throws(CommitFailure) -> Evacuation {
    var evacuation = settings.evacuation
    guard evacuation.isWorthwhile(&sink.space) else { return evacuation }
    try reach(.moveOutOfTail)
    evacuation.moveNodes(of: tables, writer, into: &sink)
    return evacuation
  }

  /// Decides whether leaves that snapshots hold get patches, and whether small gaps are filled.
  ///
  /// They do while snapshots hold as much space as the newest version; a reader one commit behind
  /// makes no difference.
  private func prepareForPins(_ sink: inout NodeSink) {
    sink.space.fillsHoles = false
    guard let newestHeld = settings.newestHeld else { return }
    let held = sink.space.pendingSectorCount
    let used = sink.space.endSector - Layout.firstNodeSector
    // In a damaged file, where two nodes are in one place, the count can exceed the total.
    guard held >= used - min(used, held + sink.space.freeSectorCount) else { return }
    sink.space.fillsHoles = true
    // Leaves of a sealed file are read through a bounded cache; patched ones would not be.
    guard base.reader.cipher == nil, base.reader.formatVersion.hasPatches else { return }
    sink.patching = Patching(
      newestHeld: newestHeld, room: Layout.patchedLeafCountMax - base.group.patchedLeafCount,
      eighthsOfLeafMax: isHeldOften(newestHeld) ? 1 : 3)
  }

  /// Whether snapshots hold one of a few of the versions that write nodes: then the inner nodes
  /// that carry patches are most of what they hold, and patches should be short.
  private func isHeldOften(_ newestHeld: Version) -> Bool {
    guard base.slot.hasEdits else { return false }
    let next = base.version.next.rawValue
    let written = base.reader.bytes.uint64(
      Int(base.slot.top.ref.offsetBytes) + NodeField.version)
    // Shared memory may hold anything.
    let held = min(next, newestHeld.rawValue)
    let before = min(held, settings.heldBefore?.rawValue ?? held)
    return max(next - held, held - before) / max(1, next - min(next, written)) < 8
  }

  /// Step 2: changed nodes get places that no live version uses, and are encoded in memory.
  private func encodeTrees(
    _ tables: [MutableTable], into sink: inout NodeSink
  ) throws(CommitFailure) -> [TableRecord] {
    try reach(.encodeTrees)
    return tables.map { $0.encoded(into: &sink) }
  }

  /// Step 3: space that the new version does not reach becomes pending, the old top included.
  private func releaseOldTop(
    _ writer: TreeWriter, into sink: inout NodeSink
  ) throws(CommitFailure) {
    try step(.releaseOldTop) { () throws(EngineError) in
      writer.release(
        try base.reader.node(base.slot.top, kind: .group, newest: base.version))
      guard !base.group.freeList.isNone else { return }
      let list = try base.reader.node(
        base.group.freeList, kind: .freeList, newest: base.version)
      sink.space.release([
        PendingSpan(
          span: list.span, born: list.header.version, released: base.version.next,
          isFreeList: true)
      ])
    }
    sink.space.release(writer.released)
  }

  /// Step 4: free list and group are placed, which fixes the space map; then segments, the list
  /// that links to them, the group that links to that, and the slot that links to the group.
  private func encodeTop(
    _ records: [TableRecord], _ writer: TreeWriter, into sink: inout NodeSink
  ) throws(CommitFailure) -> (Group, RootSlot) {
    try reach(.encodeTop)
    var group = Group(
      freeList: .none, nextTableID: writer.nextTableID,
      patchedLeafCount: writer.patchedLeafCount(
        base: base.group.patchedLeafCount, written: sink.patchCount),
      memo: writer.memo, tables: records)
    let groupSize = Layout.nodeHeaderBytes + group.encoded().count
    let fresh = hasOneSync(sink) ? sink.links : []
    let plan = sink.space.plan(
      version: sink.version, freshLinks: fresh.count, groupSectors: slab.room.sectors(groupSize)
    ) { slab.room.sectors($0) }
    guard plan.listSizeBytes <= Layout.nodeSizeBytesMax else {
      let error = EngineError(
        code: .limit,
        message: "the free list needs \(plan.listSizeBytes) bytes, at most "
          + "\(Layout.nodeSizeBytesMax); release snapshots, or compact the database")
      throw CommitFailure(error: error, poisons: false)
    }
    for segment in plan.segments {
      let link = sink.add(
        at: segment.ref, kind: .freeListSegment, sizeBytes: segment.sizeBytes,
        count: segment.free.count + segment.pending.count
      ) { FreeList.encodeSegment(free: segment.free, pending: segment.pending, into: $0) }
      sink.space.segments.append(
        FreeListSegment(
          link: link, version: sink.version, free: segment.free, pending: segment.pending))
    }
    let space = sink.space
    group.freeList = sink.add(
      at: plan.list, kind: .freeList, sizeBytes: plan.listSizeBytes,
      count: plan.free.count + space.loose.count, auxiliary: space.segments.count
    ) {
      FreeList.encode(
        segments: space.segments, fresh: fresh, free: plan.free, pending: space.loose, into: $0)
    }
    let content = group.encoded()
    let top = sink.add(
      at: plan.group, kind: .group, sizeBytes: groupSize, count: records.count
    ) { $0.copy(content, to: Layout.nodeHeaderBytes) }
    let logical = space.endSector * UInt64(Layout.sectorSizeBytes)
    return (
      group,
      RootSlot(
        version: base.version.next, top: top, logicalSizeBytes: logical,
        flags: hasOneSync(sink) ? .checksummed : [])
    )
  }

  /// Whether nodes and slot may share a sync: the base is durable, so that recovery has something
  /// to go back to, and what recovery would have to check is little.
  private func hasOneSync(_ sink: NodeSink) -> Bool {
    settings.commitProtocol == .checksummed && settings.durability == .full
      && settings.isBaseDurable && sink.links.count <= Layout.freshLinkCountMax
      && sink.linkedBytes <= Layout.freshBytesMax
  }

  /// Step 5: allocates space for every byte of the new version, so that a full disk is an error
  /// here and never a signal in a reader.
  private func growFile(
    toHold space: SpaceMap, from fileSizeBytes: UInt64
  ) throws(CommitFailure) -> (reader: NodeReader, sizeBytes: UInt64)? {
    let needed = space.endSector * UInt64(Layout.sectorSizeBytes)
    guard needed > fileSizeBytes else { return nil }
    try step(.growFile) { () throws(EngineError) in try allocate(needed) }
    // Before: the old size. After: the old size or the new one, with zeros in it; what makes the
    // nodes durable does the same for the size that they need (fdatasync(2); decision 0463).
    do throws(EngineError) {
      let mapping = try backend.map()
      return (try base.reader.remapped(mapping), UInt64(mapping.count))
    } catch { throw CommitFailure(error: error, poisons: false) }
  }

  /// Allocates space for later commits too; if the disk is too full, only for this one.
  func allocate(_ needed: UInt64) throws(EngineError) {
    guard needed <= Layout.fileSizeBytesMax else {
      throw EngineError(
        code: .limit, message: "file_bytes=\(needed) > \(Layout.fileSizeBytesMax)")
    }
    let present = try backend.sizeBytes()
    let sector = UInt64(Layout.sectorSizeBytes)
    let generous = max(needed, present + Layout.growthStep(from: present)) / sector * sector
    do throws(EngineError) {
      try backend.allocate(upTo: generous)
    } catch {
      let exact = max(needed, present)
      guard error.code == .noSpace, exact < generous else { throw error }
      try backend.allocate(upTo: exact)
    }
  }

  /// Step 6: the nodes go to the file.
  ///
  /// Durability: none. A crash leaves garbage only where no live version has a node.
  private func writeNodes() throws(CommitFailure) {
    try step(.writeNodes) { () throws(EngineError) in try slab.write(to: backend) }
  }

  /// Step 7: first barrier; with one sync there is none.
  private func syncNodes(before slot: RootSlot) throws(CommitFailure) {
    guard !slot.flags.contains(.checksummed), !slot.hasEdits else { return }
    // Before: the old version is durable or was found by recovery, any part of the new nodes may be
    // durable. After: the old version and all nodes of the new one are, and no slot leads to them.
    try step(.syncNodes) { () throws(EngineError) in try sync() }
  }

  /// Step 8: the root slot that does not hold the current root.
  private func writeRootSlot(
    _ slot: RootSlot, over current: RootSlot
  ) throws(CommitFailure) {
    precondition(slot.index != current.index, "the slot of the current root is never written")
    precondition(slot.version > current.version, "versions rise")
    precondition(
      !slot.flags.contains(.checksummed) || slot.version == current.version.next,
      "the list of fresh nodes is that of one commit")
    // Before: the old version is current, the new one unreachable. After: still the old one after a
    // crash, or the new one; a torn slot counts as not written, and with one sync so does a whole
    // slot whose nodes did not all arrive.
    try step(.writeRootSlot) { () throws(EngineError) in
      try backend.write(
        slot.encoded(sealing: base.reader.cipher), at: Layout.slotOffsetsBytes[slot.index])
    }
  }

  /// Step 9: last barrier; when it returns the commit can be acked.
  private func syncRootSlot() throws(CommitFailure) {
    // Before: a crash decides between the old and the new version. After: the new one, always.
    try step(.syncRootSlot) { () throws(EngineError) in try sync() }
  }

  /// Step 10: a tail that stayed empty goes back to the file system.
  ///
  /// No version that is being read or that recovery may choose extends beyond the new end. The
  /// commit is acknowledged in any case, so a failure only leaves the file large.
  ///
  /// Durability: none needed. A crash leaves the old size or the new one; both hold the version.
  /// - Returns: The version with a reader of the file in its new size, and the size of the file.
  func giveTailBack(
    behind newest: VersionState, fileSizeBytes: UInt64
  ) -> (VersionState, UInt64) {
    let present = (newest, fileSizeBytes)
    guard let floor = settings.tailFloorBytes else { return present }
    let logical = newest.slot.logicalSizeBytes
    let sector = UInt64(Layout.sectorSizeBytes)
    let kept = max(floor, logical + Layout.growthStep(from: logical)) / sector * sector
    guard kept < fileSizeBytes else { return present }
    do throws(EngineError) {
      try settings.failpoint?.reach(.giveTailBack)
      settings.schedule?.reach(.commit(.giveTailBack))
      try backend.truncate(to: kept)
      return (newest.read(by: try newest.reader.remapped(try backend.map())), kept)
    } catch {
      // Truncated or not: the known size is the smaller one, so growing allocates space again.
      return (newest, kept)
    }
  }

  private func sync() throws(EngineError) {
    guard settings.durability == .full else { return }
    try backend.sync()
  }

  private func reach(_ step: CommitStep) throws(CommitFailure) {
    try self.step(step) { () throws(EngineError) in }
  }

  private func step<Result>(
    _ step: CommitStep, _ body: () throws(EngineError) -> Result
  ) throws(CommitFailure) -> Result {
    settings.schedule?.reach(.commit(step))
    do throws(EngineError) {
      if let failpoint = settings.failpoint { try failpoint.reach(step) }
      return try body()
    } catch { throw CommitFailure(error: error, poisons: step.poisons) }
  }
}
