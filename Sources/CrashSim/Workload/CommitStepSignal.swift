// CommitStepSignal.swift: a process that ends or stops itself before one step of its commits.
// Invariants: `getpid` is the process itself, so no other process can be hit; a process that stops
// reports that first, so that its parent need not wait for its answer.

import Engine
import Glibc
import LabCore
import Synchronization

/// The event for a process, and the step of its commits before which it happens.
package struct CommitStepSignal: Sendable, Hashable, Codable {
  /// The step, counted from 1 since the open.
  var number: Int
  /// True: the process stops and can be continued; false: it ends.
  var stops: Bool

  package init(number: Int, stops: Bool) {
    self.number = number
    self.stops = stops
  }
}

/// Counts the steps of a database's commits.
package final class CommitStepWatch: Sendable {
  private let signal: CommitStepSignal
  private let reached = Atomic<Int>(0)

  package init(_ signal: CommitStepSignal) {
    self.signal = signal
  }

  /// Called before each step.
  /// - Throws: `EngineError` with code `.io` when the stop cannot be reported.
  package func reach() throws(EngineError) {
    guard reached.add(1, ordering: .relaxed).newValue == signal.number else { return }
    guard signal.stops else {
      kill(getpid(), SIGKILL)
      return
    }
    do throws(LabError) {
      let channel = LineChannel(input: STDIN_FILENO, output: STDOUT_FILENO)
      try channel.write(JSONLine.encode(WorkerAnswer.stopped))
    } catch {
      throw EngineError(code: .io, message: "cannot say that the process stops: \(error)")
    }
    // To this thread: sent to the process, another thread may take it while the commit continues.
    raise(SIGSTOP)
  }
}
