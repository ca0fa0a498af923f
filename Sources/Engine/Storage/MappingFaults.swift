// MappingFaults.swift [U]: whether every page of a mapping could be read. A page that the medium
// does not give, or that lies behind the end of a file that somebody cut, reads as zeros (CSystem,
// MappingFaults.c), so nothing that was read counts before it was asked for here.

import CSystem
import Synchronization

/// The faults of one mapping.
@safe struct MappingFaults: @unchecked Sendable {
  // Safety: entries are never freed; `end` runs once, when nobody reads the mapping any more.
  private let fault: UnsafePointer<Atomic<UInt64>>
  private let path: String

  /// Begins to watch a mapping; nil without memory, when a fault ends the process as it would have.
  @unsafe init?(watching buffer: UnsafeRawBufferPointer, path: String) {
    guard let word = unsafe csystem_watch_mapping(buffer.baseAddress, buffer.count) else {
      return nil
    }
    unsafe fault = unsafe UnsafeRawPointer(word).assumingMemoryBound(to: Atomic<UInt64>.self)
    self.path = path
  }

  /// Whether a page could not be read.
  @inline(__always)
  var isFaulty: Bool { unsafe fault.pointee.load(ordering: .acquiring) != 0 }

  /// What the first fault was; nil when there was none.
  var error: EngineError? {
    let fault = unsafe fault.pointee.load(ordering: .acquiring)
    guard fault != 0 else { return nil }
    return EngineError(
      code: .io,
      message: "\(path) could not be read at offset \(fault - 1): the medium failed, or somebody "
        + "cut the file; close the database, and open it again when the cause is gone",
      errno: Syscalls.Errno.io.number)
  }

  func end() {
    unsafe csystem_unwatch_mapping(UnsafeRawPointer(fault).assumingMemoryBound(to: UInt64.self))
  }
}
