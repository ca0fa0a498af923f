// MappingFaults.swift [U]: whether every page of a mapping could be read. A page that the medium
// cannot deliver, or that is beyond the end of a file truncated by another program, reads as zeros
// (CSystem, MappingFaults.c), so data read from the mapping is valid only after a check here.

import CSystem
import Synchronization

/// The faults of one mapping.
@safe struct MappingFaults: @unchecked Sendable {
  // Safety: entries are never freed; `end` runs once, when no thread reads the mapping any more.
  private let word: UnsafePointer<Atomic<UInt64>>

  /// For memory that is not watched: never reports a fault.
  static let none = unsafe MappingFaults(csystem_no_fault())

  private init(_ word: UnsafePointer<UInt64>) {
    unsafe self.word = unsafe UnsafeRawPointer(word).assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  /// Begins to watch a mapping; if memory for that cannot be allocated, the mapping is not watched,
  /// and a fault ends the process as usual.
  @unsafe init(watching buffer: UnsafeRawBufferPointer) {
    unsafe self.init(
      csystem_watch_mapping(buffer.baseAddress, buffer.count) ?? csystem_no_fault())
  }

  /// Whether a page could not be read.
  @inline(__always)
  var isAny: Bool { unsafe word.pointee.load(ordering: .acquiring) != 0 }

  /// What the first fault was; nil when there was none.
  /// - Parameter path: Names the file.
  /// - Returns: The error, with the offset of the page in bytes.
  func error(of path: String) -> EngineError? {
    let fault = unsafe word.pointee.load(ordering: .acquiring)
    guard fault != 0 else { return nil }
    return EngineError(
      code: .io,
      message: "\(path) could not be read at offset \(fault - 1): the disk failed, or another "
        + "cut the file; close the database, and open it again when the cause is gone",
      errno: Syscalls.Errno.io.number)
  }

  func end() {
    unsafe csystem_unwatch_mapping(UnsafeRawPointer(word).assumingMemoryBound(to: UInt64.self))
  }
}
