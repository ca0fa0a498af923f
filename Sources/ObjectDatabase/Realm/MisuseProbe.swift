// MisuseProbe.swift: observes the trap of a misuse without ending the process, for the lab and for
// tests. The misuse runs on its own thread, which blocks forever at the trap: no code after that
// place ever runs, as after a real trap. So each misuse costs a thread, and a process that makes
// many has to end at some time.

import Dispatch
import Foundation
import Glibc
import Synchronization

/// Observes the traps of the object database.
package enum MisuseProbe {
  private final class Watched: Sendable {
    let message = Mutex<String?>(nil)
    let isOver = DispatchSemaphore(value: 0)
  }

  private static let threads = Mutex<[UInt: Watched]>([:])

  /// Runs a misuse on a separate thread.
  /// - Parameter use: The misuse to run.
  /// - Returns: The message of the trap that ended it; nil when it completed.
  package static func message(of use: @escaping @Sendable () -> Void) -> String? {
    let watched = Watched()
    let thread = Thread {
      let number = UInt(pthread_self())
      threads.withLock { $0[number] = watched }
      use()
      threads.withLock { $0[number] = nil }
      watched.isOver.signal()
    }
    thread.start()
    watched.isOver.wait()
    return watched.message.withLock { $0 }
  }

  /// Blocks a watched thread at its trap; returns on any other thread.
  static func stopThread(_ message: String) {
    guard let watched = threads.withLock({ $0[UInt(pthread_self())] }) else { return }
    watched.message.withLock { $0 = message }
    watched.isOver.signal()
    while true { pause() }
  }
}
