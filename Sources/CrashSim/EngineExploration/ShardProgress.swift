// ShardProgress.swift: [U] the progress of a child that judges states, in a file that its parent
// reads when the child has died.
// Safety: buffers are passed to one system call each and not kept.

import CSystem
import Findings
import Glibc
import LabCore

/// A shard's progress; written by a child before each state, so that its parent knows the state at
/// which it died.
struct ShardProgress: Hashable {
  /// Ordinal of the current state.
  var ordinal = 0
  /// States judged before it.
  var states = 0
  /// States of recoveries judged before it.
  var recoveryStates = 0
  /// The current state of its recovery (`RecoveryPath`); empty for the state itself.
  var second = ""
  /// For faults of the medium: the results of earlier ones.
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

  /// Replaces the file's content.
  borrowing func write(_ progress: ShardProgress) {
    let media = progress.media
    let second = Array(progress.second.utf8)
    let words = [
      progress.ordinal, progress.states, progress.recoveryStates, media.detectedCount,
      media.unharmedCount, media.wentBackCount, second.count,
    ].map(Int64.init)
    // One call, so that a reader sees a step completely or not at all.
    let bytes = unsafe words.withUnsafeBytes { unsafe Array($0) } + second
    _ = unsafe bytes.withUnsafeBytes { bytes in
      unsafe pwrite(descriptor, bytes.baseAddress, bytes.count, 0)
    }
  }

  /// The file's content, or nil before the first write.
  borrowing func read() -> ShardProgress? {
    let wordsBytes = 7 * MemoryLayout<Int64>.size
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 65536) { buffer, count in
      count = unsafe max(0, pread(descriptor, buffer.baseAddress, buffer.count, 0))
    }
    guard bytes.count >= wordsBytes else { return nil }
    let words = unsafe bytes.withUnsafeBytes { bytes in
      (0..<7).map { unsafe Int(bytes.loadUnaligned(fromByteOffset: $0 * 8, as: Int64.self)) }
    }
    return ShardProgress(
      ordinal: words[0], states: words[1], recoveryStates: words[2],
      second: String(decoding: bytes.dropFirst(wordsBytes).prefix(max(0, words[6])), as: UTF8.self),
      media: MediaOutcome(
        detectedCount: words[3], unharmedCount: words[4], wentBackCount: words[5]))
  }
}
