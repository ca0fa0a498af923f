// DatabaseFile.swift: from a path to a locked backend; creation under a temporary name. Invariant:
// a file at the path itself is always complete: it is created as `path.creating`, synced, renamed,
// and the directory is synced. Only the holder of the lock on `path.creating` renames or removes
// it, so two creators cannot replace each other's file.

enum DatabaseFile {
  private static let suffix = ".creating"
  /// Suffix of the file that a compaction writes.
  static let compactSuffix = ".compacting"
  /// Rounds in which others may create or remove the file between our calls.
  private static let attemptsMax = 100

  /// Opens the file for an engine that is alone, and creates it when it is missing.
  static func open(
    path: String, options: Database.Options
  ) throws(EngineError) -> FileBackend {
    for _ in 0..<attemptsMax {
      switch Syscalls.open(path, writable: !options.readOnly) {
      case .success(let descriptor):
        if let backend = try openExisting(descriptor, path, options) { return backend }
      case .failure(let failure):
        guard failure == .noSuchFile, options.createsMissing, !options.readOnly else {
          throw .syscall("open", path, errno: failure.number)
        }
        if let backend = try create(path, options) { return backend }
      }
    }
    throw EngineError(
      code: .locked, message: "\(path) is being created or replaced by others; try again later")
  }

  /// Opens the file that the other members of a session use.
  /// - Throws: `EngineError` with code `.locked` when the path leads to another file by now.
  static func join(
    path: String, options: Database.Options, identity: FileIdentity
  ) throws(EngineError) -> FileBackend {
    let descriptor: Int32
    switch Syscalls.open(path, writable: !options.readOnly) {
    case .success(let opened): descriptor = opened
    case .failure(.noSuchFile): throw replaced(path)
    case .failure(let failure): throw .syscall("open", path, errno: failure.number)
    }
    let backend = try FileBackend(
      locking: descriptor, opened: path, path: path, lock: .shared, readsAhead: options.readsAhead)
    do throws(EngineError) {
      guard try backend.identity() == identity else { throw replaced(path) }
      return backend
    } catch {
      backend.close()
      throw error
    }
  }

  private static func replaced(_ path: String) -> EngineError {
    EngineError(
      code: .locked,
      message: "\(path) was removed or replaced while others have the old file open; close it "
        + "there (fuser \(path).lock names the processes) and open again")
  }

  /// Locks an existing file; nil when it was replaced meanwhile.
  private static func openExisting(
    _ descriptor: Int32, _ path: String, _ options: Database.Options
  ) throws(EngineError) -> FileBackend? {
    let backend = try FileBackend(
      locking: descriptor, opened: path, path: path,
      lock: options.readOnly ? .shared : .exclusive, readsAhead: options.readsAhead)
    do throws(EngineError) {
      guard try backend.identity() == FileIdentity.at(path) else {
        backend.close()
        return nil
      }
    } catch {
      backend.close()
      throw error
    }
    // The database exists, so a file with the temporary name is a leftover that is not needed.
    if !options.readOnly {
      // Before: who created or compacted it may have died between the rename and the sync of the
      // folder, and a crash would leave the name to nothing, or to the file before. After: whatever
      // is committed from now on is found under this name. Who may not read the folder cannot sync
      // it, and did not create the file.
      let failure = Syscalls.syncDirectory(of: Syscalls.realPath(of: path))
      if let failure, failure != .accessDenied {
        backend.close()
        throw .syscall("fsync of the folder", path, errno: failure.number)
      }
      _ = Syscalls.unlink(path + suffix)
      _ = Syscalls.unlink(Syscalls.realPath(of: path) + compactSuffix)
    }
    return backend
  }

  /// Creates the database file; nil when another process did so meanwhile.
  private static func create(
    _ path: String, _ options: Database.Options
  ) throws(EngineError) -> FileBackend? {
    let access = try FileAccess(options)
    let temporary = path + suffix
    let descriptor: Int32
    switch Syscalls.open(temporary, creating: true) {
    case .success(let opened): descriptor = opened
    case .failure(let failure): throw .syscall("open", temporary, errno: failure.number)
    }
    let backend = try FileBackend(
      locking: descriptor, opened: temporary, path: path, lock: .exclusive,
      readsAhead: options.readsAhead)
    do throws(EngineError) {
      // The lock was free, but is this still the file that has the temporary name?
      guard try backend.identity() == FileIdentity.at(temporary) else {
        backend.close()
        return nil
      }
      // An error must not count as "missing": the rename would replace an existing database by an
      // empty one.
      guard try FileIdentity.at(path) == nil else {
        _ = Syscalls.unlink(temporary)
        backend.close()
        return nil
      }
      try backend.removeContent()
      // After: the empty database is durable under its temporary name.
      try CreationImage.create(
        on: backend, key: access.key, entropy: access.entropy, isTemporary: true)
      if let failure = Syscalls.rename(temporary, to: path) {
        throw .syscall("rename", temporary, errno: failure.number)
      }
      // Before: a crash leaves the temporary name or the real one. After: the real one.
      if let failure = Syscalls.syncDirectory(of: path) {
        throw .syscall("fsync of the folder", path, errno: failure.number)
      }
    } catch {
      backend.close()
      throw error
    }
    return backend
  }
}
