// StandardStream.swift: [U] Faultline's output, to streams whose readers may close them.
// Invariants: a reader that has read enough (`faultline run --list | head -1`) ends the command
// quietly: further output is discarded, and long operations stop as after Ctrl-C. No error of a
// stream traps.
// Safety: the buffer is passed to one system call at a time and not kept.

import Glibc
import Synchronization

/// Standard output or standard error.
package enum StandardStream {
  case output
  case errors

  private static let isOutputLost = Atomic<Bool>(false)

  private var descriptor: Int32 {
    switch self {
    case .output: STDOUT_FILENO
    case .errors: STDERR_FILENO
    }
  }

  /// Writes text, completely if the stream has a reader.
  package func write(_ text: String) {
    if case .output = self, Self.isOutputLost.load(ordering: .relaxed) { return }
    let failure = Self.send(Array(text.utf8), to: descriptor)
    guard failure != 0, case .output = self else { return }
    Self.isOutputLost.store(true, ordering: .relaxed)
    if failure != EPIPE {
      let reason = ErrorNumber(failure)
      StandardStream.errors.write("faultline: cannot write to standard output: \(reason)\n")
    }
    Interruption.request()
  }

  /// Writes all bytes to a blocking or non-blocking descriptor.
  /// - Returns: The error number of the write that failed, or 0.
  static func send(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    unsafe bytes.withUnsafeBytes { buffer in
      var done = 0
      while done < buffer.count {
        let result = unsafe Glibc.write(
          descriptor, buffer.baseAddress.unsafelyUnwrapped + done, buffer.count - done)
        if result >= 0 {
          done += result
          continue
        }
        let failure = errno
        if failure == EAGAIN {
          var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          unsafe _ = poll(&waiting, 1, 1000)
        } else if failure != EINTR {
          return failure
        }
      }
      return 0
    }
  }
}
