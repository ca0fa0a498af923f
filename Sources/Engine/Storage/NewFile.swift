// NewFile.swift: a database file in the making: it has a temporary name until it is whole.
// Order: make, write, sync, give it its name, sync the folder. So whatever has the final name is
// whole and durable, at any crash; a temporary file is a left-over that anybody may remove who
// finds its lock free. Invariants: the file is locked from its making on, and its lock goes with it
// when it gets its name; a left-over is removed, never emptied, since it may have the final name as
// well (see Syscalls.renameToFree).

/// The steps of making a file, in their order, for failpoints.
package enum NewFileStep: Int, CaseIterable, Sendable {
  /// The temporary file is made and locked.
  case create
  /// Content goes to it; once per piece.
  case write
  /// The content becomes durable.
  case sync
  /// The file is read back as an open would.
  case read
  /// It gets its name.
  case name
  /// The name becomes durable.
  case syncFolder
}

/// Called before each step; what it throws is the step's failure.
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
  ///   - suffix: What the temporary name has behind that.
  ///   - attributes: Mode and owner; nil for those that any new file gets.
  ///   - failpoint: Called before each step.
  /// - Throws: `EngineError` with code `.locked` when somebody else is making the file, `.io` or
  ///   `.noSpace`.
  init(
    _ target: String, suffix: String, attributes: FileAttributes?, failpoint: NewFileFailpoint?
  ) throws(EngineError) {
    self.target = target
    self.failpoint = failpoint
    temporary = target + suffix
    try failpoint?(.create)
    // Nobody else looks into it before it has the mode of what it stands for.
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
        // Before it was locked, somebody may have taken it for a left-over.
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
  /// Durability: none before `syncFolder`: a crash leaves the old file or this one, both whole.
  func replaceTarget() throws(EngineError) {
    try failpoint?(.name)
    if let failure = Syscalls.rename(temporary, to: target) {
      throw .syscall("rename", temporary, errno: failure.number)
    }
  }

  /// Takes the name `target`, which must be free.
  /// - Throws: `EngineError` with code `.fileExists` when it is not.
  ///
  /// Durability: none before `syncFolder`: a crash leaves nothing or this file, whole.
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
