// UnreadableBackend.swift: [U] a file of which the medium does not give one page: whoever touches
// it through the mapping gets SIGBUS, as with a disk that answers EIO.

import CSystem
import Glibc

@testable import Engine

/// A file with a page that cannot be read.
@safe final class UnreadableBackend: StorageBackend, @unchecked Sendable {
  // Safety: the test's thread alone uses it.
  private let file: FileBackend
  /// For the mapping.
  private let descriptor: Int32
  /// Has no bytes, so every page that is mapped of it is behind its end.
  private let nothing: Int32
  /// The latest mapping; its owner is whoever has it.
  private var latest = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
  /// The page that the next mapping will not give; nil for none.
  var page: Int?
  private(set) var writes = 0

  init(_ path: String) throws {
    descriptor = try Syscalls.open(path).get()
    file = try FileBackend(
      locking: try Syscalls.open(path).get(), opened: path, path: path, lock: .none)
    nothing = unsafe csystem_memfd_create("nothing", 0)
    guard nothing >= 0 else { throw Syscalls.Errno(errno) }
  }

  deinit {
    file.close()
    Syscalls.close(descriptor)
    Syscalls.close(nothing)
  }

  var path: String { file.path }

  func sizeBytes() throws(EngineError) -> UInt64 { try file.sizeBytes() }

  func write(_ bytes: UnsafeRawBufferPointer, at offsetBytes: UInt64) throws(EngineError) {
    writes += 1
    try unsafe file.write(bytes, at: offsetBytes)
  }

  func allocate(upTo sizeBytes: UInt64) throws(EngineError) {
    try file.allocate(upTo: sizeBytes)
  }

  func truncate(to sizeBytes: UInt64) throws(EngineError) { try file.truncate(to: sizeBytes) }

  func sync() throws(EngineError) { try file.sync() }

  func map() throws(EngineError) -> MappedFile {
    let count = Int(try sizeBytes())
    let whole = unsafe mmap(nil, count, PROT_READ, MAP_SHARED, descriptor, 0)
    guard let whole = unsafe whole, unsafe whole != MAP_FAILED else {
      throw .syscall("mmap", path, errno: errno)
    }
    unsafe latest = unsafe UnsafeRawBufferPointer(start: whole, count: count)
    if let page, page * 4096 < count { try lose(page) }
    return unsafe MappedFile(mapping: latest, of: path)
  }

  /// From now on the latest mapping has no bytes for a page.
  func lose(_ page: Int) throws(EngineError) {
    let place = unsafe UnsafeMutableRawPointer(mutating: latest.baseAddress.unsafelyUnwrapped)
    let hole = unsafe mmap(
      place + page * 4096, 4096, PROT_READ, MAP_SHARED | MAP_FIXED, nothing, 0)
    guard unsafe hole != MAP_FAILED else { throw .syscall("mmap", path, errno: errno) }
  }

  func close() {}
}
