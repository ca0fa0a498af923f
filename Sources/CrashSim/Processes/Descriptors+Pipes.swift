// Descriptors+Pipes.swift: [U] pipes to children, and a word that parent and child share through a
// file.
// Safety: buffers are passed to one system call each and not kept.

import CSystem
import Glibc

extension Descriptors {
  /// A pipe, closed on exec: read end, write end.
  static func makePipe() throws(ErrorNumber) -> (Int32, Int32) {
    var pair: [Int32] = [-1, -1]
    guard unsafe csystem_pipe(&pair, 0) == 0 else { throw lastError() }
    return (pair[0], pair[1])
  }

  /// An empty file to write to; -1 when it cannot be made.
  static func create(_ path: String) -> Int32 {
    unsafe csystem_open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
  }
}

/// A number in a file, written by a child before each step, so that its parent knows the step in
/// which it died.
struct ProgressFile: ~Copyable {
  private let descriptor: Int32

  init(path: String) throws(LabError) {
    descriptor = unsafe csystem_open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .lab("open \(path): \(describe(errno: errno))") }
  }

  deinit { Glibc.close(descriptor) }

  /// Replaces the number.
  borrowing func write(_ number: Int) {
    var word = Int64(number)
    _ = unsafe pwrite(descriptor, &word, MemoryLayout<Int64>.size, 0)
  }

  /// The number, or nil before the first was written.
  borrowing func read() -> Int? {
    var word: Int64 = 0
    let count = unsafe pread(descriptor, &word, MemoryLayout<Int64>.size, 0)
    return count == MemoryLayout<Int64>.size ? Int(word) : nil
  }
}
