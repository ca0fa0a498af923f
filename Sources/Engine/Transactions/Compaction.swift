// Compaction.swift: writes a file with only the newest version, in place of the old one or under a
// new name. Order: copy to a temporary file, sync, rename, sync the folder; see NewFile.swift.
// Invariants: the old file is not touched, so a crash leaves it or the new one, with the same
// version and content; a failure before the rename leaves the handle unchanged; no other handle has
// the file open from before the copy until the shared memory names the new one.

extension Database {
  private static let copySuffix = ".copying"

  /// The path with which the database was opened.
  public var path: String { backend.path }

  /// Rewrites the file without free space, if no other handle uses the database.
  ///
  /// Version and content stay the same. Other threads that use this handle wait meanwhile. An open
  /// in another process waits some seconds and then fails with code `.locked`; in this process it
  /// fails at once. The disk has to hold both files for a moment.
  /// - Returns: Whether it was done; false when there are other handles in this or another process,
  ///   snapshots or a write transaction, or when the database is not a file.
  /// - Throws: `EngineError` with code `.noSpace`, `.io`, `.corrupted`, `.locked`, `.readOnly`,
  /// `.poisoned`, `.forked` or `.closed`; the file is the old one then. After a failed sync of the
  ///   folder nobody knows which of the two files a crash would leave, so every later write throws
  ///   `.poisoned`.
  /// - Complexity: O(bytes in use) time, memory for one buffer.
  ///
  /// Durability: when the call returns true, the new file survives any crash. Until then a crash
  /// leaves the old file or the new one.
  public func compact() throws(EngineError) -> Bool {
    try checkWritable()
    guard let file, tryExclusive() else { return false }
    defer { endExclusive() }
    do throws(EngineError) {
      try session.writerLock.lock(timeoutMilliseconds: 0)
    } catch {
      guard error.code == .busy else { throw error }
      return false
    }
    defer { session.writerLock.unlock() }
    let base = try prepareBase()
    // Held to the end: a snapshot that another thread asks for is one of the new file.
    return try state.withLock { state throws(EngineError) in
      try state.checkWritable()
      guard state.pinCount == 0 else { return false }
      try replace(file, base, &state)
      return true
    }
  }

  private func replace(
    _ file: FileBackend, _ base: VersionState, _ state: inout State
  ) throws(EngineError) {
    let access = try FileAccess(options)
    let target = Syscalls.realPath(of: file.path)
    guard try file.identity() == FileIdentity.at(target) else {
      throw EngineError(
        code: .io,
        message: "\(file.path) was removed or replaced since it was opened; close and open again")
    }
    let new = try NewFile(
      target, suffix: DatabaseFile.compactSuffix,
      attributes: Syscalls.attributes(path: target), failpoint: options.newFileFailpoint)
    let recovered: RecoveredFile
    let newIdentity: FileIdentity
    do throws(EngineError) {
      try NodeCopier.copy(base, to: new, cipher: try access.newCipher())
      // Before: a crash leaves the old file. After: still the old one, and the new one is durable.
      try new.sync()
      (recovered, newIdentity) = try Self.readBack(new, base.version, access)
      if options.isShared { try new.backend.shareLock() }
      // Before: the old file. After: the old one or the new one, which is whole.
      try new.replaceTarget()
    } catch {
      new.discard()
      throw error
    }
    file.adopt(new.backend)
    state.current = recovered.state
    state.tail = TailState(recovered.state)
    state.evacuation = Evacuation()
    state.space = WriterSpace(
      version: base.version, map: recovered.space,
      fileSizeBytes: recovered.state.slot.logicalSizeBytes)
    session.setDataFile(newIdentity)
    // Every sector of the new file was synced.
    let publication = publication.withoutPoints
    publication.fallback = nil
    publication.publish(recovered.state.slot)
    do throws(EngineError) {
      // Before: the old file or the new one. After: the new one, always.
      try new.syncFolder()
    } catch {
      publication.poison = error.errno ?? 0
      state.poison = error
      throw error
    }
  }

  /// Reads a written file as the next open will see it.
  private static func readBack(
    _ new: NewFile, _ version: Version, _ access: FileAccess
  ) throws(EngineError) -> (RecoveredFile, FileIdentity) {
    guard let recovered = try Recovery.recover(try new.map(), access),
      recovered.state.version == version
    else {
      throw .corrupted("\(new.temporary) does not keep what was written; the old file is whole")
    }
    return (recovered, try new.backend.identity())
  }

  /// Writes a compact copy of the newest version to a new file, while others read and write.
  /// - Parameters:
  ///   - path: The new file; the path must not exist.
  ///   - encryptionKey: The key of the copy, 64 bytes, independent of this database's key; nil for
  ///     an unencrypted copy.
  /// - Throws: `EngineError` with code `.fileExists` when the name is taken, `.noSpace`, `.io`,
  ///   `.corrupted`, `.invalidKey`, `.locked` when another copy to that name is being written,
  ///   `.forked` or `.closed`; no part of the copy is left then.
  /// - Complexity: O(bytes in use) time, memory for one buffer.
  ///
  /// Durability: when the call returns, the copy survives any crash. Until then a crash leaves no
  /// file at that path, or the whole copy.
  public func writeCopy(to path: String, encryptionKey: [UInt8]?) throws(EngineError) {
    let (version, pin) = try pinNewest()
    defer { unpin(pin) }
    try writeCopy(of: version, to: path, encryptionKey: encryptionKey)
  }

  /// Writes a copy of a version that is pinned.
  func writeCopy(
    of version: VersionState, to path: String, encryptionKey: [UInt8]?
  ) throws(EngineError) {
    var access = try FileAccess(options)
    access.key = if let encryptionKey { try EncryptionKey(encryptionKey) } else { nil }
    guard !Syscalls.isTaken(path) else { throw .fileExists(path) }
    // The copy gets the same permissions as the database.
    let attributes = file == nil ? nil : Syscalls.attributes(path: backend.path)
    let new = try NewFile(
      path, suffix: Self.copySuffix, attributes: attributes,
      failpoint: options.newFileFailpoint)
    do throws(EngineError) {
      try NodeCopier.copy(version, to: new, cipher: try access.newCipher())
      try new.sync()
      // Before: nothing has the name. After: nothing, or the whole copy.
      try new.takeName()
      // After: the copy, always.
      try new.syncFolder()
    } catch {
      new.withdraw()
      throw error
    }
    new.backend.close()
  }

  /// Compacts a database that this handle alone has just opened, if its options request it.
  ///
  /// A disk too full for a second file does not make the open fail; other errors do.
  func compactOnLaunch(_ space: WriterSpace) throws(EngineError) {
    guard let wantsCompaction = options.shouldCompactOnLaunch, !options.readOnly else { return }
    let sector = UInt64(Layout.sectorSizeBytes)
    let unused = (space.map.freeSectorCount + space.map.pendingSectorCount) * sector
    let used = space.map.endSector * sector - unused
    guard wantsCompaction(space.fileSizeBytes, used) else { return }
    do throws(EngineError) {
      _ = try compact()
    } catch {
      guard error.code == .noSpace else { throw error }
    }
  }
}

extension FileAccess {
  /// Seals the nodes of a new file under the key, with a new salt; nil without a key.
  fileprivate func newCipher() throws(EngineError) -> FileCipher? {
    guard let key else { return nil }
    return FileCipher(FileKeys(key, salt: try Salt(from: entropy)), entropy: entropy)
  }
}

extension Snapshot {
  /// Writes a compact copy of this version to a new file.
  /// - Parameters:
  ///   - path: The new file; the path must not exist.
  ///   - encryptionKey: The key of the copy, 64 bytes; nil for a copy in the clear.
  /// - Throws: `EngineError` as `Database.writeCopy(to:encryptionKey:)` does.
  /// - Complexity: O(bytes in use) time, memory for one buffer.
  ///
  /// Durability: as for `Database.writeCopy(to:encryptionKey:)`.
  public func writeCopy(to path: String, encryptionKey: [UInt8]?) throws(EngineError) {
    try check()
    try database.writeCopy(of: state, to: path, encryptionKey: encryptionKey)
  }
}
