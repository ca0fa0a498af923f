// WorkerThread.swift: an actor's own thread, which does one piece of work at a time.

import Dispatch
import Foundation
import Synchronization

/// A thread that its maker hands work to and waits for.
final class ActorThread: Sendable {
  private struct Mailbox {
    var work: (@Sendable () -> WorkerAnswer)?
    var answer: WorkerAnswer?
    var isEnding = false
  }

  private let mailbox = Mutex(Mailbox())
  private let hasWork = DispatchSemaphore(value: 0)
  private let hasAnswer = DispatchSemaphore(value: 0)

  init(name: String) {
    let thread = Thread { [self] in serve() }
    thread.name = name
    thread.start()
  }

  /// Runs the work on this thread and waits for its answer.
  func run(_ work: @escaping @Sendable () -> WorkerAnswer) -> WorkerAnswer? {
    mailbox.withLock { $0.work = work }
    hasWork.signal()
    hasAnswer.wait()
    return mailbox.withLock { mailbox in
      defer { mailbox.answer = nil }
      return mailbox.answer
    }
  }

  /// Lets the thread end.
  func end() {
    mailbox.withLock { $0.isEnding = true }
    hasWork.signal()
  }

  private func serve() {
    while true {
      hasWork.wait()
      let work = mailbox.withLock { mailbox in
        defer { mailbox.work = nil }
        return mailbox.work
      }
      guard let work else {
        if mailbox.withLock({ $0.isEnding }) { return }
        continue
      }
      let answer = work()
      mailbox.withLock { $0.answer = answer }
      hasAnswer.signal()
    }
  }
}
