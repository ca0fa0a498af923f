// Interruption.swift: Ctrl-C, SIGTERM and SIGHUP as a flag that long operations check.
// The handler only sets the flag: waiting code sees it within 100 ms, stops its children, unmounts
// and reports what was found so far. A second Ctrl-C has no effect: the next start removes what is
// left.

import Glibc
import Synchronization

/// The user's request to stop.
package enum Interruption {
  private static let flag = Atomic<Bool>(false)

  /// True once Faultline was asked to stop.
  package static var isRequested: Bool { flag.load(ordering: .relaxed) }

  /// Routes SIGINT, SIGTERM and SIGHUP to the flag, and ignores SIGPIPE.
  package static func install() {
    for number in [SIGINT, SIGTERM, SIGHUP] {
      _ = signal(number) { _ in Interruption.flag.store(true, ordering: .relaxed) }
    }
    _ = signal(SIGPIPE, SIG_IGN)
  }

  /// Requests a stop, as Ctrl-C does.
  static func request() { flag.store(true, ordering: .relaxed) }

  /// Runs `body` while Ctrl-C is meant for another process on the terminal.
  package static func whileIgnored<Result>(
    _ body: () throws(LabError) -> Result
  ) throws(LabError) -> Result {
    _ = signal(SIGINT, SIG_IGN)
    defer { _ = signal(SIGINT) { _ in Interruption.flag.store(true, ordering: .relaxed) } }
    return try body()
  }

  /// Throws when Faultline was asked to stop.
  package static func check() throws(LabError) {
    if isRequested { throw .interrupted }
  }
}
