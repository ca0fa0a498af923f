// Syscalls.swift [U]: the only caller of libc in the engine. Safety: pointers passed to the kernel
// are valid during the call; mappings are owned by MappedFile.

import CSystem
import Glibc

/// The system calls of the engine.
enum Syscalls {
  static func open(
    _ path: String, creating: Bool = false, writable: Bool = true
  ) -> Result<Int32, Errno> {
    let flags = (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | (creating ? O_CREAT : 0)
    while true {
      let fd = unsafe csystem_open(path, flags, 0o644)
      if fd >= 0 { return .success(fd) }
      if errno != EINTR { return .failure(Errno(errno)) }
    }
  }

  static func close(_ fd: Int32) {
    _ = Glibc.close(fd)
  }

  static func sizeBytes(_ fd: Int32) -> Result<UInt64, Errno> {
    var status = stat()
    guard unsafe fstat(fd, &status) == 0 else { return .failure(Errno(errno)) }
    return .success(UInt64(status.st_size))
  }

  static func identity(_ fd: Int32) -> Result<FileIdentity, Errno> {
    var status = stat()
    guard unsafe fstat(fd, &status) == 0 else { return .failure(Errno(errno)) }
    return .success(
      FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)))
  }

  static func identity(path: String) -> Result<FileIdentity, Errno> {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return .failure(Errno(errno)) }
    return .success(
      FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)))
  }

  /// Writes everything; a short write is continued where it stopped.
  static func write(
    _ fd: Int32, _ bytes: UnsafeRawBufferPointer, at offsetBytes: UInt64
  ) -> Errno? {
    var done = 0
    while done < bytes.count {
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
      let written = unsafe pwrite(
        fd, rest.baseAddress, rest.count, off_t(offsetBytes) + off_t(done))
      if written > 0 {
        done += written
      } else if written == 0 {
        return Errno(EIO)
      } else if errno != EINTR {
        return Errno(errno)
      }
    }
    return nil
  }

  static func allocate(_ fd: Int32, upTo sizeBytes: UInt64) -> Errno? {
    while true {
      let failure = posix_fallocate(fd, 0, off_t(sizeBytes))
      if failure == 0 { return nil }
      if failure != EINTR { return Errno(failure) }
    }
  }

  static func truncate(_ fd: Int32, to sizeBytes: UInt64) -> Errno? {
    while true {
      if ftruncate(fd, off_t(sizeBytes)) == 0 { return nil }
      if errno != EINTR { return Errno(errno) }
    }
  }

  /// Never repeated, not even after EINTR: the state after a failed sync is unknown.
  static func sync(_ fd: Int32) -> Errno? {
    fdatasync(fd) == 0 ? nil : Errno(errno)
  }

  static func syncDirectory(of path: String) -> Errno? {
    let directory: String
    if let slash = path.lastIndex(of: "/") {
      directory = slash == path.startIndex ? "/" : String(path[..<slash])
    } else {
      directory = "."
    }
    let fd = unsafe csystem_open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    guard fd >= 0 else { return Errno(errno) }
    defer { close(fd) }
    return fsync(fd) == 0 ? nil : Errno(errno)
  }

  static func rename(_ from: String, to: String) -> Errno? {
    unsafe Glibc.rename(from, to) == 0 ? nil : Errno(errno)
  }

  static func unlink(_ path: String) -> Errno? {
    unsafe Glibc.unlink(path) == 0 ? nil : Errno(errno)
  }

  /// Maps a file read-only; `path` names it in messages.
  static func map(
    _ fd: Int32, sizeBytes: UInt64, path: String, readsAhead: Bool = true
  ) -> Result<MappedFile, Errno> {
    let count = Int(sizeBytes)
    guard count > 0 else {
      return .success(unsafe MappedFile(UnsafeRawBufferPointer(start: nil, count: 0)) {})
    }
    guard let address = unsafe mmap(nil, count, PROT_READ, MAP_SHARED, fd, 0),
      unsafe address != MAP_FAILED
    else { return .failure(Errno(errno)) }
    if !readsAhead { _ = unsafe madvise(address, count, MADV_RANDOM) }
    return .success(
      unsafe MappedFile(mapping: UnsafeRawBufferPointer(start: address, count: count), of: path))
  }

  /// Takes a mapping away.
  static func unmap(_ start: UInt, count: Int) {
    _ = unsafe munmap(UnsafeMutableRawPointer(bitPattern: start), count)
  }

  /// Zeroed memory that is not backed by a file.
  static func mapMemory(sizeBytes: Int) -> Result<UnsafeMutableRawBufferPointer, Errno> {
    guard
      let address = unsafe mmap(
        nil, sizeBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      unsafe address != MAP_FAILED
    else { return unsafe .failure(Errno(errno)) }
    return unsafe .success(UnsafeMutableRawBufferPointer(start: address, count: sizeBytes))
  }

  static func unmapMemory(_ memory: UnsafeMutableRawBufferPointer) {
    _ = unsafe munmap(memory.baseAddress, memory.count)
  }

  /// An error number as an error.
  struct Errno: Error, Equatable {
    let number: Int32
    init(_ number: Int32) { self.number = number }
    static let noSuchFile = Errno(ENOENT)
    static let wouldBlock = Errno(EAGAIN)
    static let readOnlyFileSystem = Errno(EROFS)
    static let accessDenied = Errno(EACCES)
    static let io = Errno(EIO)
  }
}
