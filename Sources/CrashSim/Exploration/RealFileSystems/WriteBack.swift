// WriteBack.swift: [U] makes the kernel do now, in a chosen order, what it does by itself some
// seconds later: write dirty pages, commit the journal.
// Safety: paths are passed to one system call each and not kept.

import CSystem
import Foundation
import Glibc
import LabCore

/// Kinds of writes that the kernel can be made to do.
package enum WriteBack {
  /// Writes everything of the file system at a path.
  /// - Throws: `LabError` when a call fails.
  package static func all(below path: String) throws(LabError) {
    try withDescriptor(path, O_RDONLY | O_DIRECTORY) { csystem_sync_file_system($0) }
  }

  /// Writes the data of all files below a directory, and commits no metadata.
  /// - Throws: `LabError` when a call fails.
  package static func dataOfFiles(in directory: String) throws(LabError) {
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: directory)) ?? []
    for name in names.sorted() {
      let path = "\(directory)/\(name)"
      if PathCalls.isDirectory(path) { continue }
      try withDescriptor(path, O_RDONLY) { csystem_write_out($0) }
    }
  }

  /// Commits the journal as a timer would: names and attributes become durable, and no data is
  /// written except what the file system itself ties to them.
  /// - Parameters:
  ///   - scratch: An otherwise unused file of the same file system; its sync forces the journal.
  ///   - kind: The file system.
  /// - Throws: `LabError` when a call fails.
  package static func journal(through scratch: String, of kind: KernelFileSystem.Kind)
    throws(LabError)
  {
    try withDescriptor(scratch, O_RDWR | O_CREAT) { descriptor in
      if kind == .btrfs { return csystem_commit_btrfs(descriptor) }
      // A change of its own adds the file to the running transaction.
      for mode: mode_t in [0o640, 0o600] where fchmod(descriptor, mode) != 0 { return -1 }
      return fsync(descriptor)
    }
  }

  private static func withDescriptor(
    _ path: String, _ flags: Int32, _ body: (Int32) -> Int32
  ) throws(LabError) {
    let descriptor = unsafe csystem_open(path, flags | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .lab("open \(path): \(describe(errno: errno))") }
    defer { Glibc.close(descriptor) }
    guard body(descriptor) == 0 else {
      throw .lab("writing back \(path): \(describe(errno: errno))")
    }
  }
}
