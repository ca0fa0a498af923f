// CurrentExecutor.swift [U]: which actor the calling code runs for. The language has a check that
// stops the process with a message of its own, and none that can be asked; the runtime's function
// is looked up by name, as the compiler does not let anybody declare it.
// Invariant: without that function every caller passes here, and the compiler's checks are all.

import Glibc

enum CurrentExecutor {
  private typealias Ask = @convention(c) () -> UInt

  /// Its result is two words, returned as C does; the first one is the identity.
  private static let ask: Ask? = {
    // Safety: the name is a literal, and the function takes no arguments.
    guard let place = unsafe dlsym(nil, "swift_task_getCurrentExecutor") else { return nil }
    return unsafe unsafeBitCast(place, to: Ask.self)
  }()

  /// What tells the executor of the running task from others; 0 outside of tasks.
  static var identity: UInt { ask.map { $0() } ?? 0 }

  /// What tells the executor of an actor from others.
  static func identity(of actor: any Actor) -> UInt {
    guard ask != nil else { return 0 }
    // Safety: an unowned executor is two words, and the first one is the identity.
    return unsafe unsafeBitCast(actor.unownedExecutor, to: (UInt, UInt).self).0
  }
}
