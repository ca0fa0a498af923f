// Descriptors+Pipes.swift: [U] pipes to children and files for their output.
// Safety: buffers are passed to one system call each and not kept.

import CSystem
import Glibc

extension Descriptors {
  /// A pipe, closed on exec: read end, write end.
  package static func makePipe() throws(ErrorNumber) -> (Int32, Int32) {
    var pair: [Int32] = [-1, -1]
    guard unsafe csystem_pipe(&pair, 0) == 0 else { throw lastError() }
    return (pair[0], pair[1])
  }

  /// A new empty file for writing; -1 when it cannot be created.
  package static func create(_ path: String) -> Int32 {
    unsafe csystem_open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
  }
}
