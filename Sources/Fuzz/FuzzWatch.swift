// FuzzWatch.swift: [U] ends this process with a line that names the input when one traps or hangs,
// and measures its memory use.
// Safety: the handlers call only write(2) and _exit(2); their output was prepared before the input
// ran, by the only thread.

import Glibc

/// The line that a handler prints, without its first word.
nonisolated(unsafe) private let line = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
nonisolated(unsafe) private var lineCount = 0

package enum FuzzWatch {
  /// Far more than any input takes, even in a debug build on a busy machine.
  package static let secondsMax: UInt32 = 30
  /// Limit of one input's addition to the process's peak memory; files have at most 128 KiB.
  package static let growthBytesMax = 64 << 20

  /// Sets the name of the next input, and starts its time limit.
  package static func announce(_ what: String) {
    let text = Array(" at \(what)\n".utf8)
    unsafe lineCount = min(text.count, 256)
    for index in 0..<min(text.count, 256) { unsafe line[index] = text[index] }
    alarm(secondsMax)
  }

  /// No input is running.
  package static func rest() { alarm(0) }

  /// Installs handlers for the signals of traps and of the alarm.
  package static func install() {
    unsafe lineCount = 0
    for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE] {
      _ = signal(number) { _ in
        unsafe _ = write(STDOUT_FILENO, "trap", 4)
        unsafe _ = write(STDOUT_FILENO, line, lineCount)
        _exit(1)
      }
    }
    _ = signal(SIGALRM) { _ in
      unsafe _ = write(STDOUT_FILENO, "hang", 4)
      unsafe _ = write(STDOUT_FILENO, line, lineCount)
      _exit(1)
    }
  }

  /// Processor time of one input above which it is a finding; debug builds are far slower, and an
  /// input that takes 1 s there is fast in a release build.
  package static let slowSeconds: Double = {
    #if DEBUG
      20
    #else
      1
    #endif
  }()

  /// Processor time of this process so far, independent of other processes.
  package static func processorSeconds() -> Double {
    var time = timespec()
    unsafe _ = clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// The process's peak memory.
  package static func peakBytes() -> Int {
    var usage = rusage()
    _ = unsafe getrusage(__rusage_who_t(0), &usage)
    return usage.ru_maxrss * 1024
  }
}
