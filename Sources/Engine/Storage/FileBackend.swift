// FileBackend.swift [U]: the storage backend over a file of the operating system.
// Invariant: the descriptor holds an exclusive lock on the whole file for as long as it is open.

import Synchronization

/// The storage backend over a real file.
final class FileBackend: StorageBackend {
  let path: String
  private let descriptor: Int32
  private let isOpen = Atomic<Bool>(true)

  /// Takes over a descriptor that is open for reading and writing, and locks its file.
  /// - Throws: `EngineError` with code `.locked` when another process (or another handle of this
  ///   one) has the file open; the descriptor is closed then.
  init(locking descriptor: Int32, path: String) throws(EngineError) {
    if let failure = Syscalls.tryLock(descriptor) {
      Syscalls.close(descriptor)
      guard failure == .wouldBlock || failure == .accessDenied else {
        throw .syscall("fcntl(F_OFD_SETLK)", path, errno: failure.number)
      }
      throw EngineError(
        code: .locked,
        message: "\(path) is open in another process or another handle of this one; "
          + "close it there (fuser \(path) names the process) and open again",
        errno: failure.number)
    }
    self.descriptor = descriptor
    self.path = path
    // A failed sync of an earlier process can leave clean pages that the medium never got. The
    // root slots must be read from the medium, or a lost slot would count as durable.
    Syscalls.forgetCache(descriptor, from: 0, count: UInt64(Layout.headerSizeBytes))
  }

  deinit {
    close()
  }

  var identity: FileIdentity? { Syscalls.identity(descriptor) }

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

  func map() throws(EngineError) -> MappedFile {
    switch Syscalls.map(descriptor, sizeBytes: try sizeBytes()) {
    case .success(let mapping): return mapping
    case .failure(let failure): throw .syscall("mmap", path, errno: failure.number)
    }
  }

  /// Empties the file; only for the left-over of an unfinished creation.
  func removeContent() throws(EngineError) {
    if let failure = Syscalls.truncate(descriptor, to: 0) {
      throw .syscall("ftruncate", path, errno: failure.number)
    }
  }

  func close() {
    guard isOpen.exchange(false, ordering: .relaxed) else { return }
    // Mappings may live on, and would keep the lock with them (see CSystem.h).
    Syscalls.unlock(descriptor)
    Syscalls.close(descriptor)
  }
}
