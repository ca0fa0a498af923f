// Interruption.swift: Ctrl-C, SIGTERM and SIGHUP as a flag that long work looks at.
// The handler only sets the flag: whoever waits sees it within 100 ms, stops its children, unmounts
// and reports what was found so far. A second Ctrl-C changes nothing: the next start sweeps what is
// left.

import Glibc
import Synchronization

/// The user's wish to stop.
package enum Interruption {
  private static let flag = Atomic<Bool>(false)

  /// True once the lab was asked to stop.
  package static var isRequested: Bool { flag.load(ordering: .relaxed) }

  /// Routes SIGINT, SIGTERM and SIGHUP to the flag, and ignores SIGPIPE.
  package static func install() {
    for number in [SIGINT, SIGTERM, SIGHUP] {
      _ = signal(number) { _ in Interruption.flag.store(true, ordering: .relaxed) }
    }
    _ = signal(SIGPIPE, SIG_IGN)
  }

  /// Asks the lab to stop, as Ctrl-C does.
  static func request() { flag.store(true, ordering: .relaxed) }

  /// Does something during which Ctrl-C is meant for somebody else on the terminal.
  package static func whileIgnored<Result>(
    _ body: () throws(LabError) -> Result
  ) throws(LabError) -> Result {
    _ = signal(SIGINT, SIG_IGN)
    defer { _ = signal(SIGINT) { _ in Interruption.flag.store(true, ordering: .relaxed) } }
    return try body()
  }

  /// Throws when the lab was asked to stop.
  package static func check() throws(LabError) {
    if isRequested { throw .interrupted }
  }
}
