// CommitStepSignal.swift: a process that ends itself, or stands still, before one step of its
// commits. Invariants: `getpid` names the process itself, so no other one is ever meant; who is to
// stand still says so first, so that whoever waits for its answer need not.

import Engine
import Glibc
import LabCore
import Synchronization

/// What befalls a process before which step of its commits.
package struct CommitStepSignal: Sendable, Hashable, Codable {
  /// The step, counted from 1 since the open.
  var number: Int
  /// Whether it goes on when it is told to.
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

  /// Comes to a step.
  /// - Throws: `EngineError` with code `.io` when nobody can be told that the process stops.
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
    // To this thread: sent to the process, another one may take it, and the commit goes on a while.
    raise(SIGSTOP)
  }
}
