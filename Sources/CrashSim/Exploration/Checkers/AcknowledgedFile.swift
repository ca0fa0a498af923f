// AcknowledgedFile.swift: [U] the file in which a checker finds what was acknowledged.
// Safety: a buffer is passed to one system call and not kept.

import CSystem
import Glibc
import LabCore

/// Writes such files.
enum AcknowledgedFile {
  /// Replaces the content of a file.
  /// - Throws: `LabError` naming the path when a call fails.
  static func write(_ bytes: [UInt8], to path: String) throws(LabError) {
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
    let descriptor = unsafe csystem_open(path, flags, 0o600)
    guard descriptor >= 0 else { throw .lab("open \(path): \(describe(errno: errno))") }
    defer { Glibc.close(descriptor) }
    let count = unsafe bytes.withUnsafeBytes { buffer in
      unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
    }
    guard count == bytes.count else { throw .lab("write \(path): \(describe(errno: errno))") }
  }
}
