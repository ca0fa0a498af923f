// FileBackend.swift [U]: the storage backend over a file of the operating system. Invariant: a lock
// on the whole file is held for as long as the backend is open: exclusive by an engine that does
// not share the file, shared by members of one lock file. It is on a separate descriptor, since a
// mapping would keep it, and a child of fork closes that descriptor.

import Synchronization

/// The storage backend over a real file.
final class FileBackend: StorageBackend {
  let path: String
  private let readsAhead: Bool
  // Changed by `adopt` only, while no other thread uses the backend.
  private let openFiles: Atomic<UInt64>
  private let generation = Syscalls.forkGeneration
  private let isOpen = Atomic<Bool>(true)

  /// Takes over a descriptor that is open for reading and writing, and locks its file.
  /// - Parameters:
  ///   - descriptor: The file; closed when the call fails.
  ///   - opened: The path it was opened at.
  ///   - path: Names the file in messages.
  ///   - lock: Exclusive excludes every other engine, shared only those that want exclusive access.
  ///   - readsAhead: Whether the kernel reads what is near a page of a mapping.
  /// - Throws: `EngineError` with code `.locked` when a conflicting lock is held, or the path now
  ///   leads to another file.
  init(
    locking descriptor: Int32, opened: String, path: String, lock: LockKind,
    readsAhead: Bool = true
  ) throws(EngineError) {
    // A shared lock would be enough for a reader, but an exclusive one needs a writable descriptor.
    let lockDescriptor: Int32
    switch Syscalls.open(opened, writable: lock == .exclusive) {
    case .success(let second): lockDescriptor = second
    case .failure(let failure):
      Syscalls.close(descriptor)
      guard failure == .noSuchFile else { throw .syscall("open", path, errno: failure.number) }
      throw EngineError(code: .locked, message: "\(path) was replaced by others; open again")
    }
    guard Syscalls.closeAfterFork(lockDescriptor) else {
      Syscalls.close(descriptor)
      Syscalls.close(lockDescriptor)
      throw EngineError(code: .limit, message: "no memory to open \(path)")
    }
    openFiles = Atomic(Self.packed(descriptor, lockDescriptor))
    self.path = path
    self.readsAhead = readsAhead
    let isSame: Bool
    do throws(EngineError) {
      isSame =
        try FileIdentity.of(lockDescriptor, path) == FileIdentity.of(descriptor, path)
    } catch {
      close()
      throw error
    }
    let failure = Syscalls.lock(lockDescriptor, lock, from: 0, count: 0)
    guard isSame, failure == nil else {
      close()
      if let failure, failure != .wouldBlock, failure != .accessDenied {
        throw .syscall("fcntl(F_OFD_SETLK)", path, errno: failure.number)
      }
      throw EngineError(
        code: .locked,
        message: "\(path) is open in another process or another handle of this one that does not "
          + "share it; close it there (fuser \(path) names the process) and open again",
        errno: failure?.number)
    }
    // A failed sync of an earlier process can leave clean pages that never reached the medium. The
    // root slots must be read from the medium, or a lost slot would count as durable. Members of a
    // running session read no slots, and a failed sync poisons the whole session.
    if lock == .exclusive {
      Syscalls.forgetCache(descriptor, from: 0, count: UInt64(Layout.headerSizeBytes))
    }
  }

  private static func packed(_ descriptor: Int32, _ lockDescriptor: Int32) -> UInt64 {
    UInt64(UInt32(bitPattern: descriptor)) | UInt64(UInt32(bitPattern: lockDescriptor)) << 32
  }

  private var descriptor: Int32 {
    Int32(truncatingIfNeeded: openFiles.load(ordering: .acquiring))
  }

  private var lockDescriptor: Int32 {
    Int32(truncatingIfNeeded: openFiles.load(ordering: .acquiring) >> 32)
  }

  /// Takes over the file and the lock of another backend, which is closed afterwards, and releases
  /// its own.
  ///
  /// No other thread may be in a call of either backend. Mappings do not change.
  func adopt(_ other: FileBackend) {
    precondition(other.isOpen.load(ordering: .relaxed), "a closed backend has no file")
    let theirs = other.openFiles.load(ordering: .relaxed)
    let ours = openFiles.exchange(theirs, ordering: .acquiringAndReleasing)
    other.openFiles.store(ours, ordering: .releasing)
    other.close()
  }

  /// From exclusive to shared, in one step.
  func shareLock() throws(EngineError) {
    if let failure = Syscalls.lock(lockDescriptor, .shared, from: 0, count: 0) {
      throw .syscall("fcntl(F_OFD_SETLK)", path, errno: failure.number)
    }
  }

  deinit {
    close()
  }

  /// Which file it is.
  /// - Throws: `EngineError` with code `.io` when the system call fails.
  func identity() throws(EngineError) -> FileIdentity {
    try FileIdentity.of(descriptor, path)
  }

  func sizeBytes() throws(EngineError) -> UInt64 {
    switch Syscalls.sizeBytes(descriptor) {
    case .success(let size): return size
    case .failure(let failure): throw .syscall("fstat", path, errno: failure.number)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offsetBytes: UInt64) throws(EngineError) {
    if let failure = unsafe Syscalls.write(descriptor, bytes, at: offsetBytes) {
      throw .syscall("pwrite", path, errno: failure.number)
    }
  }

  func allocate(upTo sizeBytes: UInt64) throws(EngineError) {
    if let failure = Syscalls.allocate(descriptor, upTo: sizeBytes) {
      throw .syscall("posix_fallocate", path, errno: failure.number)
    }
  }

  func truncate(to sizeBytes: UInt64) throws(EngineError) {
    if let failure = Syscalls.truncate(descriptor, to: sizeBytes) {
      throw .syscall("ftruncate", path, errno: failure.number)
    }
  }

  func forgetCache(at offsetBytes: UInt64, count: UInt64) {
    Syscalls.forgetCache(descriptor, from: offsetBytes, count: count)
  }

  func sync() throws(EngineError) {
    // fdatasync covers the size too: without it the data could not be read back (fdatasync(2)).
    if let failure = Syscalls.sync(descriptor) {
      throw .syscall("fdatasync", path, errno: failure.number)
    }
  }

  /// Forces everything to the medium, mode and owner included.
  func syncAll() throws(EngineError) {
    if let failure = Syscalls.syncAll(descriptor) {
      throw .syscall("fsync", path, errno: failure.number)
    }
  }

  func set(_ attributes: FileAttributes) -> Syscalls.Errno? {
    Syscalls.set(attributes, of: descriptor)
  }

  func map() throws(EngineError) -> MappedFile {
    switch Syscalls.map(
      descriptor, sizeBytes: try sizeBytes(), path: path, readsAhead: readsAhead)
    {
    case .success(let mapping): return mapping
    case .failure(let failure): throw .syscall("mmap", path, errno: failure.number)
    }
  }

  /// Empties the file; only for what is left of an unfinished creation.
  func removeContent() throws(EngineError) {
    if let failure = Syscalls.truncate(descriptor, to: 0) {
      throw .syscall("ftruncate", path, errno: failure.number)
    }
  }

  func close() {
    guard isOpen.exchange(false, ordering: .relaxed) else { return }
    Syscalls.close(descriptor)
    // A child of fork has closed its copy already, and the number may be another file's there.
    guard generation == Syscalls.forkGeneration else { return }
    _ = Syscalls.lock(lockDescriptor, .none, from: 0, count: 0)
    Syscalls.closeKept(lockDescriptor)
  }
}
