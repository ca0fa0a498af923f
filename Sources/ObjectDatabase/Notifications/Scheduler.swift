// Scheduler.swift [U]: how work is scheduled on a realm's owner: on the run loop of its thread, on
// its queue, or on its actor. A run loop sleeps in the kernel, and on Linux a block added from
// another thread does not wake it; a timer does, so each request is a timer that is due at once.

import Dispatch
import Foundation
import Synchronization

/// Where the work of a realm's owner is queued.
@safe enum Scheduler: @unchecked Sendable {
  // Safety: timers may be added to a run loop from any thread (it locks itself); queues and actors
  // are safe by design.
  case runLoop(RunLoop)
  case queue(DispatchQueue)
  case actor(WeakActor)

  /// An actor often keeps its realm, so the realm must not keep the actor.
  struct WeakActor {
    weak var actor: (any Actor)?
  }

  /// The scheduler of an actor; the main actor is served by the main queue.
  static func serving(_ actor: any Actor) -> Scheduler {
    actor === MainActor.shared ? .queue(.main) : .actor(WeakActor(actor: actor))
  }

  /// The scheduler of the calling thread; the main thread is served by the main queue.
  static var currentThread: Scheduler {
    isMainThread ? .queue(.main) : .runLoop(.current)
  }

  static var isMainThread: Bool { Thread.isMainThread }

  /// Runs a body on the owner soon; on a thread whose run loop does not run, it never runs.
  func run(_ body: @escaping @Sendable () -> Void) {
    switch self {
    case .runLoop(let loop):
      let call = OneCall(body)
      let timer = Timer(timeInterval: 0, repeats: false) { _ in call.make() }
      loop.add(timer, forMode: .common)
    case .queue(let queue): queue.async(execute: body)
    case .actor(let held):
      guard let actor = held.actor else { return }
      Task { await Self.run(on: actor, body) }
    }
  }

  private static func run(on actor: isolated any Actor, _ body: @Sendable () -> Void) { body() }
}

/// A body that is called once and then released, with the versions that it holds: a run loop keeps
/// a fired timer until its next iteration.
private final class OneCall: Sendable {
  private let body: Mutex<(@Sendable () -> Void)?>

  init(_ body: @escaping @Sendable () -> Void) { self.body = Mutex(body) }

  func make() {
    let body = body.withLock { body in
      defer { body = nil }
      return body
    }
    body?()
  }
}
