// Database+Write.swift: from the writer lock to a published version. Invariants: only the holder of
// the writer lock, among all threads and processes, writes to the data file. The word `writer` of
// the shared memory is set before the first write of a commit and cleared after its version is
// published, so a thread that holds the lock and finds it set knows that the previous writer died
// in between, and takes over: it syncs, reads the root slots as any opener does, and publishes the
// result, before it allocates anything (E5).

extension Database {
  /// Starts the one write transaction; waits until no other thread or process has one open.
  ///
  /// Threads of one process get their turn in order of arrival, and processes take turns. The
  /// transaction may move to another thread.
  /// - Returns: The transaction; it sees the newest version and its own changes.
  /// - Throws: `EngineError` with code `.busy` when this thread began a write transaction that has
  ///   not ended, `.poisoned`, `.readOnly`, `.tooManyVersions`, `.forked`, `.corrupted` or
  ///   `.closed`.
  public func beginWrite() throws(EngineError) -> WriteTransaction {
    try beginWrite(waiting: nil)
  }

  /// Starts the one write transaction, and waits for it no longer than this many milliseconds.
  /// - Returns: The transaction; it sees the newest version and its own changes.
  /// - Throws: `EngineError` as `beginWrite()` does, and with code `.busy` when the time is over.
  public func beginWrite(timeoutMilliseconds: Int) throws(EngineError) -> WriteTransaction {
    try beginWrite(waiting: max(0, timeoutMilliseconds))
  }

  /// Starts the one write transaction if no other is open anywhere.
  /// - Returns: The transaction; it sees the newest version and its own changes.
  /// - Throws: `EngineError` as `beginWrite()` does, and with code `.busy` when there is one.
  public func tryBeginWrite() throws(EngineError) -> WriteTransaction {
    try beginWrite(waiting: 0)
  }

  private func beginWrite(waiting milliseconds: Int?) throws(EngineError) -> WriteTransaction {
    try checkWritable()
    try session.writerLock.lock(
      timeoutMilliseconds: milliseconds,
      group: options.groupedCommits ? ObjectIdentifier(self) : nil)
    do throws(EngineError) {
      // The handle may have been closed or poisoned during the wait.
      try checkWritable()
      let base = if let stagedBase { stagedBase } else { try prepareBase() }
      _ = try liveVersions(scans: false)
      try state.withLock { state throws(EngineError) in
        try state.checkWritable()
        state.isWriting = true
      }
      return WriteTransaction(self, base)
    } catch {
      endWrite()
      throw error
    }
  }

  func checkWritable() throws(EngineError) {
    try checkForked()
    if options.readOnly {
      throw EngineError(
        code: .readOnly, message: "\(backend.path) was opened for reading; open it for writing")
    }
    try state.withLock { state throws(EngineError) in try state.checkWritable() }
    if let number = publication.poison {
      throw EngineError(
        code: .poisoned,
        message: "a write to the medium failed in some handle of \(backend.path); close all "
          + "handles and open again to see what the medium holds",
        errno: number == 0 ? nil : number)
    }
  }

  /// The version to build on, with its free space loaded.
  func prepareBase() throws(EngineError) -> VersionState {
    if try isLeftBehind() { try takeOver() }
    guard let base = try load(publication.version) else {
      throw .corrupted("\(backend.path).lock changes while the writer lock is held")
    }
    try base.reader.mapping.checkPages()
    let isSpaceKnown = state.withLock { $0.space?.version == base.version }
    if isSpaceKnown { return base }
    // Another handle committed, and may have made the file larger than our mapping. New nodes may
    // go anywhere in the file, and must be readable where they are.
    let size = try backend.sizeBytes()
    let isMapped = size <= UInt64(base.reader.mapping.count)
    let reader = isMapped ? base.reader : try base.reader.remapped(try backend.map())
    let mapped = base.read(by: reader)
    let space = WriterSpace(
      version: base.version, map: try Recovery.space(of: mapped),
      fileSizeBytes: min(size, UInt64(reader.mapping.count)))
    state.withLock { state in
      state.current = mapped
      state.space = space
      state.tail.note(mapped)
    }
    return mapped
  }

  /// Whether a writer died, or the shared memory was damaged: it holds no valid publication, or a
  /// version older than the newest.
  ///
  /// A writer that built on an older version would drop what was acknowledged since; a damaged
  /// version number is enough for that, if the record of the older version is still in its place.
  private func isLeftBehind() throws(EngineError) -> Bool {
    guard publication.writer == nil else { return true }
    let known = state.withLock { $0.current }
    let published = publication.version
    guard published >= known.version,
      published == known.version || publication.record(of: published) != nil
    else { return true }
    // There is no other writer, so the slot for the next commit has an older version; or a newer
    // one that recovery refused, which is not cleared yet.
    let mapping = known.reader.mapping
    let next = Layout.slotOffsetsBytes[Int(published.next.rawValue % 2)]
    let isPassed = [next, next + Layout.slotCopyDistanceBytes].contains { copy in
      mapping.bytes.uint64(copy + SlotField.version) > published.rawValue
    }
    try mapping.checkPages()
    guard isPassed else { return false }
    let recovered = try Recovery.recover(try backend.map(), try FileAccess(options))
    return (recovered?.state.version ?? published) > published
  }

  /// Takes over after a writer died, or after the shared memory was damaged.
  private func takeOver() throws(EngineError) {
    publication.countTakeover()
    do throws(EngineError) {
      // Before: what the dead writer wrote may be in the cache only. After: all of it is durable,
      // so the version that the slots lead to is, and nothing older has to be kept.
      try backend.sync()
    } catch {
      poison(error)
      throw error
    }
    guard let recovered = try Recovery.recover(try backend.map(), try FileAccess(options))
    else {
      throw .corrupted("\(backend.path): the file header is gone")
    }
    let published = publication.version
    guard recovered.state.version >= published || publication.record(of: published) == nil else {
      throw .corrupted(
        "\(backend.path): slot_version=\(recovered.state.version) < published_version="
          + "\(published): the file went back to before a version that was published")
    }
    let space = WriterSpace(
      version: recovered.state.version, map: recovered.space,
      fileSizeBytes: try backend.sizeBytes())
    publication.fallback = recovered.state.version
    publication.publish(recovered.state.slot)
    state.withLock { state in
      state.current = recovered.state
      state.space = space
    }
    publication.writer = nil
    session.note.announce()
  }

  /// Versions that a commit must keep whole.
  private struct LiveVersions {
    /// All of them, sorted.
    let all: [Version]
    /// The newest pinned version; nil when no version but the newest of all is pinned.
    var newestHeld: Version?
    /// The pinned version before it.
    var heldBefore: Version?
  }

  /// Every version that a commit must keep whole: those that any process pins, the newest, and the
  /// one to fall back to.
  ///
  /// A staged version need not be included: none of its nodes has been released yet. Empty if the
  /// options set no limit and `scans` is false: then it is not needed.
  private func liveVersions(scans: Bool) throws(EngineError) -> LiveVersions {
    let most = options.maximumNumberOfActiveVersions
    guard scans || most < .max else { return LiveVersions(all: []) }
    let newest = publication.version
    var versions = session.slots.collect(current: newest)
    guard versions.count + 1 <= most else {
      throw EngineError(
        code: .tooManyVersions,
        message: "active versions: \(versions.count + 1) > \(most), the oldest is "
          + "\(versions.first ?? newest); release snapshots, or allow more")
    }
    var held = versions
    if !held.isEmpty, session.slots.holds(newest) { held.append(newest) }
    versions.append(newest)
    if let fallback = publication.fallback { versions.append(fallback) }
    return LiveVersions(
      all: versions.sorted(), newestHeld: held.last, heldBefore: held.dropLast().last)
  }

  func poison(_ error: EngineError) {
    publication.poison = error.errno ?? 0
    state.withLock { state in state.poison = error }
  }

  /// Runs the commit protocol for a transaction, publishes its version and ends the write.
  func commit(
    _ tables: [MutableTable], releasing writer: TreeWriter, base: VersionState
  ) throws(EngineError) -> Version {
    let result = try stageOrEnd(tables, releasing: writer, base: base)
    let member = addToGroup(result, base: base)
    endWrite()
    try member.wait(under: session.schedule)
    return result.state.version
  }

  /// As `commit`, and pins the version while the writer lock is still held.
  func commitHolding(
    _ tables: [MutableTable], releasing writer: TreeWriter, base: VersionState
  ) throws(EngineError) -> Snapshot? {
    let result = try stageOrEnd(tables, releasing: writer, base: base)
    let member = addToGroup(result, base: base, isHeld: true)
    endWrite()
    try member.wait(under: session.schedule)
    return member.takeHeld(self)
  }

  private func stageOrEnd(
    _ tables: [MutableTable], releasing writer: TreeWriter, base: VersionState
  ) throws(EngineError) -> CommitResult {
    do throws(EngineError) {
      return try stage(tables, releasing: writer, base: base)
    } catch {
      endWrite()
      throw error
    }
  }

  private func stage(
    _ tables: [MutableTable], releasing writer: TreeWriter, base: VersionState
  ) throws(EngineError) -> CommitResult {
    try checkWritable()
    let space = state.withLock { state in
      precondition(state.isWriting, "a commit belongs to the open write transaction")
      return state.group?.space ?? state.space
    }
    guard let space else { preconditionFailure("the writer's space was prepared at the begin") }
    precondition(space.version == base.version, "there is one writer")
    return try base.reader.reading { _ throws(EngineError) in
      try stage(tables, releasing: writer, base: base, in: space)
    }
  }

  private func stage(
    _ tables: [MutableTable], releasing writer: TreeWriter, base: VersionState,
    in space: WriterSpace
  ) throws(EngineError) -> CommitResult {
    let live = try liveVersions(scans: true)
    let map = reclaimed(space.map, live)
    var settings = try commitSettings(for: base)
    settings.newestHeld = live.newestHeld
    settings.heldBefore = live.heldBefore
    publication.writer = session.owner
    do throws(CommitFailure) {
      let result = try CommitWriter(backend: backend, base: base, settings: settings).stage(
        tables, releasing: writer, space: map, fileSizeBytes: space.fileSizeBytes)
      state.withLock { state in state.evacuation = result.evacuation }
      return result
    } catch {
      if error.poisons { poison(error.error) } else { remapAfterFailure(base) }
      // No version that a slot leads to has changed, or the handle is poisoned.
      if stagedBase == nil { publication.writer = nil }
      throw error.error
    }
  }

  /// The space map after reclaiming everything that no live version reaches.
  func reclaimed(_ map: SpaceMap) throws(EngineError) -> SpaceMap {
    reclaimed(map, try liveVersions(scans: true))
  }

  private func reclaimed(_ map: SpaceMap, _ live: LiveVersions) -> SpaceMap {
    var map = map
    map.reclaim(live: live.all, roots: rootVersions)
    return map
  }

  /// Versions whose free lists must stay, sorted: those that recovery may choose.
  ///
  /// A pin keeps the nodes that snapshots read, but not the free list.
  private var rootVersions: [Version] {
    var versions = [publication.version]
    if let fallback = publication.fallback { versions.append(fallback) }
    return versions.sorted()
  }

  /// The settings for a commit on top of a version.
  func commitSettings(for base: VersionState) throws(EngineError) -> CommitSettings {
    var settings = CommitSettings()
    settings.durability = options.durability
    settings.commitProtocol = options.commitProtocol
    settings.editsInSlots = options.editsInSlots
    settings.failpoint = options.failpoint
    settings.schedule = session.schedule
    let isSettled = publication.fallback == nil
    settings.isBaseDurable = isSettled && stagedBase == nil
    // A slot is refused by recovery only, so there is none once a commit has succeeded.
    if !isSettled, stagedBase == nil { settings.staleSlot = try Recovery.staleSlot(beside: base) }
    settings.evacuation = state.withLock { $0.evacuation }
    return settings
  }

  /// A commit that failed after the file had grown leaves a mapping that does not show later
  /// writes.
  private func remapAfterFailure(_ base: VersionState) {
    do throws(EngineError) {
      guard try backend.sizeBytes() != UInt64(base.reader.mapping.count) else { return }
      let mapped = base.read(by: try base.reader.remapped(try backend.map()))
      state.withLock { state in
        if state.group == nil { state.current = mapped } else { state.group?.staged = mapped }
      }
    } catch {
      // The next writer allocates the space again and maps it. A group's writers build on the
      // staged version, which could not be read.
      let isGrouped = state.withLock { state in
        if state.group == nil { state.space = nil }
        return state.group != nil
      }
      if isGrouped { poison(error) }
    }
  }

  /// The size to which the file's tail may be truncated; nil when it must stay.
  func tailFloorBytes() -> UInt64? {
    guard state.withLock({ $0.tail.isLong }) else { return nil }
    do throws(EngineError) {
      let live = try liveVersions(scans: true)
      return state.withLock { $0.tail.floorBytes(live: live.all) }
    } catch { return nil }
  }

  /// A version is durable: it becomes the newest one.
  ///
  /// A handle never holds an unpublished version as current, so a version number that goes back is
  /// detected.
  func finish(_ newest: VersionState, _ space: WriterSpace) {
    publication.publish(newest.slot)
    state.withLock { state in
      state.current = newest
      state.space = space
      state.tail.note(newest, fileSizeBytes: space.fileSizeBytes)
    }
    // Without syncs no version is known to be durable: a later durable commit has to sync first.
    publication.fallback = options.durability == .full ? nil : newest.version
  }

  /// Ends the write transaction and lets the next one begin.
  func endWrite() {
    // A child of fork inherited the transaction's memory, not the lock.
    guard !session.isForked else { return }
    // A member that passes its turn on leaves the handle writing: the next one ends it.
    if passOnGroup() { return }
    settleGroup()
    state.withLock { state in state.isWriting = false }
    session.writerLock.unlock()
  }
}
