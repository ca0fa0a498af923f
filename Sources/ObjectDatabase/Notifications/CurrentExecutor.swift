// CurrentExecutor.swift [U]: the actor that the calling code runs on. The language has a check that
// stops the process with its own message, but none that returns a result; the runtime's function is
// looked up by name, as the compiler does not allow declaring it. Invariant: without that function
// every caller passes this check, and only the compiler's checks remain.

import Glibc

enum CurrentExecutor {
  private typealias Ask = @convention(c) () -> UInt

  /// Its result is two words, returned as C does; the first one is the identity.
  private static let ask: Ask? = {
    // Safety: the name is a literal, and the function takes no arguments.
    guard let place = unsafe dlsym(nil, "swift_task_getCurrentExecutor") else { return nil }
    return unsafe unsafeBitCast(place, to: Ask.self)
  }()

  /// Identifies the executor of the running task; 0 outside of tasks.
  static var identity: UInt { ask.map { $0() } ?? 0 }

  /// Identifies the executor of an actor.
  static func identity(of actor: any Actor) -> UInt {
    guard ask != nil else { return 0 }
    // Safety: an unowned executor is two words, and the first one is the identity.
    return unsafe unsafeBitCast(actor.unownedExecutor, to: (UInt, UInt).self).0
  }
}
