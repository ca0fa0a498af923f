// LockFile.swift: `path.lock`: which handles have the database open, and the memory that they
// share. Invariants: a member holds shared locks on bytes 0 and 1 until it closes. Only an opener
// that holds byte 0 exclusively, and so is alone, rewrites the file, whatever its content (E8).
// Byte 1 is taken after the content was written or found right: so an opener that holds byte 0 and
// sees a lock on byte 1 knows that the content is of this session. The descriptor with the locks is
// never mapped (a mapping would keep them alive) and a child of fork closes it at once.
//   byte  lock
//      0  session: shared by members, exclusive for the first opener and for `tryExclusive`
//      1  member: shared by those whose content is right
//      2  exclusive for long: who finds it taken need not wait
//    3-4  entry and writer, see WriterLock

/// The lock file of a database, open and locked.
struct LockFile: Sendable {
  private static let sessionByte = 0
  private static let memberByte = 1
  private static let longByte = 2
  /// How long an opener waits for a busy handle that has exclusive access.
  static let openTimeoutMilliseconds = 5000

  let path: String
  let descriptor: Int32

  static func path(for database: String) -> String { database + ".lock" }

  /// Opens the file, and creates it if it is missing.
  /// - Parameters:
  ///   - database: The path of the data file.
  ///   - isForReading: Whether the file system may be one that is not written.
  /// - Returns: The file; nil on a file system that is mounted for reading only.
  /// - Throws: `EngineError` with code `.io`, `.noSpace` or `.limit`.
  static func open(
    for database: String, isForReading: Bool
  ) throws(EngineError) -> LockFile? {
    let path = path(for: database)
    switch Syscalls.open(path, creating: true) {
    case .failure(.readOnlyFileSystem) where isForReading: return nil
    case .failure(let failure): throw .syscall("open", path, errno: failure.number)
    case .success(let descriptor):
      guard Syscalls.closeAfterFork(descriptor) else {
        Syscalls.close(descriptor)
        throw EngineError(code: .limit, message: "no memory to open \(path)")
      }
      return LockFile(path: path, descriptor: descriptor)
    }
  }

  /// Opens the file on a read-only mount, and excludes processes that may write through another
  /// mount: they could not see this reader's pins.
  /// - Returns: The file; nil when there is none, which means that no process has the database
  ///   open.
  /// - Throws: `EngineError` with code `.locked` when others have it open.
  static func guarding(_ database: String) throws(EngineError) -> LockFile? {
    let path = path(for: database)
    switch Syscalls.open(path, writable: false) {
    case .failure(.noSuchFile): return nil
    case .failure(let failure): throw .syscall("open", path, errno: failure.number)
    case .success(let descriptor):
      guard Syscalls.closeAfterFork(descriptor) else {
        Syscalls.close(descriptor)
        throw EngineError(code: .limit, message: "no memory to open \(path)")
      }
      let file = LockFile(path: path, descriptor: descriptor)
      do throws(EngineError) {
        let isIn =
          try file.take(.shared, sessionByte)
          && !Syscalls.isLockedByOther(descriptor, from: memberByte, count: 1)
        if isIn, try file.take(.shared, longByte) { return file }
      } catch {
        file.close()
        throw error
      }
      file.close()
      throw EngineError(
        code: .locked,
        message: "\(path): others have the database open through a mount that can be written; "
          + "close it there, or open it through that mount")
    }
  }

  /// Whether the path still leads to this file.
  /// - Throws: `EngineError` with code `.io` when the system call fails.
  func isInPlace() throws(EngineError) -> Bool {
    try FileIdentity.of(descriptor, path) == FileIdentity.at(path)
  }

  /// How an opener joined.
  enum Entry {
    /// Alone: the caller has to write the file, then `becomeMember()` admits others.
    case alone
    /// Others have the database open, and their shared memory is valid.
    case joined
  }

  /// Waits until this opener is alone, or a member among others.
  /// - Throws: `EngineError` with code `.locked` when one handle has exclusive access.
  func enter() throws(EngineError) -> Entry {
    let deadline = Deadline(milliseconds: Self.openTimeoutMilliseconds)
    while true {
      if try take(.exclusive, Self.sessionByte) { return .alone }
      if try take(.shared, Self.sessionByte) {
        if Syscalls.isLockedByOther(descriptor, from: Self.memberByte, count: 1),
          try take(.shared, Self.memberByte)
        {
          return .joined
        }
        // The other holders are openers like this one, or have left: one of them has to become the
        // first.
        give(Self.sessionByte)
      }
      let isLong = Syscalls.isLockedByOther(descriptor, from: Self.longByte, count: 1)
      guard !isLong, let left = deadline.millisecondsLeft, left > 0 else {
        throw EngineError(
          code: .locked,
          message: "\(path): another handle keeps all others out; close it there (fuser "
            + "\(path) names the process) and open again")
      }
      // The first opener only reads one free list, so the wait is short; it depends on the process
      // number, so that two waiters do not stay in step.
      Syscalls.sleep(milliseconds: 1 + Int(Syscalls.threadID) % 3)
    }
  }

  /// From alone to a member among others, in one step.
  func becomeMember() throws(EngineError) {
    guard try take(.shared, Self.memberByte), try take(.shared, Self.sessionByte) else {
      throw EngineError(code: .io, message: "\(path): a lock that is held could not be shared")
    }
  }

  /// From a member to the only one; false when others are here.
  func tryExclusive(forLong: Bool) -> Bool {
    guard Syscalls.lock(descriptor, .exclusive, from: Self.sessionByte, count: 1) == nil else {
      return false
    }
    if forLong { _ = Syscalls.lock(descriptor, .exclusive, from: Self.longByte, count: 1) }
    return true
  }

  func endExclusive() {
    give(Self.longByte)
    _ = Syscalls.lock(descriptor, .shared, from: Self.sessionByte, count: 1)
  }

  /// Releases all locks and closes the file.
  func close() {
    for byte in 0...WriterLock.writerByte { give(byte) }
    Syscalls.closeKept(descriptor)
  }

  private func give(_ byte: Int) {
    _ = Syscalls.lock(descriptor, .none, from: byte, count: 1)
  }

  private func take(_ kind: LockKind, _ byte: Int) throws(EngineError) -> Bool {
    guard let failure = Syscalls.lock(descriptor, kind, from: byte, count: 1) else { return true }
    if failure == .wouldBlock || failure == .accessDenied { return false }
    throw .syscall("fcntl(F_OFD_SETLK)", path, errno: failure.number)
  }

  /// Empties the file and maps it: its old content is lost.
  func makeRegion() throws(EngineError) -> SharedRegion {
    if let failure = Syscalls.truncate(descriptor, to: 0)
      ?? Syscalls.truncate(descriptor, to: UInt64(RegionLayout.sizeBytes))
    {
      throw .syscall("ftruncate", path, errno: failure.number)
    }
    try allocate(slotCount: RegionLayout.slotCountMin)
    return try map()
  }

  /// Maps the memory that the members share, if it has this engine's layout.
  /// - Throws: `EngineError` with code `.incompatible`.
  func joinRegion(namespaceID: UInt64) throws(EngineError) -> SharedRegion {
    let size = Syscalls.sizeBytes(descriptor)
    guard case .success(let sizeBytes) = size else {
      throw EngineError(code: .io, message: "fstat failed on \(path)")
    }
    guard sizeBytes == UInt64(RegionLayout.sizeBytes) else {
      throw Self.incompatible(
        "\(path): lock_file_bytes=\(sizeBytes) != \(RegionLayout.sizeBytes)")
    }
    let region = try map()
    let magic = region.load(RegionLayout.magicOffset)
    let layout = region.load(RegionLayout.layoutOffset)
    guard magic == RegionLayout.magic, layout == RegionLayout.layoutWord else {
      throw Self.incompatible(
        "\(path): layout_version=\(layout & 0xffff_ffff) slot_bytes=\(layout >> 32), this engine "
          + "has \(RegionLayout.version) and \(RegionLayout.slotSizeBytes)")
    }
    let namespace = region.load(RegionLayout.namespaceOffset)
    guard namespace == namespaceID else {
      throw Self.incompatible(
        "\(path): pid_namespace=\(namespaceID) != \(namespace); processes of other containers "
          + "cannot see which readers are alive")
    }
    return region
  }

  private static func incompatible(_ message: String) -> EngineError {
    EngineError(
      code: .incompatible,
      message: message + "; close the database in the processes that have it open")
  }

  private var replaced: EngineError {
    EngineError(code: .locked, message: "\(path) was replaced; open again")
  }

  /// A separate file description for the mapping, so that no mapping holds our locks.
  private func map() throws(EngineError) -> SharedRegion {
    let mapped: Int32
    switch Syscalls.open(path) {
    case .success(let opened): mapped = opened
    case .failure(.noSuchFile): throw replaced
    case .failure(let failure): throw .syscall("open", path, errno: failure.number)
    }
    defer { Syscalls.close(mapped) }
    guard try FileIdentity.of(mapped, path) == FileIdentity.of(descriptor, path) else {
      throw replaced
    }
    let region = try SharedRegion(descriptor: mapped, path: path)
    try region.touch(
      0..<RegionLayout.sizeBytes(slotCount: RegionLayout.slotCountMin), path: path)
    return region
  }

  /// Allocates disk space for the slots, so that a full disk is an error here and not a signal
  /// later.
  func allocate(slotCount: Int) throws(EngineError) {
    let size = RegionLayout.sizeBytes(slotCount: slotCount)
    if let failure = Syscalls.allocate(descriptor, from: 0, count: size) {
      throw .syscall("posix_fallocate", path, errno: failure.number)
    }
  }
}
