// UnreadableBackend.swift: [U] a file of which the medium does not give one page: whoever touches
// it through the mapping gets SIGBUS, as with a disk that answers EIO.

import CSystem
import Glibc

@testable import Engine

/// A file with a page that cannot be read.
@safe final class UnreadableBackend: StorageBackend, @unchecked Sendable {
  // Safety: the test's thread alone uses it.
  let path: String
  private let descriptor: Int32
  /// Has no bytes, so every page that is mapped of it is behind its end.
  private let nothing: Int32
  /// The page that the next mapping will not give; nil for none.
  var page: Int?
  private(set) var writes = 0

  init(_ path: String) throws {
    self.path = path
    descriptor = try Syscalls.open(path).get()
    nothing = unsafe csystem_memfd_create("nothing", 0)
    guard nothing >= 0 else { throw Syscalls.Errno(errno) }
  }

  deinit {
    Syscalls.close(descriptor)
    Syscalls.close(nothing)
  }

  func sizeBytes() throws(EngineError) -> UInt64 { UInt64(fileSizeBytes(path)) }

  func write(_ bytes: UnsafeRawBufferPointer, at offsetBytes: UInt64) throws(EngineError) {
    writes += 1
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

  func sync() throws(EngineError) {}

  func map() throws(EngineError) -> MappedFile {
    let count = Int(try sizeBytes())
    let whole = unsafe mmap(nil, count, PROT_READ, MAP_SHARED, descriptor, 0)
    guard let whole = unsafe whole, unsafe whole != MAP_FAILED else {
      throw .syscall("mmap", path, errno: errno)
    }
    if let page, page * 4096 < count {
      let place = unsafe whole + page * 4096
      let hole = unsafe mmap(place, 4096, PROT_READ, MAP_SHARED | MAP_FIXED, nothing, 0)
      guard unsafe hole == place else { throw .syscall("mmap", path, errno: errno) }
    }
    return unsafe MappedFile(
      mapping: UnsafeRawBufferPointer(start: whole, count: count), of: path)
  }

  func close() {}
}
