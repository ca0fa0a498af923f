// CommitStepKill.swift: a process that ends itself before one step of its commits, with the signal
// that lets nothing of it run any more. Invariant: `getpid` names the process itself, so no other
// one is ever meant.

import Glibc
import Synchronization

/// Counts the steps of a database's commits.
final class CommitStepKill: Sendable {
  private let number: Int
  private let reached = Atomic<Int>(0)

  /// Kills before the step with this number, counted from 1 over all commits.
  init(before number: Int) {
    self.number = number
  }

  /// Comes to a step.
  func reach() {
    guard reached.add(1, ordering: .relaxed).newValue == number else { return }
    kill(getpid(), SIGKILL)
  }
}
