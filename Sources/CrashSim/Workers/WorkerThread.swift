// WorkerThread.swift: an actor's own thread, which runs one piece of work at a time.

import Dispatch
import Foundation
import LabCore
import Synchronization
import Workload

/// A thread that runs work for another one, which waits for it.
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
    let thread = Thread { [self] in
      // Fault rules match an actor by this name; Foundation may set it too late.
      ProcessCalls.nameThisThread(name)
      serve()
    }
    thread.start()
  }

  /// Runs the work on this thread and waits for its answer.
  /// - Parameters:
  ///   - timeoutSeconds: How long to wait; nil is for ever.
  ///   - work: The work.
  /// - Returns: Nil when no answer came in time; the thread is then unusable.
  func run(
    _ timeoutSeconds: Int? = nil, _ work: @escaping @Sendable () -> WorkerAnswer
  ) -> WorkerAnswer? {
    mailbox.withLock { $0.work = work }
    hasWork.signal()
    let limit = timeoutSeconds.map { DispatchTime.now() + .seconds($0) } ?? .distantFuture
    guard hasAnswer.wait(timeout: limit) == .success else { return nil }
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
