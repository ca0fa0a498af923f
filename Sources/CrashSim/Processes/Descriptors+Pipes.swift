// Descriptors+Pipes.swift: [U] pipes to children, and what a child tells of its progress in a file.
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

/// How far a shard is; written by a child before each state, so that its parent knows the state in
/// which it died.
struct ShardProgress: Hashable {
  /// Place of the state that is judged now.
  var ordinal = 0
  /// States judged before it.
  var states = 0
  /// States of recoveries judged before it.
  var recoveryStates = 0
  /// Of faults of the medium: what came of those before it.
  var media = MediaOutcome()
}

/// A shard's progress in a file.
struct ProgressFile: ~Copyable {
  private let descriptor: Int32

  init(path: String) throws(LabError) {
    descriptor = unsafe csystem_open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .lab("open \(path): \(describe(errno: errno))") }
  }

  deinit { Glibc.close(descriptor) }

  /// Replaces what the file says.
  borrowing func write(_ progress: ShardProgress) {
    let media = progress.media
    let words = [
      progress.ordinal, progress.states, progress.recoveryStates, media.detectedCount,
      media.unharmedCount, media.wentBackCount,
    ].map(Int64.init)
    // One call, so that a reader sees all of a step or nothing of it.
    _ = unsafe words.withUnsafeBytes { bytes in
      unsafe pwrite(descriptor, bytes.baseAddress, bytes.count, 0)
    }
  }

  /// What the file says, or nil before anything was written.
  borrowing func read() -> ShardProgress? {
    var words = [Int64](repeating: 0, count: 6)
    let isWhole = unsafe words.withUnsafeMutableBytes { bytes in
      unsafe pread(descriptor, bytes.baseAddress, bytes.count, 0) == bytes.count
    }
    guard isWhole else { return nil }
    return ShardProgress(
      ordinal: Int(words[0]), states: Int(words[1]), recoveryStates: Int(words[2]),
      media: MediaOutcome(
        detectedCount: Int(words[3]), unharmedCount: Int(words[4]), wentBackCount: Int(words[5])))
  }
}
