// NewFile.swift: creates a database file, which has a temporary name until it is complete. Order:
// create, write, sync, rename, sync the folder. So a file with the final name is complete and
// durable after any crash; a temporary file is a leftover that any process may remove if it is not
// locked. Invariants: the file is locked from its creation on, and stays locked across the rename;
// a leftover is removed, never emptied, since it may have the final name as well (see
// Syscalls.renameToFree).

/// The steps of making a file, in their order, for failpoints.
package enum NewFileStep: Int, CaseIterable, Sendable {
  /// The temporary file is created and locked.
  case create
  /// Content is written to it; once per piece.
  case write
  /// The content becomes durable.
  case sync
  /// The file is read back as an open would.
  case read
  /// It is renamed to its final name.
  case name
  /// The name becomes durable.
  case syncFolder
}

/// Called before each step; if it throws, the step fails with that error.
package typealias NewFileFailpoint = @Sendable (NewFileStep) throws(EngineError) -> Void

/// A file that becomes `target`.
struct NewFile {
  let backend: FileBackend
  let temporary: String
  let target: String
  let failpoint: NewFileFailpoint?

  /// Rounds in which others may make or remove the temporary file between our calls.
  private static let attemptsMax = 100

  /// Makes the temporary file.
  /// - Parameters:
  ///   - target: The name that the file will have; without links.
  ///   - suffix: The suffix of the temporary name.
  ///   - attributes: Mode and owner; nil for the defaults of a new file.
  ///   - failpoint: Called before each step.
  /// - Throws: `EngineError` with code `.locked` when another process is creating the file, `.io`
  ///   or `.noSpace`.
  init(
    _ target: String, suffix: String, attributes: FileAttributes?, failpoint: NewFileFailpoint?
  ) throws(EngineError) {
    self.target = target
    self.failpoint = failpoint
    temporary = target + suffix
    try failpoint?(.create)
    // No other user may open it before it has the mode of the file that it replaces.
    backend = try Self.create(temporary, for: target, mode: attributes == nil ? 0o644 : 0o600)
    if let attributes, let failure = backend.set(attributes) {
      discard()
      throw .syscall("fchmod", temporary, errno: failure.number)
    }
  }

  private static func create(
    _ temporary: String, for target: String, mode: UInt32
  ) throws(EngineError) -> FileBackend {
    for _ in 0..<attemptsMax {
      switch Syscalls.create(temporary, mode: mode) {
      case .success(let descriptor):
        let backend = try FileBackend(
          locking: descriptor, opened: temporary, path: target, lock: .exclusive)
        // Before it was locked, another process may have removed it as a leftover.
        do throws(EngineError) {
          if try backend.identity() == FileIdentity.at(temporary) { return backend }
        } catch {
          backend.close()
          throw error
        }
        backend.close()
      case .failure(.exists): try removeLeftOver(temporary)
      case .failure(let failure): throw .syscall("open", temporary, errno: failure.number)
      }
    }
    throw EngineError(
      code: .locked, message: "\(temporary) is being made or removed by others; try again later")
  }

  private static func removeLeftOver(_ temporary: String) throws(EngineError) {
    let descriptor: Int32
    switch Syscalls.open(temporary) {
    case .success(let opened): descriptor = opened
    case .failure(.noSuchFile): return
    case .failure(let failure): throw .syscall("open", temporary, errno: failure.number)
    }
    let leftOver = try FileBackend(
      locking: descriptor, opened: temporary, path: temporary, lock: .exclusive)
    defer { leftOver.close() }
    guard try leftOver.identity() == FileIdentity.at(temporary) else { return }
    if let failure = Syscalls.unlink(temporary), failure != .noSuchFile {
      throw .syscall("unlink", temporary, errno: failure.number)
    }
  }

  /// Writes bytes, whole sectors.
  ///
  /// Durability: none before `sync`.
  func write(_ bytes: [UInt8], at offsetBytes: Int) throws(EngineError) {
    try failpoint?(.write)
    try backend.write(bytes, at: offsetBytes)
  }

  /// Durability: the content survives any crash when the call returns, under the temporary name or
  /// none.
  func sync() throws(EngineError) {
    try failpoint?(.sync)
    try backend.syncAll()
  }

  /// The content as the next open will see it.
  func map() throws(EngineError) -> MappedFile {
    try failpoint?(.read)
    return try backend.map()
  }

  /// Takes the place of the file at `target`.
  ///
  /// Durability: none before `syncFolder`: a crash leaves the old file or this one, complete.
  func replaceTarget() throws(EngineError) {
    try failpoint?(.name)
    if let failure = Syscalls.rename(temporary, to: target) {
      throw .syscall("rename", temporary, errno: failure.number)
    }
  }

  /// Takes the name `target`, which must be free.
  /// - Throws: `EngineError` with code `.fileExists` when it is not.
  ///
  /// Durability: none before `syncFolder`: a crash leaves no file or this one, complete.
  func takeName() throws(EngineError) {
    try failpoint?(.name)
    switch Syscalls.renameToFree(temporary, to: target) {
    case nil: return
    case .exists?: throw .fileExists(target)
    case let failure?: throw .syscall("renameat2", temporary, errno: failure.number)
    }
  }

  /// Durability: the file has its name after any crash when the call returns.
  func syncFolder() throws(EngineError) {
    try failpoint?(.syncFolder)
    if let failure = Syscalls.syncDirectory(of: target) {
      throw .syscall("fsync of the folder", target, errno: failure.number)
    }
  }

  /// Removes the temporary file.
  func discard() {
    remove(temporary)
    backend.close()
  }

  /// Removes the file that took a free name.
  func withdraw() {
    remove(target)
    discard()
  }

  /// Takes a name away from the file, when it is its own.
  private func remove(_ name: String) {
    let own = try? backend.identity()
    guard let own, own == (try? FileIdentity.at(name)) else { return }
    _ = Syscalls.unlink(name)
  }
}
