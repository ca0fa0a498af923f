// MisuseProbe.swift: a wrong use whose trap is looked at instead of suffered, for the lab and for
// tests. The use happens on a thread of its own, which stands still for good at the place of the
// trap: nothing behind that place ever runs, as after the trap itself. So each wrong use costs a
// thread, and who asks for many has to end some time.

import Dispatch
import Foundation
import Glibc
import Synchronization

/// Looks at the traps of the object database.
package enum MisuseProbe {
  private final class Watched: Sendable {
    let message = Mutex<String?>(nil)
    let isOver = DispatchSemaphore(value: 0)
  }

  private static let threads = Mutex<[UInt: Watched]>([:])

  /// Runs a use on a thread of its own.
  /// - Parameter use: What is done there.
  /// - Returns: The message of the trap that ended it; nil when it came to its end.
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

  /// Keeps a watched thread at its trap; returns on any other thread.
  static func stopThread(_ message: String) {
    guard let watched = threads.withLock({ $0[UInt(pthread_self())] }) else { return }
    watched.message.withLock { $0 = message }
    watched.isOver.signal()
    while true { pause() }
  }
}
